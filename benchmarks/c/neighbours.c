#include <math.h>
#include <string.h>
#define NI __attribute__((noinline))
typedef double D;
/* ---------- RK4 of a chain of M masses, y' = -y^3 + k (laplacian of y), from y0; sum of squares; t keeps the states ---------- */
enum { M = 12 };
static inline void rf(const D *y, D k, D *o) { for (int i = 0; i < M; i++) { D l = i > 0 ? y[i - 1] : 0, r = i < M - 1 ? y[i + 1] : 0; o[i] = -y[i] * y[i] * y[i] + k * (r - 2 * y[i] + l); } }
static inline void rb(const D *y, D k, const D *c, D *w, D *kb) { for (int i = 0; i < M; i++) { D l = i > 0 ? y[i - 1] : 0, r = i < M - 1 ? y[i + 1] : 0, cl = i > 0 ? c[i - 1] : 0, cr = i < M - 1 ? c[i + 1] : 0; w[i] = -3 * y[i] * y[i] * c[i] + k * (cl - 2 * c[i] + cr); *kb += c[i] * (r - 2 * y[i] + l); } }
static inline void rs(const D *y, D h, const D *a, D *t) { for (int i = 0; i < M; i++) t[i] = y[i] + h * a[i]; }
static inline void rstep(D *y, D k, D h) { D a[M], b[M], c[M], e[M], t[M]; rf(y, k, a); rs(y, h / 2, a, t); rf(t, k, b); rs(y, h / 2, b, t); rf(t, k, c); rs(y, h, c, t); rf(t, k, e); for (int i = 0; i < M; i++) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + e[i]); }
NI D masses_f(const D *y0, D k, long N, D h) { D y[M], L = 0; memcpy(y, y0, sizeof y); for (long n = 0; n < N; n++) rstep(y, k, h); for (int i = 0; i < M; i++) L += y[i] * y[i]; return L; }
NI D masses_g(const D *y0, D k, long N, D h, D *t, D *g, D *gk) { D y[M], q[M], L = 0, kb = 0; memcpy(y, y0, sizeof y);
  for (long n = 0; n < N; n++) { memcpy(t + n * M, y, sizeof y); rstep(y, k, h); } for (int i = 0; i < M; i++) { L += y[i] * y[i]; q[i] = 2 * y[i]; }
  for (long n = N - 1; n >= 0; n--) { const D *u = t + n * M; D a[M], b[M], c[M], t2[M], t3[M], t4[M], w[M], ca[M], cb[M], cc[M], ce[M]; rf(u, k, a); rs(u, h / 2, a, t2); rf(t2, k, b); rs(u, h / 2, b, t3); rf(t3, k, c); rs(u, h, c, t4);
    for (int i = 0; i < M; i++) { ca[i] = ce[i] = h / 6 * q[i]; cb[i] = cc[i] = h / 3 * q[i]; }
    rb(t4, k, ce, w, &kb); for (int i = 0; i < M; i++) { q[i] += w[i]; cc[i] += h * w[i]; } rb(t3, k, cc, w, &kb); for (int i = 0; i < M; i++) { q[i] += w[i]; cb[i] += h / 2 * w[i]; }
    rb(t2, k, cb, w, &kb); for (int i = 0; i < M; i++) { q[i] += w[i]; ca[i] += h / 2 * w[i]; } rb(u, k, ca, w, &kb); for (int i = 0; i < M; i++) q[i] += w[i]; }
  memcpy(g, q, sizeof q); *gk = kb; return L; }
/* ---------- tridiagonal systems by Thomas' algorithm; a weighted sum of the solution, by the three diagonals and the right side ---------- */
NI D thomas_f(const D*a,const D*b,const D*c,const D*d,const D*w,long n,D*cp,D*dp,D*x){
 cp[0]=c[0]/b[0]; dp[0]=d[0]/b[0];
 for(long i=1;i<n;i++){D m=b[i]-a[i]*cp[i-1]; cp[i]=c[i]/m; dp[i]=(d[i]-a[i]*dp[i-1])/m;}
 x[n-1]=dp[n-1]; for(long i=n-2;i>=0;i--) x[i]=dp[i]-cp[i]*x[i+1];
 D L=0; for(long i=0;i<n;i++) L+=x[i]*w[i]; return L;}
NI D thomas_g(const D*a,const D*b,const D*c,const D*d,const D*w,long n,D*cp,D*dp,D*x,D*xb,D*cb,D*db,D*ga,D*gb,D*gc,D*gd){
 D L=thomas_f(a,b,c,d,w,n,cp,dp,x);
 for(long i=0;i<n;i++) xb[i]=w[i];
 for(long i=0;i<n;i++){cb[i]=0;}
 for(long i=0;i<n-1;i++){ db[i]=xb[i]; cb[i]=-xb[i]*x[i+1]; xb[i+1]-=cp[i]*xb[i]; } db[n-1]=xb[n-1];
 for(long i=n-1;i>=1;i--){ D m=b[i]-a[i]*cp[i-1], r=1/m; D e=db[i]*r, f=cb[i]*r; gd[i]=e; gc[i]=f; D mb=-e*dp[i]-f*cp[i]; gb[i]=mb; ga[i]=-e*dp[i-1]-mb*cp[i-1]; db[i-1]-=e*a[i]; cb[i-1]-=mb*a[i]; }
 ga[0]=0; { D r=1/b[0]; gc[0]=cb[0]*r; gd[0]=db[0]*r; gb[0]=-(cb[0]*cp[0]+db[0]*dp[0])*r; } return L;}
/* ---------- k-means: squared distances of points p[n][d] to the nearest of c[k][d], by the centres ---------- */
NI D km_f(const D*P,const D*C,long n,long k,long d){ D L=0; for(long i=0;i<n;i++){ D best=1e300; for(long c=0;c<k;c++){ D s=0; for(long j=0;j<d;j++){D e=P[i*d+j]-C[c*d+j]; s+=e*e;} if(s<best)best=s;} L+=best;} return L;}
NI D km_g(const D*P,const D*C,long n,long k,long d,D*g){ D L=0; memset(g,0,k*d*8); for(long i=0;i<n;i++){ D best=1e300; long w=0; for(long c=0;c<k;c++){ D s=0; for(long j=0;j<d;j++){D e=P[i*d+j]-C[c*d+j]; s+=e*e;} if(s<best){best=s;w=c;}} L+=best; for(long j=0;j<d;j++) g[w*d+j]-=2*(P[i*d+j]-C[w*d+j]); } return L;}
