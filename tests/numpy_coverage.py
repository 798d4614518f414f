"""Which of the functions that both JAX's and Autograd's numpy modules offer compiled code knows.

`OFFERED` was made from jax 0.10.2 and autograd 1.9.1: names that both have, and NumPy 2 (SciPy) too, classes left out.
`ABSENT` has a reason for each one that is not known.
"""

from __future__ import annotations

OFFERED = {
    "numpy": """
        abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes
        arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere
        around array array_equal array_equiv array_repr array_split array_str asarray asin asinh astype atan
        atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett bincount bitwise_and bitwise_count
        bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block
        broadcast_arrays broadcast_shapes broadcast_to can_cast cbrt ceil choose clip column_stack compress
        concat concatenate conj conjugate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov
        cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices
        diag_indices_from diagflat diagonal diff digitize divide divmod dot dsplit dstack ediff1d einsum
        einsum_path empty empty_like equal exp exp2 expand_dims expm1 extract eye fabs fill_diagonal flatnonzero
        flip fliplr flipud float_power floor floor_divide fmax fmin fmod frexp from_dlpack frombuffer fromfile
        fromfunction fromiter frompyfunc fromstring full full_like gcd geomspace get_printoptions gradient
        greater greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd
        hsplit hstack hypot i0 identity imag indices inner insert interp intersect1d invert isclose iscomplex
        iscomplexobj isdtype isfinite isin isinf isnan isneginf isposinf isreal isrealobj isscalar issubdtype
        iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace load log log10 log1p log2
        logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace mask_indices matmul
        matrix_transpose matvec max maximum mean median meshgrid min minimum mod modf moveaxis multiply
        nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
        nanprod nanquantile nanstd nansum nanvar ndim negative nextafter nonzero not_equal ones ones_like outer
        packbits pad partition percentile permute_dims piecewise place poly polyadd polyder polydiv polyfit
        polyint polymul polysub polyval positive pow power printoptions prod promote_types ptp put
        put_along_axis quantile rad2deg radians ravel ravel_multi_index real reciprocal remainder repeat reshape
        resize result_type right_shift rint roll rollaxis roots rot90 round save savez searchsorted select
        set_printoptions setdiff1d setxor1d shape sign signbit sin sinc sinh size sort sort_complex spacing
        split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile
        trace transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
        triu_indices_from true_divide trunc union1d unique unique_all unique_counts unique_inverse unique_values
        unpackbits unravel_index unstack unwrap vander var vdot vecdot vecmat vsplit vstack where zeros
        zeros_like
    """.split(),
    "numpy.linalg": """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
        matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv
        tensorsolve trace vecdot vector_norm
    """.split(),
    "numpy.fft": """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
        rfftfreq rfftn
    """.split(),
    "scipy.special": """
        beta betainc betaln digamma erf erfc erfinv expit gamma gammainc gammaincc gammaln gammasgn i0 i1 logit
        logsumexp multigammaln polygamma
    """.split(),
}

# Reasons, and the functions that they are given for.
REASONS = {
    "reads or writes files, or the memory of other libraries": """
        numpy.frombuffer numpy.fromfile numpy.fromstring numpy.from_dlpack numpy.load numpy.save numpy.savez
    """.split(),
    "makes text, or sets how text is made": """
        numpy.array_repr numpy.array_str numpy.get_printoptions numpy.printoptions numpy.set_printoptions
    """.split(),
    "works on Python objects": """
        numpy.frompyfunc
    """.split(),
    "plans what a call of einsum does by itself": """
        numpy.einsum_path
    """.split(),
}
ABSENT = {name: reason for reason, names in REASONS.items() for name in names}
