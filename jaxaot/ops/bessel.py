"""Bessel functions, ordinary, modified and spherical, and Airy's: rows of `ja.special`.

Source: the rational and Chebyshev approximations of S. Moshier, Cephes Mathematical Library
(https://www.netlib.org/cephes). PyTorch has the same in `ATen/native/Math.h`, but leaves out the leading 1 of some
denominators, an error of up to 3e-6. Derivatives are from https://dlmf.nist.gov/10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jsp

from jaxaot._typing import Array
from jaxaot.ops.derivatives import with_derivatives
from jaxaot.ops.elementwise import real_only
from jaxaot.ops.table import register_op

AIRY = {
    "AN": (0.346538101525629, 12.007595273964581, 76.27960536152345, 168.08922493463058, 159.75639135016442,
        70.53609068404442, 14.026469116338967, 1.0),
    "AD": (0.5675945326387702, 14.75625625848472, 84.51389701414746, 177.31808814540045, 164.2346928715297,
        71.47784008255756, 14.095913560783403, 1.0),
    "AFN": (-0.1316963234183318, -0.6264565444319123, -0.6931580360369335, -0.2797799815451191,
        -0.04919001326095003, -0.004062659235948854, -0.0001592764962392621, -2.776491081552329e-06,
        -1.6778769848911465e-08),
    "AFD": (1.0, 13.356042070655324, 32.682503279522464, 26.736704094149957, 9.187074029072596, 1.4752914677166642,
        0.11568717379518804, 0.004402916416152112, 7.547203482874142e-05, 4.5185009297058035e-07),
    "AGN": (0.01973399320916857, 0.39110302961568827, 1.0657989759959559, 0.9391692298166502, 0.35146565610554764,
        0.06338889196289255, 0.005858041130483885, 0.000282851600836737, 6.98793669997261e-06,
        8.117892395543892e-08, 3.415517847659236e-10),
    "AGD": (1.0, 9.30892908077442, 19.835292871831214, 15.564662893286462, 5.476860694229755, 0.9542936116189619,
        0.08645808263523921, 0.004126565238242226, 0.00010125908511650914, 1.1716673321441352e-06,
        4.9183457006293e-09),
}  # fmt: skip
ORDER_0 = {
    "PP": (0.0007969367292973471, 0.08283523921074408, 1.239533716464143, 5.447250030587687, 8.74716500199817,
        5.303240382353949, 1.0),
    "PQ": (0.0009244088105588637, 0.08562884743544745, 1.2535274390105895, 5.470977403304171, 8.761908832370695,
        5.306052882353947, 1.0),
    "QP": (-0.011366383889846916, -1.2825271867050931, -19.553954425773597, -93.20601521237683,
        -177.68116798048806, -147.07750515495118, -51.41053267665993, -6.050143506007285),
    "QQ": (1.0, 64.3178256118178, 856.4300259769806, 3882.4018360540163, 7240.467741956525, 5930.727011873169,
        2062.0933166032783, 242.0057402402914),
    "RP": (-4794432209.782018, 1956174919465.5657, -249248344360967.72, 9708622510473064.0),
    "RQ": (1.0, 499.563147152651, 173785.4016763747, 48440965.83399621, 11185553704.535683, 2112775201154.892,
        310518229857422.56, 3.1812195594320496e+16, 1.7108629408104315e+18),
}  # fmt: skip
ORDER_0_Y = {
    "YP": (15592.436785523574, -14663929.59039716, 5435264770.518765, -982136065717.9115, 87590639439536.7,
        -3466283033847297.0, 4.4273326857256984e+16, -1.8495080043698668e+16),
    "YQ": (1.0, 1041.2835366425984, 626107.330137135, 268919633.39381415, 86400248710.3935, 20297961275010.555,
        3171577528429750.5, 2.5059625617265306e+17),
}  # fmt: skip
ORDER_1 = {
    "PP": (0.0007621256162081731, 0.07313970569409176, 1.1271960812968493, 5.112079511468076, 8.424045901417724,
        5.214515986823615, 1.0),
    "PQ": (0.0005713231280725487, 0.06884559087544954, 1.105142326340617, 5.073863861286015, 8.399855543276042,
        5.209828486823619, 1.0),
    "QP": (0.05108625947501766, 4.982138729512334, 75.82382841325453, 366.7796093601508, 710.8563049989261,
        597.4896124006136, 211.68875710057213, 25.207020585802372),
    "QQ": (1.0, 74.23732770356752, 1056.4488603826283, 4986.410583376536, 9562.318924047562, 7997.041604473507,
        2826.1927851763908, 336.0936078106983),
    "RP": (-899971225.7055594, 452228297998.19403, -72749424522181.83, 3682957328638529.0),
    "RQ": (1.0, 620.8364781180543, 256987.25675774884, 83514679.14319493, 22151159547.97925, 4749141220799.914,
        784369607876235.9, 8.952223361846274e+16, 5.322786203326801e+18),
}  # fmt: skip
ORDER_1_Y = {
    "YP": (1263204747.9017804, -647355876379.1603, 114509511541823.73, -8127702555013251.0, 2.024394757135949e+17,
        -7.788771962659501e+17),
    "YQ": (1.0, 594.3015923461282, 235564.09294306856, 73481194.44597217, 18760131610.870617, 3882312774962.3857,
        620557727146953.8, 6.871410873553005e+16, 3.9727060811656064e+18),
}  # fmt: skip
K_0 = {
    "A": (1.374465435613523e-16, 4.25981614279661e-14, 1.0349695257633842e-11, 1.904516377220209e-09,
        2.5347910790261494e-07, 2.286212103119452e-05, 0.001264615411446926, 0.0359799365153615,
        0.3442898999246285, -0.5353273932339028),
    "B": (5.300433772686263e-18, -1.6475804301524212e-17, 5.2103915050390274e-17, -1.678231096805412e-16,
        5.512055978524319e-16, -1.848593377343779e-15, 6.3400764774050706e-15, -2.2275133269916698e-14,
        8.032890775363575e-14, -2.9800969231727303e-13, 1.140340588208475e-12, -4.514597883373944e-12,
        1.8559491149547177e-11, -7.957489244477107e-11, 3.577397281400301e-10, -1.69753450938906e-09,
        8.574034017414225e-09, -4.660489897687948e-08, 2.766813639445015e-07, -1.8317555227191195e-06,
        1.39498137188765e-05, -0.00012849549581627802, 0.0015698838857300533, -0.0314481013119645,
        2.4403030820659555),
}  # fmt: skip
K_1 = {
    "A": (-7.023863479386288e-18, -2.427449850519366e-15, -6.666901694199329e-13, -1.4114883926335278e-10,
        -2.213387630734726e-08, -2.4334061415659684e-06, -0.0001730288957513052, -0.006975723859639864,
        -0.12261118082265715, -0.3531559607765449, 1.5253002273389478),
    "B": (-5.756744483665017e-18, 1.7940508731475592e-17, -5.689462558442859e-17, 1.838093544366639e-16,
        -6.057047248373319e-16, 2.038703165624334e-15, -7.019837090418314e-15, 2.4771544244813043e-14,
        -8.976705182324994e-14, 3.3484196660784293e-13, -1.2891739609510289e-12, 5.13963967348173e-12,
        -2.1299678384275683e-11, 9.218315187605006e-11, -4.1903547593418965e-10, 2.015049755197033e-09,
        -1.0345762465678097e-08, 5.7410841254500495e-08, -3.5019606030878126e-07, 2.406484947837217e-06,
        -1.936197974166083e-05, 0.00019521551847135162, -0.002857816859622779, 0.10392373657681724,
        2.7206261904844427),
}  # fmt: skip


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Returns a polynomial by Horner's rule, the highest power first."""
    result = jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def _chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    """Returns a series of Chebyshev polynomials of `x` / 2 by Clenshaw's recurrence, the highest degree first."""
    before, last, current = jnp.zeros_like(x), jnp.zeros_like(x), jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        before, last = last, current
        current = x * last - before + coefficient
    return (current - before) / 2


