/* sum(tanh(a * x + b) * c) over four vectors, one pass for the value and one for value and gradient together.
   Written for the vectoriser: with -ffast-math gcc takes tanh from libmvec. */
#include <math.h>
#define NI __attribute__((noinline))
NI double chain_f(const double *restrict a, const double *restrict x, const double *restrict b, const double *restrict c, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += tanh(a[i] * x[i] + b[i]) * c[i];
  return sum; }
NI double chain_g(const double *restrict a, const double *restrict x, const double *restrict b, const double *restrict c, long n,
                  double *restrict ga, double *restrict gx, double *restrict gb, double *restrict gc) {
  double sum = 0;
  for (long i = 0; i < n; i++) {
    double t = tanh(a[i] * x[i] + b[i]), d = c[i] * (1 - t * t);
    sum += t * c[i];
    ga[i] = d * x[i]; gx[i] = d * a[i]; gb[i] = d; gc[i] = t; }
  return sum; }
