"""Values where terms cancel or a part of a formula leaves the range, and the result is an ordinary number."""

import numpy as np

import jaxaot as ja


def test_polygamma_below_zero_where_its_terms_cancel():
    for dtype in (ja.float32, ja.bfloat16):
        x = ja.tensor([-8.5, -20.5], dtype=dtype)
        assert ja.polygamma(4, x).tolist() == ja.polygamma(4, 1 - x).tolist()  # the cotangent of pi x is 0
    found = ja.polygamma(3, ja.tensor([-0.25, -1e-6, -2.0]))
    np.testing.assert_allclose(found.tolist(), [1555.763312, 6e24, np.inf], rtol=1e-5)  # polygamma(3, 3/4) + 6 · 4⁴


def test_a_power_of_two_that_is_denormal_alone():
    for run in (ja.ldexp, ja.compile(ja.ldexp)):
        assert run(ja.tensor([-128.0, 0.5]), ja.tensor([-128, 2])).tolist() == [-(2.0**-121), 2.0]


def test_an_odd_exponent_that_is_an_even_float32():
    x, n = ja.tensor([-2, -2, 2]), ja.tensor([2**31 - 1, 2**30, 2**31 - 1])
    assert ja.float_power(x, n).tolist() == [-np.inf, np.inf, np.inf]


def test_slopes_where_equal_numbers_cancel():
    for fn, at, wanted in (
        (ja.sinc, 2.0**-12, -(np.pi**2) / 3 * 2.0**-12),
        (ja.special.i0e, 4096.0, -7.6101e-7),
        (ja.logit, -0.0, np.inf),
        (lambda x: ja.frexp(x)[0], 2.0**126, 2.0**-127 * 1.0),
    ):
        x = ja.tensor([at], requires_grad=True)
        (found,) = ja.autograd.grad(fn(x).sum(), x)
        np.testing.assert_allclose(found.tolist(), [wanted], rtol=1e-3, atol=1e-38)