def _ratio(table: dict[str, Any], above: str, below: str, x: Array) -> Array:
    return _polynomial(table[above], x) / _polynomial(table[below], x)


def _wave(table: dict[str, Any], x: Array, order: int, is_second: bool) -> Array:
    """Returns J or Y of an order for x > 5, as a wave of slowly changing height and phase (Hankel's expansion)."""
    z = (5 / x) ** 2
    height, turn = _ratio(table, "PP", "PQ", z), 5 / x * _ratio(table, "QP", "QQ", z)
    phase = x - (2 * order + 1) * np.pi / 4
    sin, cos = jnp.sin(phase), jnp.cos(phase)
    wave = height * sin + turn * cos if is_second else height * cos - turn * sin
    return wave * np.sqrt(2 / np.pi) / jnp.sqrt(x)


def _j0(x: Array) -> Array:
    x = jnp.abs(x)
    near = jnp.minimum(x, 5)
    z = near * near
    series = (z - 5.78318596294678452118) * (z - 30.4712623436620863991) * _ratio(ORDER_0, "RP", "RQ", z)
    series = jnp.where(x < 1e-5, 1 - z / 4, series)
    return jnp.where(x <= 5, series, _wave(ORDER_0, jnp.maximum(x, 5), 0, False))


def _j1(x: Array) -> Array:
    sign, x = jnp.sign(x), jnp.abs(x)
    near = jnp.minimum(x, 5)
    z = near * near
    series = _ratio(ORDER_1, "RP", "RQ", z) * near * (z - 14.6819706421238932572) * (z - 49.2184563216946036703)
    return jnp.where(x <= 5, series, _wave(ORDER_1, jnp.maximum(x, 5), 1, False)) * sign


