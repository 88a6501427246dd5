"""Starting values: the distributions of torch.nn.init, where they are written, and what is refused."""

import math

import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import some

init = ja.nn.init

CASES = {
    "uniform": (lambda i, t: i.uniform_(t, -1, 3), (200, 50)),
    "normal": (lambda i, t: i.normal_(t, 2, 0.5), (200, 50)),
    "trunc-normal": (lambda i, t: i.trunc_normal_(t, 0.5, 2.0, -1.0, 2.0), (200, 50)),
    "xavier-uniform": (lambda i, t: i.xavier_uniform_(t, i.calculate_gain("relu")), (200, 50)),
    "xavier-normal": (lambda i, t: i.xavier_normal_(t), (50, 20, 3, 3)),
    "kaiming-uniform": (lambda i, t: i.kaiming_uniform_(t, a=0.2), (50, 20, 3, 3)),
    "kaiming-normal": (lambda i, t: i.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), (200, 50)),
    "orthogonal": (lambda i, t: i.orthogonal_(t, gain=2), (60, 100)),
    "sparse": (lambda i, t: i.sparse_(t, 0.3, 0.5), (100, 60)),
}
FIXED = {
    "constant": (lambda i, t: i.constant_(t, 0.3), (2, 3)),
    "ones": (lambda i, t: i.ones_(t), (2, 3)),
    "zeros": (lambda i, t: i.zeros_(t), (2, 3)),
    "eye": (lambda i, t: i.eye_(t), (2, 3)),
    "dirac": (lambda i, t: i.dirac_(t), (3, 4, 3)),
    "dirac-groups": (lambda i, t: i.dirac_(t, 2), (4, 2, 3, 2)),
}


def filled(library, case):
    fill, shape = {**CASES, **FIXED}[case]
    tensor = library.zeros(shape).requires_grad_()
    assert fill(library.nn.init, tensor) is tensor and tensor.is_leaf and tensor.grad_fn is None
    return tensor.detach().numpy()


@pytest.mark.oracle
@pytest.mark.parametrize("case", FIXED)
def test_values_are_those_of_pytorch(case):
    torch = pytest.importorskip("torch")
    assert filled(ja, case).tolist() == filled(torch, case).tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("case", CASES)
def test_draws_are_distributed_as_those_of_pytorch(case):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    ja.manual_seed(0)
    found, expected = (np.sort(filled(library, case).ravel()) for library in (ja, torch))
    spread = expected.max() - expected.min()
    quantiles = np.linspace(0, 1, 41)[1:-1]
    np.testing.assert_allclose(np.quantile(found, quantiles), np.quantile(expected, quantiles), atol=0.02 * spread)


@pytest.mark.slow
def test_draws_have_the_properties_that_their_names_say():
    ja.manual_seed(0)
    rows = filled(ja, "orthogonal")
    np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(60), atol=1e-4)
    assert (filled(ja, "sparse") == 0).sum(0).tolist() == [30] * 60
    cut = filled(ja, "trunc-normal")
    assert cut.min() >= -1 and cut.max() <= 2
    one, other = (init.normal_(ja.zeros(3), generator=ja.Generator().manual_seed(4)) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert init.calculate_gain("leaky_relu", 0.5) == pytest.approx(math.sqrt(1.6))


@pytest.mark.parametrize(
    "use",
    [
        lambda: init.calculate_gain("relo"),
        lambda: init.eye_(ja.ones(2)),
        lambda: init.dirac_(ja.ones(2, 2)),
        lambda: init.xavier_normal_(ja.ones(2)),
        lambda: init.kaiming_normal_(ja.ones(2, 2), mode="fan"),
        lambda: init.orthogonal_(ja.ones(2)),
        lambda: init.sparse_(ja.ones(2), 0.1),
    ],
)
def test_bad_uses_are_errors_of_value(use):
    with pytest.raises(ValueError):
        use()


def test_first_names_write_too_and_warn():
    x = ja.empty(2, 3)
    with pytest.warns(FutureWarning, match="`nn.init.constant` is now deprecated in favor of `nn.init.constant_`"):
        assert init.constant(x, 2.0) is x and x.tolist() == [[2.0] * 3] * 2
    with pytest.raises(AttributeError, match="has no attribute 'xavier'"):
        init.xavier  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("is_compiled", some([True, False], 1))
def test_complex_numbers_are_uniform_in_both_parts(is_compiled):
    fill = lambda x: x.uniform_(-2, 3)
    x = (ja.compile(fill) if is_compiled else fill)(ja.zeros(500, dtype=ja.complex64))
    for part in (x.real, x.imag):
        assert -2 <= part.min() < -1.8 and 2.8 < part.max() <= 3
    assert ja.nn.Linear(3, 3, dtype=ja.complex64).weight.imag.abs().max() > 0
