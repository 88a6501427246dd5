"""`_foreach_*` against PyTorch: every name, out of place and in place, with each kind of operand."""

import numpy as np
import pytest

import jaxaot as ja

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

NAMES = sorted({name for name in dir(torch) if name.startswith("_foreach_")})
RNG = np.random.default_rng(0)
SHAPES = ((2, 3), (4,), ())


def floats():
    """One array for each shape, inside the domain of every function here."""
    return [np.asarray(RNG.uniform(0.2, 0.8, shape), np.float32) for shape in SHAPES]


def matrices(*size):
    return [np.asarray(RNG.normal(size=size), np.float32) for _ in range(2)]


LISTS, NUMBERS, SCALAR = "a list", [0.5, 1.5, 2.0], np.float32(0.7)
SAMPLES = {
    "binary": [(LISTS,), (NUMBERS,), (2.0,)],
    "ternary": [(LISTS, LISTS), (LISTS, LISTS, 0.5), (LISTS, LISTS, NUMBERS), (LISTS, LISTS, np.asarray(NUMBERS))],
    "lerp": [(LISTS, LISTS), (LISTS, 0.3), (LISTS, NUMBERS)],
    "norm": [(), (1,), (float("inf"),)],
    "powsum": [(), (3,)],
}
KIND = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_min", "clamp_max"), "binary"),
    **dict.fromkeys(("addcmul", "addcdiv"), "ternary"),
    "lerp": "lerp", "norm": "norm", "powsum": "powsum",
}  # fmt: skip


def samples_of(name):
    name = name.removeprefix("_foreach_").removesuffix("_")
    if name == "mm":
        return [(matrices(2, 3), matrices(3, 4))]
    if name == "copy":
        return [(floats(), floats())]
    samples = [(floats(), *(floats() if a is LISTS else a for a in s)) for s in SAMPLES.get(KIND.get(name, ""), [()])]
    if name in ("add", "mul", "div"):
        samples.append((floats(), SCALAR))  # a 0-d tensor
    return samples


def converted(value, make):
    if isinstance(value, (np.ndarray, np.generic)):
        return make(np.asarray(value, np.float32))
    return [converted(item, make) for item in value] if isinstance(value, list) else value


def assert_alike(expected, got):
    assert len(expected) == len(got)
    for e, g in zip(expected, got, strict=True):
        assert tuple(e.shape) == tuple(g.shape)
        np.testing.assert_allclose(g.numpy(), e.numpy(), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_foreach_against_torch(name):
    for sample in samples_of(name):
        theirs = [converted(value, torch.tensor) for value in sample]
        mine = [converted(value, ja.tensor) for value in sample]
        expected, got = getattr(torch, name)(*theirs), getattr(ja, name)(*mine)
        if name.endswith("_"):
            assert got is None
            assert_alike(theirs[0], mine[0])
        else:
            assert isinstance(got, tuple)
            assert_alike(expected, got)


def test_keywords():
    x = [ja.tensor([1.0, 2.0]), ja.tensor([3.0])]
    assert_alike([torch.tensor([3.0, 6.0]), torch.tensor([9.0])], ja._foreach_add(x, x, alpha=2))
    assert_alike([torch.tensor([2.0, 4.0]), torch.tensor([8.0])], ja._foreach_pow(2.0, x))
    assert_alike([torch.tensor([2.0, 4.0]), torch.tensor([9.0])], ja._foreach_mul(x, scalars=[2.0, 3.0]))
    assert_alike([torch.tensor([1.5, 4.0]), torch.tensor([12.0])], ja._foreach_addcmul(x, x, x, scalars=[0.5, 1.0]))


def test_refusals():
    x = [ja.zeros(2)]
    with pytest.raises(ja.errors.ArgumentError, match="same number of tensors"):
        ja._foreach_add(x, [1.0, 2.0])
    with pytest.raises(ja.errors.ArgumentError, match="at least one tensor"):
        ja._foreach_abs([])
    with pytest.raises(ja.errors.ArgumentError, match="one operand"):
        ja._foreach_add(x)


def test_gradients_flow():
    x = [ja.tensor([1.0, 2.0], requires_grad=True), ja.tensor([3.0], requires_grad=True)]
    sum(y.sum() for y in ja._foreach_mul(x, x)).backward()
    assert_alike([torch.tensor([2.0, 4.0]), torch.tensor([6.0])], [t.grad for t in x])