def _second_kind(x: Array, near_zero: Callable[..., Any], table: dict[str, Any], order: int) -> Array:
    near = jnp.clip(x, jnp.finfo(x.dtype).tiny, 5)
    value = jnp.where(x <= 5, near_zero(near), _wave(table, jnp.maximum(x, 5), order, True))
    return jnp.where(x == 0, -jnp.inf, jnp.where(x < 0, jnp.nan, value))


def _y0(x: Array) -> Array:
    near_zero = lambda x: _ratio(ORDER_0_Y, "YP", "YQ", x * x) + 2 / np.pi * jnp.log(x) * _j0(x)
    return _second_kind(x, near_zero, ORDER_0, 0)


def _y1(x: Array) -> Array:
    near_zero = lambda x: x * _ratio(ORDER_1_Y, "YP", "YQ", x * x) + 2 / np.pi * (_j1(x) * jnp.log(x) - 1 / x)
    return _second_kind(x, near_zero, ORDER_1, 1)


def _modified(x: Array, near_zero: Callable[..., Any], table: dict[str, Any], is_scaled: bool) -> Array:
    """Returns K of x, of an order, times exp(x) if it `is_scaled`."""
    near, far = jnp.clip(x, jnp.finfo(x.dtype).tiny, 2), jnp.maximum(x, 2)
    small = near_zero(near)
    large = _chebyshev(table["B"], 8 / far - 2) / jnp.sqrt(far)
    value = jnp.where(
        x <= 2, small * jnp.exp(near) if is_scaled else small, large * (1 if is_scaled else jnp.exp(-far))
    )
    return jnp.where(x == 0, jnp.inf, jnp.where(x < 0, jnp.nan, value))


def _k0(x: Array, is_scaled: bool = False) -> Array:
    near_zero = lambda x: _chebyshev(K_0["A"], x * x - 2) - jnp.log(x / 2) * jsp.i0(x)
    return _modified(x, near_zero, K_0, is_scaled)


def _k1(x: Array, is_scaled: bool = False) -> Array:
    near_zero = lambda x: jnp.log(x / 2) * jsp.i1(x) + _chebyshev(K_1["A"], x * x - 2) / x
    return _modified(x, near_zero, K_1, is_scaled)


