"""Conversions of float16 that LLVM calls by name where the processor has no instruction for them.

    fptrunc double %x to half      ->  call half @__truncdfhf2(double %x)        x86-64: there is none from double
    fptrunc float %x to half       ->  call half @__truncsfhf2(float %x)         x86-64 without F16C (before 2013)

They are those of compiler-rt, which no process is sure to have loaded, so a module that computes with halves brings
them.  A double is first rounded to a float whose last bit says whether that was exact (Boldo, Melquiond: Emulation of
FMA and correctly rounded sums, 2008); float to half and back by integers, after Giesen (float_to_half_fast3_rtne).
"""

from __future__ import annotations

__all__ = ["TEXT", "needed"]

_KIND = "define weak_odr hidden"

TEXT = f"""
{_KIND} half @__truncdfhf2(double %x) nounwind {{
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %exact = fcmp oeq double %back, %x
  %xbits = bitcast double %x to i64
  %bbits = bitcast double %back to i64
  %xsize = and i64 %xbits, 9223372036854775807
  %bsize = and i64 %bbits, 9223372036854775807
  %away = icmp ugt i64 %bsize, %xsize
  %bits = bitcast float %near to i32
  %less = sub i32 %bits, 1
  %low = select i1 %away, i32 %less, i32 %bits
  %odd = or i32 %low, 1
  %chosen = select i1 %exact, i32 %bits, i32 %odd
  %f = bitcast i32 %chosen to float
  %h = call half @__truncsfhf2(float %f)
  ret half %h
}}
{_KIND} half @__truncsfhf2(float %x) noinline nounwind {{
  %bits = bitcast float %x to i32
  %size = and i32 %bits, 2147483647
  %sign32 = and i32 %bits, -2147483648
  %sign = lshr i32 %sign32, 16
  %nan = icmp ugt i32 %size, 2139095040
  %large = icmp uge i32 %size, 1199566848
  %small = icmp ult i32 %size, 947912704
  %sizef = bitcast i32 %size to float
  %moved = fadd float %sizef, 5.0e-1
  %movedbits = bitcast float %moved to i32
  %tiny = sub i32 %movedbits, 1056964608
  %odd0 = lshr i32 %size, 13
  %odd = and i32 %odd0, 1
  %rebased = sub i32 %size, 939520001
  %rounded = add i32 %rebased, %odd
  %normal = lshr i32 %rounded, 13
  %a = select i1 %small, i32 %tiny, i32 %normal
  %b = select i1 %large, i32 31744, i32 %a
  %c = select i1 %nan, i32 32256, i32 %b
  %whole = or i32 %c, %sign
  %short = trunc i32 %whole to i16
  %h = bitcast i16 %short to half
  ret half %h
}}
{_KIND} float @__extendhfsf2(half %h) noinline nounwind {{
  %short = bitcast half %h to i16
  %bits = zext i16 %short to i32
  %size = and i32 %bits, 32767
  %sign0 = and i32 %bits, 32768
  %sign = shl i32 %sign0, 16
  %shifted = shl i32 %size, 13
  %normal = add i32 %shifted, 939524096
  %endless = or i32 %shifted, 2139095040
  %whole = uitofp i32 %size to float
  %tinyf = fmul float %whole, 0x3E70000000000000
  %tiny = bitcast float %tinyf to i32
  %large = icmp uge i32 %size, 31744
  %small = icmp ult i32 %size, 1024
  %a = select i1 %large, i32 %endless, i32 %normal
  %b = select i1 %small, i32 %tiny, i32 %a
  %c = or i32 %b, %sign
  %f = bitcast i32 %c to float
  ret float %f
}}
"""


def needed(text: str) -> bool:
    """Does a module compute with halves."""
    return " half" in text
