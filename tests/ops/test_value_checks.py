"""Values that PyTorch refuses are refused, with the same builtin error, and nothing is changed by the attempt."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

CASES = {
    "getitem": lambda m, t: t([1.0, 2, 3])[t([5])],
    "getitem neg": lambda m, t: t([1.0, 2, 3])[t([-4])],
    "setitem": lambda m, t: t([1.0, 2, 3]).__setitem__(t([5]), 1.0),
    "getitem list": lambda m, t: t([1.0, 2, 3])[[5]],
    "gather": lambda m, t: m.gather(t([1.0, 2, 3]), 0, t([3])),
    "gather neg": lambda m, t: m.gather(t([1.0, 2, 3]), 0, t([-1])),
    "index_select": lambda m, t: m.index_select(t([1.0, 2, 3]), 0, t([3])),
    "take": lambda m, t: m.take(t([1.0, 2, 3]), t([3])),
    "put_": lambda m, t: t([1.0, 2, 3]).put_(t([3]), t([1.0])),
    "scatter": lambda m, t: m.scatter(t([1.0, 2, 3]), 0, t([3]), t([1.0])),
    "scatter_add": lambda m, t: t([1.0, 2, 3]).scatter_add_(0, t([3]), t([1.0])),
    "index_add": lambda m, t: t([1.0, 2, 3]).index_add_(0, t([3]), t([1.0])),
    "index_copy": lambda m, t: t([1.0, 2, 3]).index_copy_(0, t([3]), t([1.0])),
    "index_fill": lambda m, t: t([1.0, 2, 3]).index_fill_(0, t([3]), 1.0),
    "index_put": lambda m, t: t([1.0, 2, 3]).index_put_((t([3]),), t([1.0])),
    "embedding": lambda m, t: m.nn.functional.embedding(t([4]), t([[1.0, 2], [3, 4]])),
    "nll": lambda m, t: m.nn.functional.nll_loss(t([[1.0, 2], [3, 4]]), t([0, 2])),
    "ce": lambda m, t: m.nn.functional.cross_entropy(t([[1.0, 2], [3, 4]]), t([0, 2])),
    "one_hot": lambda m, t: m.nn.functional.one_hot(t([0, 2]), 2),
    "one_hot neg": lambda m, t: m.nn.functional.one_hot(t([-1]), 2),
    "bernoulli": lambda m, t: m.bernoulli(t([2.0])),
    "multinomial": lambda m, t: m.multinomial(t([-1.0, 2.0]), 1),
    "multinomial0": lambda m, t: m.multinomial(t([0.0, 0.0]), 1),
    "inverse": lambda m, t: m.linalg.inv(t([[0.0, 0], [0, 0]])),
    "solve": lambda m, t: m.linalg.solve(t([[0.0, 0], [0, 0]]), t([1.0, 1])),
    "cholesky": lambda m, t: m.linalg.cholesky(t([[-1.0, 0], [0, 1]])),
    "int div zero": lambda m, t: t([1]) // t([0]),
    "int rem zero": lambda m, t: t([1]) % t([0]),
    "int pow neg": lambda m, t: t([2]) ** -1,
    "bincount neg": lambda m, t: m.bincount(t([-1, 2])),
    "repeat_interleave neg": lambda m, t: m.repeat_interleave(t([1, 2]), t([-1, 2])),
    "take_along_dim": lambda m, t: m.take_along_dim(t([1.0, 2, 3]), t([3])),
    "kthvalue": lambda m, t: m.kthvalue(t([1.0, 2, 3]), 5),
    "topk": lambda m, t: m.topk(t([1.0, 2, 3]), 5),
    "normal neg std": lambda m, t: m.normal(t([1.0]), t([-1.0])),
    "poisson neg": lambda m, t: m.poisson(t([-1.0])),
    "bce": lambda m, t: m.nn.functional.binary_cross_entropy(t([2.0]), t([1.0])),
    "histc": lambda m, t: m.histc(t([1.0, float("nan")])),
    "searchsorted": lambda m, t: m.searchsorted(t([1.0, 2.0]), t([1.0]), sorter=t([5, 1])),
    "max_unpool": lambda m, t: m.nn.functional.max_unpool1d(t([[[1.0]]]), t([[[9]]]), 2),
    "masked_scatter": lambda m, t: t([1.0, 2, 3]).masked_scatter_(t([True, False, True]), t([5.0])),
    "quantile": lambda m, t: m.quantile(t([1.0, 2, 3]), 2.0),
    "quantiles": lambda m, t: m.quantile(t([1.0, 2, 3]), t([0.5, -0.1])),
    "tensordot": lambda m, t: m.tensordot(t([1.0]), t([1.0]), 3),
    "tensordot neg": lambda m, t: m.tensordot(t([1.0]), t([1.0]), -1),
    "cdist": lambda m, t: m.cdist(t([1.0]), t([1.0])),
    "embedding_bag": lambda m, t: m.nn.functional.embedding_bag(t([[4]]), t([[1.0, 2], [3, 4]])),
}


def refusal(case, module, make):
    try:
        case(module, make)
    except Exception as error:
        return error
    return None


@pytest.mark.oracle
@each("name", CASES)
def test_refused_as_by_torch(name):
    torch = pytest.importorskip("torch")
    theirs = refusal(CASES[name], torch, torch.tensor)
    ours = refusal(CASES[name], ja, ja.tensor)
    assert theirs is not None and isinstance(ours, ja.errors.JaxaotError), ours
    assert isinstance(ours, IndexError if isinstance(theirs, IndexError) else RuntimeError)


@pytest.mark.parametrize("write", [
    lambda x, i: x.scatter_add_(0, i, ja.ones(1)),
    lambda x, i: x.index_fill_(0, i, 5.0),
    lambda x, i: x.index_put_((i,), ja.ones(1)),
    lambda x, i: x.put_(i, ja.ones(1)),
    lambda x, i: x.__setitem__(i, 5.0),
])  # fmt: skip
def test_nothing_is_written_out_of_range(write):
    x = ja.zeros(3)
    with pytest.raises(ja.errors.DimError, match="3"):
        write(x, ja.tensor([3]))
    assert x.tolist() == [0, 0, 0] and x._version == 0
    write(x, ja.tensor([2]))
    assert x._version == 1


def test_in_a_graph_values_are_not_checked():
    pick = ja.compile(lambda x, i: x.gather(0, i))
    assert pick(ja.tensor([1.0, 2.0]), ja.tensor([5])).tolist() == [2]
    inverse = jax.jit(ja.func.functionalize(lambda x: ja.linalg.inv(x)))(np.zeros((2, 2), np.float32))
    assert not np.isfinite(inverse).all()


def test_indices_that_wrap():
    x = ja.tensor([1.0, 2.0, 3.0])
    assert ja.take(x, ja.tensor([-1])).tolist() == [3]
    assert ja.take_along_dim(x, ja.tensor([3, -1]), 0).tolist() == [1, 3]
    assert ja.nn.functional.nll_loss(ja.zeros(2, 2), ja.tensor([-100, 1])).item() == 0


def test_singular_matrices():
    with pytest.raises(ja.linalg.LinAlgError, match="singular"):
        ja.linalg.inv(ja.zeros(2, 2))
    assert ja.linalg.inv_ex(ja.zeros(2, 2)).info.item() != 0
    with pytest.raises(ja.errors.SingularMatrixError, match="info"):
        ja.linalg.inv_ex(ja.zeros(2, 2), check_errors=True)
    assert np.isnan(ja.linalg.inv(ja.full((2, 2), ja.nan)).numpy()).all()


def test_divisors_and_multiples_of_the_smallest_integer():
    x, y = ja.tensor([-(2**31), -(2**31), 12, 0]), ja.tensor([-1, -(2**31), -18, 0])
    assert ja.gcd(x, y).tolist() == [1, -(2**31), 6, 0]
    assert ja.lcm(x, y).tolist() == [-(2**31), -(2**31), 36, 0]


def test_no_variables_have_a_covariance_without_elements():
    for x in (ja.zeros(0, 3), ja.zeros(0, 0)):
        assert ja.cov(x).shape == ja.corrcoef(x).shape == (0, 0)


def test_what_a_difference_is_prepended_with_has_its_shape():
    x = ja.ones(2, 3)
    with pytest.raises(RuntimeError, match="the same dimension as input"):
        x.diff(dim=0, prepend=ja.ones(3))
    with pytest.raises(RuntimeError, match="match that of input except along"):
        x.diff(dim=0, append=ja.ones(1, 2))
