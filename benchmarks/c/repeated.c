/* Short workloads repeated inside C, at x, x + step, x + 2 step, ...: no call overhead, and nothing can be hoisted.
   NAME_loop_f sums values, NAME_loop_g sums derivatives. */
#include "zyg.c"
NI double sincos_loop_f(double x, double step, long n) { double s = 0; for (long i = 0; i < n; i++) s += sin(cos(x + step * i)); return s; }
NI double sincos_loop_g(double x, double step, long n) {
  double s = 0; for (long i = 0; i < n; i++) { double z = x + step * i; s += -sin(z) * cos(cos(z)); } return s; }
NI double pow_loop_f(double x, double step, long n, long k) { double s = 0; for (long i = 0; i < n; i++) s += pow_f(x + step * i, k); return s; }
NI double pow_loop_g(double x, double step, long n, long k) { double s = 0; for (long i = 0; i < n; i++) s += pow_g(x + step * i, k, &vv); return s; }
NI double dd_loop_f(double x, double step, long n, double lim) { double s = 0; for (long i = 0; i < n; i++) s += dd_f(x + step * i, lim); return s; }
NI double dd_loop_g(double x, double step, long n, double lim) { double s = 0; for (long i = 0; i < n; i++) s += dd_g(x + step * i, lim, &vv); return s; }
