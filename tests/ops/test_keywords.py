"""Every function and method takes the keywords that PyTorch's takes: against its own signatures."""

import inspect

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.members.methods import FUNCTIONS

torch = pytest.importorskip("torch")
from tests.ops.keywords import signatures  # noqa: E402

pytestmark = pytest.mark.oracle
SPACES = ("Tensor", "", "nn.functional", "linalg", "fft", "special")

WITHOUT = {
    "out_dtype": "PyTorch has it for CUDA alone",
    "from_": "a stub's word for `from`, which Python has taken",
    "mode": "the stub's word for `requires_grad`, which PyTorch refuses",
    "tensor": "the stub's word for the `input` of `one_hot`, which PyTorch refuses",
    "cls": "`Tensor.new` without a name",
}
"""Keyword → why we do not take it."""

NEEDED = {("", "linspace"): "steps", ("", "logspace"): "steps"}
"""Function → what its stub has a default for, and PyTorch asks for."""


def forms(fn):
    signature = inspect.signature(fn)
    return getattr(signature, "forms", None) or (signature,)


def takes(form, names):
    try:
        return form.bind(**dict.fromkeys(names)) is not None
    except TypeError:
        return False


def refused(space, name):
    """Returns the sets of keywords that PyTorch's function takes and ours does not."""
    ours = getattr(ja.Tensor, name) if space == "Tensor" else FUNCTIONS[space][name]
    first = next(iter(forms(ours)[0].parameters), "self")
    for signature in signatures(space, name):
        for names in signature.calls():
            names = {first if space == "Tensor" and n == "self" else n for n in names} | {NEEDED.get((space, name))}
            if names.isdisjoint(WITHOUT) and not any(takes(form, names - {None}) for form in forms(ours)):
                yield names


def owner_of(space):
    owner = torch
    for part in filter(None, space.split(".")):
        owner = getattr(owner, part)
    return owner


@pytest.mark.parametrize("space", SPACES)
def test_keywords_of_all_functions(space):
    known = dir(ja.Tensor) if space == "Tensor" else FUNCTIONS[space]
    owner = owner_of(space)
    both = [n for n in known if not n.startswith("_") and callable(getattr(owner, n, None))]
    assert len(both) > {"Tensor": 450, "": 500, "nn.functional": 90, "linalg": 30, "fft": 20, "special": 30}[space]
    assert {name: missing for name in both if (missing := list(refused(space, name)))} == {}


X = np.arange(6, dtype=np.float32).reshape(2, 3)
CALLS = [
    lambda t, x: x.reshape(shape=(3, 2)),
    lambda t, x: t.reshape(x, shape=(3, 2)),
    lambda t, x: t.reshape(input=x, shape=(6,)),
    lambda t, x: x.view(size=(3, 2)),
    lambda t, x: x.permute(dims=(1, 0)),
    lambda t, x: t.permute(x, dims=(1, 0)),
    lambda t, x: x.flip(dims=(1,)),
    lambda t, x: x.tile(dims=(1, 2)),
    lambda t, x: x.repeat(repeats=(2, 1)),
    lambda t, x: x[0].expand(size=(2, 3)),
    lambda t, x: x.sum_to_size(size=(1, 3)),
    lambda t, x: x.clone().resize_(size=(2, 2)),
    lambda t, x: x.clone().resize_as_(the_template=x[0]),
    lambda t, x: x.clone().copy_(other=x[0]),
    lambda t, x: x.split(split_size=2, dim=1)[1],
    lambda t, x: t.split(tensor=x, split_size_or_sections=2, dim=1)[0],
    lambda t, x: t.unsafe_split(x, split_size=2, dim=1)[0],
    lambda t, x: x.swapaxes(axis0=0, axis1=1),
    lambda t, x: x.clone().swapaxes_(axis0=0, axis1=1),
    lambda t, x: t.hsplit(input=x, sections=3)[1],
    lambda t, x: x.unsqueeze(axis=1),
    lambda t, x: t.unsqueeze(x, axis=-1),
    lambda t, x: x.clone().unsqueeze_(axis=1),
    lambda t, x: x[:1].squeeze(axis=0),
    lambda t, x: x.select(axis=1, index=2),
    lambda t, x: x.narrow(axis=1, start=1, length=2),
    lambda t, x: x.unbind(axis=1)[2],
    lambda t, x: x.chunk(3, axis=1)[1],
    lambda t, x: x.index_select(axis=1, index=t.tensor([2, 0])),
    lambda t, x: x.gather(axis=1, index=t.tensor([[2], [0]])),
    lambda t, x: x.clone().index_fill_(axis=1, index=t.tensor([0]), value=7.0),
    lambda t, x: x.scatter(axis=1, index=t.tensor([[2], [0]]), value=9.0),
    lambda t, x: x.sum(axis=1, keepdims=True),
    lambda t, x: t.aminmax(x, axis=0, keepdims=True)[0],
    lambda t, x: t.trapezoid(x, axis=0),
    lambda t, x: t.pow(self=2, exponent=x),
    lambda t, x: t.where(condition=x > 2, self=1.0, other=x),
    lambda t, x: t.searchsorted(x[0], input=x[1]),
    lambda t, x: t.isin(element=1, test_elements=x),
    lambda t, x: t.dropout(x, p=0.5, train=False),
    lambda t, x: t.linalg.norm(input=x, dim=1),
    lambda t, x: t.linalg.det(A=x[:, :2]),
    lambda t, x: x.to(other=t.ones(1, dtype=t.int32)) if t is ja else x.to(t.int32),
    lambda t, x: t.tensor([x.size(axis=1), x.stride(axis=0)]),
    lambda t, x: t.layer_norm(x, (3,), cudnn_enable=False),
    lambda t, x: x.repeat_interleave(2, axis=0),
    lambda t, x: t.threshold(x, 2, -1, out=t.empty(2, 3)),
]


def test_values_of_calls_by_keyword():
    wanted = [call(torch, torch.tensor(X)).numpy() for call in CALLS]
    compiled = ja.compile(lambda x: [call(ja, x) for call in CALLS], fullgraph=True)
    for got in ([call(ja, ja.tensor(X)) for call in CALLS], compiled(ja.tensor(X))):
        for i, (ours, theirs) in enumerate(zip(got, wanted, strict=True)):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6, err_msg=str(i))


def test_an_argument_is_given_once_and_needed():
    x = ja.ones(2, 3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'dim'"):
        x.unsqueeze()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'index'"):
        x.index_select(0)
    with pytest.raises(RuntimeError, match="A shape is given once"):
        x.reshape(3, 2, shape=(6,))
    assert ja.result_type(tensor=x, other=ja.tensor([1])) == ja.result_type(scalar=1, tensor=x) == ja.float32
    for got in (ja.asarray(x.requires_grad_()), ja.asarray(x, requires_grad=True)):
        assert got is x
    assert not ja.asarray(x, requires_grad=False).requires_grad
