"""sin, cos, tan, asin, acos, atan and atan2 as LLVM functions.

sin, cos, tan: x = n pi/2 + r + rest with pi/2 in three parts of 53 bits (Cody and Waite). With fma the first step is
exact, the second is summed with its error, so the reduction is good to about 2**-160 n and serves up to |x| = 2**40.
Beyond, a cold function multiplies the mantissa with the 192 bits of 2/pi that matter (M. Payne and R. Hanek, Radian
reduction for trigonometric functions, 1983), in integers. sin(r) and cos(r) are both evaluated, and n picks.

The cold call is the only branch. So that the loop vectoriser can still widen a loop around it, the call names masked
vector forms of the cold function ("vector-function-abi-variant"), which do nothing when no lane needs them.

atan, atan2: with a/b the ratio and c in {0, 1/2, 1, 3/2, inf} near it, it is atan(c) + atan((a - cb) / (b + ca)); the
breakpoints 7/16, 11/16, 19/16, 39/16 are fdlibm's. asin, acos: asin(s) = s + s**3 P(s**2) for s <= 1/2, else by
s = sqrt((1 - x)/2) with the rounding error of the root added (fdlibm's scheme). Code and fits are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_tables import TWO_OVER_PI_WORDS
from pullback.codegen.elementary_text import Body, Recipes, Value, chosen, recipe

RECIPES: Recipes = {}
SHIFT = 1.5 * 2.0**52
LARGEST_FAST = 2.0**40
VECTOR_WIDTHS = (8,)


@dataclass(frozen=True, slots=True)
class Angle:
    """x = q pi/2 + r + rest, with q mod 4 in the low bits of `quadrant`, |r| <= pi/4."""

    quadrant: Value
    r: Value
    rest: Value


def reduce_small(body: Body, x: Value, shift: float, half_pi: tuple[float, float, float]) -> Angle:
    """By pi/2 in three parts; adding the shift rounds to an integer."""
    shifted = body.fma(x, c.TWO_OVER_PI, shift)
    n = shifted - shift
    exact = body.fma(-n, half_pi[0], x)
    product = n * half_pi[1]
    product_low = body.fma(n, half_pi[1], -product)
    r = exact - product
    rest = ((exact - r) - product) - body.fma(n, half_pi[2], product_low)
    return Angle(body.bits(shifted), r, rest)


def half_turns(body: Body, x: Value) -> Angle:
    """The angle pi x, for |x| below 2**50: to the nearest quarter turn all is exact."""
    shifted = (x + x) + SHIFT
    part = body.fma(shifted - SHIFT, -0.5, x)
    r = part * math.pi
    return Angle(body.bits(shifted), r, body.fma(part, 2 * c.HALF_PI_2, body.fma(part, math.pi, -r)))


def _window(body: Body, position: Value) -> list[Value]:
    """The 192 bits of the padded digits of 2/pi from a bit position on, most significant word first."""
    word, shift = position >> 6, position & 63
    table = ("pb.table.two_over_pi", TWO_OVER_PI_WORDS, "i64")
    words = [body.load(*table, word + i if i else word) for i in range(4)]
    return [body.intrinsic("fshl", words[i], words[i + 1], shift) for i in range(3)]


def _reduce_large(body: Body, x: Value) -> Angle:
    """Payne-Hanek for finite |x| >= 2**40.

    |x| = M 2**e, M an integer of 53 bits. Digits of 2/pi whose product with 2**e is a multiple of 4 are left out, so
    that M times the next 192 digits, mod 2**192, is |x| 2/pi mod 4 in units of 2**-190.
    """
    bits = body.bits(body.fabs(x))
    mantissa = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000
    position = (bits >> 52) + (63 - 1 - 1075)
    wide = [body.convert("zext", w, "i128") for w in _window(body, position)]
    factor = body.convert("zext", mantissa, "i128")
    low = factor * wide[2]
    middle = factor * wide[1] + (low >> 64)
    top = body.convert("trunc", factor * wide[0] + (middle >> 64), "i64")
    words = [top, body.convert("trunc", middle, "i64"), body.convert("trunc", low, "i64")]
    # Round to the nearest quadrant, and take the magnitude of the signed fraction that is left.
    quadrant = (top + (1 << 61)) >> 62
    above = [body.intrinsic("fshl", words[0], words[1], body.constant("i64", 2)),
             body.intrinsic("fshl", words[1], words[2], body.constant("i64", 2))]  # fmt: skip
    negative = above[0].compare("slt", 0)
    flip = body.select(negative, body.constant("i64", -1), 0)
    magnitude = [word ^ flip for word in above]  # short of one unit in 2**-128, beneath the digits kept
    fraction, fraction_low = _normalized(body, magnitude[0], magnitude[1])
    r = fraction * c.HALF_PI
    rest = body.fma(fraction, c.HALF_PI, -r) + body.fma(fraction, c.HALF_PI_2, fraction_low * c.HALF_PI)
    sign = (flip ^ body.select(x.less(0.0), body.constant("i64", -1), 0)) << 63
    r, rest = (body.from_bits(body.bits(v) ^ sign) for v in (r, rest))
    quadrant = body.select(x.less(0.0), -quadrant, quadrant)
    return Angle(quadrant, r, rest)


def _normalized(body: Body, high: Value, low: Value) -> tuple[Value, Value]:
    """The 128-bit fraction high:low in units of 2**-128, as a sum of two doubles; high may have leading zeros."""
    zeros = body.intrinsic("ctlz", high, flag="false")
    top = body.intrinsic("fshl", high, low, zeros)
    under = low << (zeros & 63)
    first = body.convert("uitofp", top >> 11, "double")
    second = body.convert("uitofp", ((top & 2047) << 53) | (under >> 11), "double")
    scale = body.from_bits((body.constant("i64", 1023 - 53) - zeros) << 52)
    return first * scale, second * 2.0**-64 * scale


def _sine_and_cosine(body: Body, angle: Angle) -> tuple[Value, Value]:
    """sin and cos of r + rest."""
    r, rest = angle.r, angle.rest
    z = r * r
    half = z * 0.5
    around = 1.0 - half
    sine_low = body.fma(z * r, body.estrin(z, chosen(body, c.SIN, c.SIN_SINGLE)), rest * around)
    cosine_tail = body.fma(z * z, body.estrin(z, chosen(body, c.COS, c.COS_SINGLE)), -(r * rest))
    return r + sine_low, around + (((1.0 - around) - half) + cosine_tail)


def sine_of(body: Body, angle: Angle, quarter: int) -> Value:
    """The sine of an angle and some quarters of a turn."""
    sine, cosine = _sine_and_cosine(body, angle)
    quadrant = angle.quadrant + quarter if quarter else angle.quadrant
    chosen_value = body.select((quadrant & 1).compare("eq", 0), sine, cosine)
    return body.from_bits(body.bits(chosen_value) ^ ((quadrant & 2) << (62 if quadrant.type == "i64" else 30)))


def _tangent_of(body: Body, angle: Angle) -> Value:
    sine, cosine = _sine_and_cosine(body, angle)
    even = (angle.quadrant & 1).compare("eq", 0)
    return body.select(even, sine, -cosine) / body.select(even, cosine, sine)


def _finish(body: Body, name: str, angle: Angle) -> Value:
    return _tangent_of(body, angle) if name == "tan" else sine_of(body, angle, 1 if name == "cos" else 0)


def _circular(body: Body, name: str, x: Value) -> Value:
    fast = _finish(body, name, reduce_small(body, x, SHIFT, (c.HALF_PI, c.HALF_PI_2, c.HALF_PI_3)))
    if name != "cos":
        fast = body.select(x.equal(0.0), x, fast)  # keeps the sign of zero
    return unless_large(body, x, LARGEST_FAST, fast, f"pb.{name}.large", VECTOR_WIDTHS)


def unless_large(body: Body, x: Value, bound: float, fast: Value, symbol: str, widths: tuple[int, ...]) -> Value:
    """The fast value where |x| is below the bound, else that of a cold function with masked vector forms."""
    variants = ",".join(f"_ZGV_LLVM_M{w}v_{symbol}({symbol}.v{w})" for w in widths)
    for width in widths:
        body.functions[f"{symbol}.v{width}"] = None
    attributes = f' "vector-function-abi-variant"="{variants}"'
    return body.otherwise_call(body.fabs(x).less(bound), fast, symbol, x, attributes=attributes)


@recipe(RECIPES, "sin")
def _sin(body: Body, x: Value) -> Value:
    return _circular(body, "sin", x)


@recipe(RECIPES, "cos")
def _cos(body: Body, x: Value) -> Value:
    return _circular(body, "cos", x)


@recipe(RECIPES, "tan")
def _tan(body: Body, x: Value) -> Value:
    return _circular(body, "tan", x)


def large_argument(body: Body, name: str, x: Value) -> Value:
    """The cold function: any |x| >= 2**40, inf and NaN."""
    value = _finish(body, name, _reduce_large(body, x))
    return body.select(body.fabs(x).less(math.inf), value, x - x)


def far_argument(body: Body, name: str, x: Value) -> Value:
    """The cold function of float32 (see `elementary_single`): any |x| >= 1, inf and NaN."""
    return body.convert("fptrunc", large_argument(body, name, body.convert("fpext", x, "double")), "float")


def masked_vector(symbol: str, type_name: str, width: int) -> str:
    """Write the form of a cold function that the vectoriser calls: it serves the lanes of the mask one by one.

    It has external (weak) linkage because only an attribute names it, and `internal` functions without uses vanish.
    """
    vector, mask = f"<{width} x {type_name}>", f"<{width} x i1>"
    attributes = "noinline cold minsize optsize nounwind willreturn memory(none)"
    return f"""define weak_odr hidden {vector} @{symbol}.v{width}({vector} %x, {mask} %m) {attributes} {{
entry:
  %bits = bitcast {mask} %m to i{width}
  %none = icmp eq i{width} %bits, 0
  br i1 %none, label %done, label %lane
lane:
  %i = phi i32 [ 0, %entry ], [ %next, %after ]
  %sum = phi {vector} [ %x, %entry ], [ %merged, %after ]
  %wanted = extractelement {mask} %m, i32 %i
  br i1 %wanted, label %serve, label %after
serve:
  %element = extractelement {vector} %x, i32 %i
  %one = call {type_name} @{symbol}({type_name} %element)
  %put = insertelement {vector} %sum, {type_name} %one, i32 %i
  br label %after
after:
  %merged = phi {vector} [ %sum, %lane ], [ %put, %serve ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, {width}
  br i1 %more, label %lane, label %done
done:
  %result = phi {vector} [ %x, %entry ], [ %merged, %after ]
  ret {vector} %result
}}
"""


def _arctangent(body: Body, a: Value, b: Value) -> Value:
    """atan(a / b) in 0..pi/2 for a, b >= 0, not both inf or both 0."""

    def piece(values: tuple[float, ...]) -> Value:
        result = body.constant("double", values[-1])
        for bound, value in reversed(list(zip(bounds, values[:-1], strict=True))):
            result = body.select(bound, value, result)
        return result

    bounds = [a.less(b * limit) for limit in (7 / 16, 11 / 16, 19 / 16, 39 / 16)]
    centre = piece((0.0, 0.5, 1.0, 1.5, 0.0))
    upper = a.compare("oge", b * (39 / 16))
    numerator = body.select(upper, -b, body.fma(-centre, b, a))
    denominator = body.select(upper, a, body.fma(centre, a, b))
    t = numerator / denominator
    z = t * t
    tail = body.fma(t * z, body.estrin(z, chosen(body, c.ATAN, c.ATAN_SINGLE)), piece(
        (0.0, c.ATAN_HALF_REST, c.ATAN_ONE_REST, c.ATAN_THREE_HALVES_REST, c.HALF_PI_2)))  # fmt: skip
    high = piece((0.0, c.ATAN_HALF, c.ATAN_ONE, c.ATAN_THREE_HALVES, c.HALF_PI))
    return high + (t + tail)


@recipe(RECIPES, "atan")
def _atan(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    return body.copysign(_arctangent(body, magnitude, body.constant("double", 1.0)), x)


@recipe(RECIPES, "atan2", ("x", "x"))
def _atan2(body: Body, y: Value, x: Value) -> Value:
    a, b = body.fabs(y), body.fabs(x)
    # Infinite: replace the pair by 1 for inf and 0 for the finite one; NaN stays.
    infinite = a.equal(math.inf) | b.equal(math.inf)
    a, b = (body.select(infinite & v.less(math.inf), 0.0, body.select(v.equal(math.inf), 1.0, v)) for v in (a, b))
    if not body.single:
        large = a.greater(2.0**1000) | b.greater(2.0**1000)
        small = a.less(2.0**-900) & b.less(2.0**-900)
        scale = body.select(large, 2.0**-60, body.select(small, 2.0**120, 1.0))
        a, b = a * scale, b * scale
    zero = a.equal(0.0) & b.equal(b)
    angle = _arctangent(body, a, body.select(zero, 1.0, b))
    left = math.pi - (angle - 2 * c.HALF_PI_2)
    negative = body.bits(x).compare("slt", 0)
    return body.copysign(body.select(negative, left, angle), y)


@dataclass(frozen=True, slots=True)
class Arcsine:
    """asin of s = |x| or of s = sqrt((1 - |x|)/2), as s + low."""

    inner: Value
    s: Value
    low: Value


def _arcsine(body: Body, magnitude: Value) -> Arcsine:
    inner = magnitude.less(0.5)
    z = body.select(inner, magnitude * magnitude, (1.0 - magnitude) * 0.5)
    root = body.sqrt(z)
    s = body.select(inner, magnitude, root)
    error = body.fma(-root, root, z) / body.select(root.greater(0.0), root + root, 1.0)
    tail = s * z * body.estrin(z, chosen(body, c.ASIN, c.ASIN_SINGLE))
    return Arcsine(inner, s, tail + body.select(inner, 0.0, error))


@recipe(RECIPES, "asin")
def _asin(body: Body, x: Value) -> Value:
    part = _arcsine(body, body.fabs(x))
    # pi/2 - 2 (s + low), the high parts first: pi/4 - s is exact enough for s <= 1/2
    first = c.HALF_PI - 2.0 * part.s
    first_low = (c.HALF_PI - first) - 2.0 * part.s
    outer = first + (first_low + (c.HALF_PI_2 - 2.0 * part.low))
    return body.copysign(body.select(part.inner, part.s + part.low, outer), x)


@recipe(RECIPES, "acos")
def _acos(body: Body, x: Value) -> Value:
    part = _arcsine(body, body.fabs(x))
    negative = x.less(0.0)
    s, low = (body.select(negative, -v, v) for v in (part.s, part.low))
    inner = c.HALF_PI - (s - (c.HALF_PI_2 - low))
    twice, twice_low = 2.0 * part.s, 2.0 * part.low
    outer = body.select(negative, math.pi - (twice - (2 * c.HALF_PI_2 - twice_low)), twice + twice_low)
    return body.select(part.inner, inner, outer)
