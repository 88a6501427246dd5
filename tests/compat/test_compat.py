"""Op table × dtypes × ranges × ways of running, by generator, against PyTorch: see `elementwise.py`.

A sample of the cases runs by default; `-m slow` runs all of them.
"""

import pathlib
import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")
from tests.compat import elementwise, samples

pytestmark = pytest.mark.oracle

KNOWN = {
    r"nn.functional.rrelu-": "its slopes are drawn",
    r"(int|long|short|char|byte)-(float|bfloat).*-(ends|edges)-": "C leaves open what a float out of range becomes",
    r"special.*_polynomial_.*-(ends|edges)-": "of a degree so high PyTorch gives zeros; of NaN small degrees are 1",
    r"(igamma|igammac|special.(zeta|airy_ai|bessel_j1|ndtr))-.*-(ends|edges)-": "JAX's value far out",
    r"(mvlgamma|lgamma|special.multigammaln)": "JAX's lgamma of 1 is 5e-7",
    r"(sinc|special.(i0e|i1|i1e|erfcx|log_ndtr)|polar|atan2)-.*-(ends|edges)-grad": "far out and at NaN",
    r"(pow|__rpow__|float_power)-.*-ends-grad": "products that leave the range in other places",
    r"(div[.].*|true_divide|float_power)-(bfloat|float3).*edges-g": "the reciprocal of the largest numbers is denormal",
    r"(tanh|nn.functional.tanhshrink)-.*-ends-grad": "PyTorch's 1 - tanh² is 0 next to 0, XLA's as small as x",
}
"""What differs, and why: patterns of the names of cases."""


def test_users_can_read_what_differs():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "differences.md").read_text()
    assert not [why for why in (*KNOWN.values(), *samples.LEFT_OUT.values()) if why not in page]


def _cases(found, step):
    """Returns parameters for all of some cases, every `step`-th of which runs by default."""
    return [pytest.param(c, id=str(c), marks=() if i % step == 0 else pytest.mark.slow) for i, c in enumerate(found)]


@pytest.fixture(autouse=True, scope="module")
def _free():
    yield
    elementwise.free()


def _is_known(case):
    return any(re.match(pattern, str(case)) for pattern in KNOWN)


@pytest.mark.parametrize("case", _cases([c for c in elementwise.cases() if not _is_known(c)], 263))
def test_elementwise(case):
    assert elementwise.difference(case) is None


@pytest.mark.parametrize("case", _cases(samples.cases(), 59))
def test_halves_of_the_whole_table(case):
    assert samples.difference(case) is None