def _spherical_j0(x: Array) -> Array:
    small = jnp.abs(x) < 0.5
    safe = jnp.where(small, 1, x)
    z = jnp.where(small, x * x, 0)
    series = _polynomial([(-1.0) ** i / float(np.prod(np.arange(1, 2 * i + 2.0))) for i in range(6, -1, -1)], z)
    return jnp.where(jnp.isinf(x), 0, jnp.where(small, series, jnp.sin(safe) / safe))


def airy_ai(x: Array) -> Array:
    """Returns Airy's function Ai: by Taylor series near 0, by asymptotic expansions elsewhere."""
    far_left, right = jnp.minimum(x, -2.09), jnp.maximum(x, 2.09)
    size = -2 * far_left * jnp.sqrt(-far_left) / 3
    z = 1 / size
    sines = 1 + z * z * _ratio(AIRY, "AFN", "AFD", z * z)
    cosines = z * _ratio(AIRY, "AGN", "AGD", z * z)
    phase = size + np.pi / 4
    left = (jnp.sin(phase) * sines - jnp.cos(phase) * cosines) / (np.sqrt(np.pi) * jnp.sqrt(jnp.sqrt(-far_left)))
    decay = 2 * right * jnp.sqrt(right) / 3
    falling = _ratio(AIRY, "AN", "AD", 1 / decay) / (2 * np.sqrt(np.pi) * jnp.sqrt(jnp.sqrt(right)) * jnp.exp(decay))
    near = jnp.clip(x, -2.09, 2.09)
    cube = near**3
    f, g = first, second = jnp.ones_like(near), near
    for k in range(1, 40, 3):
        first, second = first * cube / ((k + 1) * (k + 2)), second * cube / ((k + 2) * (k + 3))
        f, g = f + first, g + second
    middle = 0.355028053887817239260 * f - 0.258819403792806798405 * g
    value = jnp.where(x < -2.09, left, jnp.where(x >= 2.09, falling, middle))
    return jnp.where(jnp.isinf(x), jnp.nan, jnp.where(x > 103.892, 0, value))


def _over(value: Array, x: Array, at_zero: float) -> Array:
    """Returns `value / x`, and `at_zero` where x is 0."""
    return jnp.where(x == 0, at_zero, value / jnp.where(x == 0, 1, x))


FUNCTIONS: dict[str, Any] = {
    "airy_ai": with_derivatives(airy_ai, None),
    "bessel_j0": with_derivatives(_j0, lambda x, _: -_j1(x)),
    "bessel_j1": with_derivatives(_j1, lambda x, j1: _j0(x) - _over(j1, x, 0.5)),
    "bessel_y0": with_derivatives(_y0, lambda x, _: -_y1(x)),
    "bessel_y1": with_derivatives(_y1, lambda x, y1: _y0(x) - y1 / x),
    "modified_bessel_i0": with_derivatives(jsp.i0, lambda x, _: jsp.i1(x)),
    "modified_bessel_i1": with_derivatives(jsp.i1, lambda x, i1: jsp.i0(x) - _over(i1, x, 0.5)),
    "modified_bessel_k0": with_derivatives(_k0, lambda x, _: -_k1(x)),
    "modified_bessel_k1": with_derivatives(_k1, lambda x, k1: -_k0(x) - k1 / x),
    "scaled_modified_bessel_k0": with_derivatives(lambda x: _k0(x, True), lambda x, k0: k0 - _k1(x, True)),
    "scaled_modified_bessel_k1": with_derivatives(lambda x: _k1(x, True), lambda x, k1: k1 - _k0(x, True) - k1 / x),
    "spherical_bessel_j0": with_derivatives(_spherical_j0, lambda x, j0: _over(jnp.cos(x) - j0, x, 0)),
}


def _register(name: str, fn: Callable[..., Any], parameter: str) -> None:
    @register_op(f"{name}(Tensor {parameter}) -> Tensor", promote="float", method=False, namespaces=("special",))
    def row(**operand):
        return fn(operand[parameter])


for _name, _fn in real_only(FUNCTIONS).items():
    _register(_name, _fn, "x" if _name.startswith(("airy", "scaled", "spherical")) else "self")
