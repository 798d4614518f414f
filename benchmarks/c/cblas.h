/* What the reference uses of CBLAS, by the names of the OpenBLAS in SciPy's wheels (32-bit indices). */
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
#define cblas_sgemm scipy_cblas_sgemm
void scipy_cblas_sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int m, int n, int k, float alpha,
                       const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void scipy_cblas_sgemv(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, int m, int n, float alpha, const float *a, int lda,
                       const float *x, int incx, float beta, float *y, int incy);
