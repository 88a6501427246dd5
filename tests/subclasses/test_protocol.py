"""Tensors that are made of inner tensors, eagerly: how ops reach them, and what they have otherwise."""

from __future__ import annotations

import copy
import pickle

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from jaxaot.facade.subclass.subclass import Op
from jaxaot.subclasses import TwoTensor


class Scaled(ja.Tensor):
    """A tensor that knows few ops: `values * factor`, the factor in its context."""

    @staticmethod
    def __new__(cls, values, factor=2.0):
        return ja.Tensor._make_wrapper_subclass(cls, values.shape, dtype=values.dtype)

    def __init__(self, values, factor=2.0):
        self.values, self.factor = values, factor

    def __tensor_flatten__(self):
        return ["values"], self.factor

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Scaled(inner["values"], context)

    @classmethod
    def __tensor_dispatch__(cls, op, types, args, kwargs):
        if op.name == "mul" and len(types) == 1 and isinstance(args[0], Scaled):
            return Scaled(op(args[0].values, args[1]), args[0].factor)
        if op.name == "sum":
            return op(args[0].values, *args[1:], **kwargs) * args[0].factor
        return NotImplemented


class Louder(Scaled):
    """Derives from another subclass, and is asked before it."""

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Louder(inner["values"], context)

    @classmethod
    def __tensor_dispatch__(cls, op, types, args, kwargs):
        return f"{op.name} of {', '.join(kind.__name__ for kind in types)}"


def pair(*shape, requires_grad=False):
    made = TwoTensor(ja.randn(*shape), ja.randn(*shape))
    return made.requires_grad_() if requires_grad else made


def assert_same(made, expected):
    np.testing.assert_allclose(np.asarray(made.detach().numpy()), np.asarray(expected.detach().numpy()), rtol=1e-6)


PROGRAMS = {
    "arithmetic": lambda x: (x * 2 + 1).sin() / (x.abs() + 1),
    "reflected": lambda x: 1 - 2 / (x.exp() + 1),
    "product": lambda x: x @ x.t(),
    "linear": lambda x: ja.nn.functional.linear(x, ja.ones(2, 4), ja.ones(2)),
    "reductions": lambda x: x.sum(0) + x.mean(0, keepdim=True) + x.amax(0),
    "several results": lambda x: x.max(1).values,
    "views": lambda x: x.view(2, 6)[1:, ::2].t().unsqueeze(0).expand(4, 3, 1).squeeze(),
    "pieces": lambda x: x.chunk(2, 1)[1] * x.unbind(1)[0].unsqueeze(1),
    "joined": lambda x: ja.cat([x, x * 2]).reshape(-1) + ja.stack([x, x]).flatten(),
    "index": lambda x: x[ja.tensor([2, 0])] + x[1],
    "index with none": lambda x: x[None, ..., 0],
    "mask": lambda x: ja.where(x > 0, x, 0.1 * x),
    "softmax": lambda x: ja.nn.functional.softmax(x, -1).log(),
    "norm": lambda x: ja.nn.functional.layer_norm(x, (4,)),
    "einsum": lambda x: ja.einsum("ij,kj->ik", x, x),
    "casts": lambda x: x.to(ja.bfloat16).float() + x.double().float(),
    "copies": lambda x: x.clone().contiguous() + x.detach(),
    "like": lambda x: ja.zeros_like(x) + ja.ones_like(x) + x.new_zeros(3, 4) + ja.full_like(x, 3.0) * x,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_op_is_carried_out_on_both_and_so_is_its_gradient(name):
    x = pair(3, 4, requires_grad=True)
    a, b = x.a.detach().requires_grad_(), x.b.detach().requires_grad_()
    y, of_a, of_b = (PROGRAMS[name](t) for t in (x, a, b))
    assert type(y) is TwoTensor
    assert y.shape == of_a.shape
    assert y.dtype == of_a.dtype
    assert_same(y.a, of_a)
    assert_same(y.b, of_b)
    y.sum().backward()
    (of_a.sum() + of_b.sum()).backward()
    assert type(x.grad) is TwoTensor
    assert_same(x.grad.a, a.grad)
    assert_same(x.grad.b, b.grad)


WRITES = {
    "mul_": lambda x: x.mul_(3),
    "add_ of a part": lambda x: x[1:, 1].add_(1),
    "item": lambda x: x.__setitem__((0, slice(1, 3)), 5.0),
    "items": lambda x: x.__setitem__(ja.tensor([0, 2]), ja.ones(2, 4)),
    "copy_": lambda x: x.copy_(x * 2),
    "fill_": lambda x: x.fill_(2),
    "clamp_": lambda x: x.clamp_(-0.5, 0.5),
    "augmented": lambda x: x.__iadd__(2),
    "t_": lambda x: x.t_().mul_(2),
    "unsqueeze_": lambda x: x.unsqueeze_(1).squeeze_(1),
    "foreach": lambda x: ja._foreach_mul_([x, x], [2.0, 3.0]),
    "out": lambda x: ja.add(x.clone(), 1, out=x),
    "data": lambda x: setattr(x, "data", x * 2),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_reaches_the_inner_tensors(name):
    x = pair(3, 4)
    view = x[0]
    a, b = x.a.clone(), x.b.clone()
    for t in (x, a, b):
        WRITES[name](t)
    assert x.shape == a.shape
    assert_same(x.a, a)
    assert_same(x.b, b)
    if name != "data":
        assert_same(view.a, a.t()[0] if name == "t_" else a[0])


def test_an_op_in_place_that_is_not_known_is_made_of_the_one_out_of_place():
    x = Scaled(ja.ones(3))
    view = x.values
    assert x.mul_(4) is x
    assert view.tolist() == [4.0] * 3
    with pytest.raises(errors.SubclassError, match=r"No implementation of `add_` was found for `Scaled`"):
        x.add_(1)
    assert view.tolist() == [4.0] * 3


def test_a_write_into_another_kind_is_refused():
    x, y = Scaled(ja.ones(3), 2.0), Scaled(ja.ones(3), 3.0)
    with pytest.raises(errors.SubclassError, match=r"`Scaled` with context 3.0 into a `Scaled` with context 2.0"):
        x.copy_(y)
    with pytest.raises(errors.SubclassError, match=r"a `TwoTensor` into a plain tensor"):
        ja.zeros(3).add_(pair(3))


def test_a_write_that_fails_writes_nothing():
    x = TwoTensor(ja.ones(3), ja.ones(3, requires_grad=True))
    for write in (lambda: x.add_(1), lambda: x.copy_(pair(3)), lambda: ja.compile(lambda t: t.mul_(2))(x)):
        with pytest.raises(errors.LeafWriteError):
            write()
    assert x.a.tolist() == [1.0] * 3
    uneven = Uneven(ja.ones(3), ja.ones(3))
    with pytest.raises(errors.ShapeMismatchError):
        uneven.copy_(Uneven(ja.zeros(3), ja.zeros(2)))
    assert uneven.a.tolist() == [1.0] * 3


class Uneven(TwoTensor):
    """Inner tensors may have different sizes."""

    @staticmethod
    def __new__(cls, a, b):
        return ja.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype)

    @classmethod
    def __tensor_dispatch__(cls, op, types, args, kwargs):
        return NotImplemented


def test_a_class_that_forgets_to_return():
    class Forgets(TwoTensor):
        @classmethod
        def __tensor_dispatch__(cls, op, types, args, kwargs):
            if op.name == "mul":
                return super().__tensor_dispatch__(op, types, args, kwargs)

    x = Forgets(ja.ones(3), ja.ones(3))
    for use in (lambda: x + 1, lambda: x.add_(1), lambda: x[0], lambda: ja.compile(lambda t: t * 2 + 1)(x)):
        with pytest.raises(errors.SubclassError, match=r"returned None for `[a-z_]*`"):
            use()
    assert x.a.tolist() == [1.0] * 3


def test_a_view_that_is_a_plain_tensor():
    class Plainly(TwoTensor):
        @classmethod
        def __tensor_dispatch__(cls, op, types, args, kwargs):
            return op(args[0].a, *args[1:], **kwargs)

    assert Plainly(ja.ones(2, 3), ja.ones(2, 3))[0, 1:].t().shape == (2,)


def test_who_is_asked_first():
    x, y = Scaled(ja.ones(3)), Louder(ja.ones(3))
    assert x * y == "mul of Louder, Scaled"  # the one that derives from the other
    assert y + x == "add of Louder, Scaled"
    assert ja.cat([pair(3), y]) == "cat of TwoTensor, Louder"  # `TwoTensor` did not know
    with pytest.raises(errors.SubclassError, match="`mul` was found for `Scaled` and `TwoTensor`"):
        x * pair(3)


def test_arguments_come_as_a_call_is_written():
    seen = []

    class Noting(Scaled):
        @classmethod
        def __tensor_dispatch__(cls, op, types, args, kwargs):
            seen.append((op.name, args[1:], kwargs, op.is_inplace))
            return ja.zeros(3)

    x = Noting(ja.ones(2, 3))
    x.sum(), x.sum(1), x.sum(1, True), x.add(1, alpha=2), x.mul_(2), x[1], x[:, 1:], x.t(), x.view(3, 2)
    assert seen == [
        ("sum", (), {}, False), ("sum", ((1,) if seen[1][1] == ((1,),) else 1,), {}, False),
        ("sum", (seen[1][1][0], True), {}, False), ("add", (1,), {"alpha": 2}, False), ("mul_", (2,), {}, True),
        ("select", (0, 1), {}, False), ("slice", (1, 1, 2, 1), {}, False), ("permute", ((1, 0),), {}, False),
        ("view", ((3, 2),), {}, False),
    ]  # fmt: skip
    assert repr(Op("add", ja.add)) == "<op add>"


def test_a_result_may_be_a_plain_tensor():
    x = Scaled(ja.ones(3), 5.0).requires_grad_()
    y = x.sum()
    assert type(y) is ja.Tensor
    assert y.item() == 15
    y.backward()
    assert type(x.grad) is Scaled
    assert x.grad.factor == 5.0
    assert x.grad.values.tolist() == [5.0] * 3


def test_nested():
    x = TwoTensor(pair(3), pair(3)).requires_grad_()
    y = x.sin().cos()
    y.sum().backward()
    assert type(x.grad.a) is TwoTensor
    for inner, gradient in ((x.a.a, x.grad.a.a), (x.b.b, x.grad.b.b)):
        assert_same(gradient, -(inner.detach().sin().sin()) * inner.detach().cos())


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_requiring_grad_leaves_the_tensors_that_it_was_made_of_alone():
    a, b = ja.ones(3), ja.ones(3)
    x = TwoTensor(a, b).requires_grad_()
    assert x.requires_grad
    assert x.is_leaf
    assert not a.requires_grad
    x.detach().mul_(2)
    assert a.tolist() == [2.0] * 3
    x.requires_grad = False
    assert not x.requires_grad


def test_what_it_is_made_of_gets_gradients_too():
    a, b = ja.ones(3, requires_grad=True), ja.ones(3)
    x = TwoTensor(a, b)
    (x * 3).sum().backward()
    assert a.grad.tolist() == [3.0] * 3
    assert x.grad.b.tolist() == [0.0] * 3  # nothing was asked of it


def test_gradients_are_set_and_cleared():
    x = pair(3, requires_grad=True)
    x.grad = TwoTensor(ja.ones(3), ja.zeros(3))
    (x * 2).sum().backward()
    assert x.grad.a.tolist() == [3.0] * 3
    x.grad.mul_(2)
    assert x.grad.b.tolist() == [4.0] * 3
    x.grad = None
    assert x.grad is None
    assert x.a.grad is None
    with pytest.raises(errors.SubclassError, match="needs one of its own kind"):
        x.grad = ja.ones(3)


def test_grad_of_wrappers():
    x, w = pair(3, requires_grad=True), ja.ones(3, requires_grad=True)
    y = x * x * w.sum()
    of_x, of_w = ja.autograd.grad(y, [x, w], ja.ones_like(y.detach()), create_graph=True)
    assert_same(of_x.a, x.a * 6)
    assert_same(of_w, ((x.a * x.a).sum() + (x.b * x.b).sum()).expand(3))
    (twice,) = ja.autograd.grad(of_x.sum(), x)
    assert_same(twice.b, ja.full((3,), 6.0))
    unused = pair(2, requires_grad=True)
    with pytest.raises(errors.UnusedInputError):
        ja.autograd.grad(x.sum(), [unused])
    assert ja.autograd.grad(x.sum(), [unused], allow_unused=True) == (None,)
    (zeros,) = ja.autograd.grad(x.sum(), [unused], materialize_grads=True)
    assert zeros.a.tolist() == [0.0, 0.0]
    with pytest.raises(errors.AutogradError, match="does not require grad"):
        ja.autograd.grad(x.sum(), [pair(2)])
    x.sin().sum().backward(inputs=[x])
    assert_same(x.grad.b, x.b.cos())


def test_a_gradient_of_another_kind():
    x = pair(3, requires_grad=True)
    with pytest.raises(errors.SubclassError, match=r"a `TwoTensor` of shape \[3\] needs one of its own kind"):
        (x * 2).backward(ja.ones(3))
    with pytest.raises(errors.SubclassError, match="a plain tensor of shape"):
        (x * 2).a.backward(x.detach())
    nested = TwoTensor(pair(3), pair(3))
    with pytest.raises(errors.SubclassError, match="own kind"):
        (x * 2).backward(nested)
    assert x.grad is None
    with pytest.raises(errors.NoGradPathError):
        pair(3).backward(pair(3))


class Coercing(TwoTensor):
    """Takes a plain gradient for that of both."""

    @staticmethod
    def __coerce_tangent__(gradient, output):
        return Coercing(gradient, gradient) if type(gradient) is ja.Tensor else NotImplemented


def test_a_gradient_is_coerced():
    x = Coercing(ja.ones(3), ja.ones(3)).requires_grad_()
    x.backward(ja.full((3,), 2.0))
    assert type(x.grad) is Coercing
    assert x.grad.b.tolist() == [2.0] * 3
    with pytest.raises(errors.SubclassError, match="own kind"):
        x.backward(pair(3))


def test_modes():
    x = pair(3, requires_grad=True)
    with ja.no_grad():
        assert not (x * 2).requires_grad
    with ja.inference_mode():
        assert not (x * 2).requires_grad
    y = x.sin()
    assert not y.is_leaf
    assert "Sin" in type(y.grad_fn).__name__ or "Sin" in y.grad_fn.name()
    y.retain_grad()
    y.sum().backward()
    assert y.grad.a.tolist() == [1.0] * 3
    with ja.autocast("cpu"):
        assert (pair(3, 3) @ pair(3, 3)).a.dtype == ja.bfloat16
    before = x._version
    x.detach().mul_(2)
    assert x._version == before + 2


@pytest.mark.slow
def test_a_parameter():
    p = ja.nn.Parameter(pair(2, 2))
    assert isinstance(p, ja.nn.Parameter)
    assert type(p) is TwoTensor
    layer = ja.nn.Linear(2, 2)
    layer.weight = p
    assert dict(layer.named_parameters())["weight"] is p
    optimizer = ja.optim.SGD(layer.parameters(), lr=0.5)
    before = p.detach().clone()
    layer(ja.ones(1, 2)).sum().a.backward()
    optimizer.step()
    assert_same(p.a, before.a - 0.5)
    assert_same(p.b, before.b)
    optimizer.zero_grad()
    assert p.grad is None


# -- what it is --------------------------------------------------------------------------------------------------------


def test_copies_and_pickles():
    x = pair(2, 2, requires_grad=True)
    for made in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is TwoTensor
        assert made.requires_grad
        assert_same(made.b, x.b)
    shared = ja.ones(2)
    made = copy.deepcopy(TwoTensor(shared, shared))
    made.a.mul_(3)
    assert made.b.tolist() == [3.0, 3.0]
    assert shared.tolist() == [1.0, 1.0]


def test_text_and_values():
    x = TwoTensor(ja.ones(1), ja.zeros(1))
    assert repr(x) == "TwoTensor(a=tensor([1.]), b=tensor([0.]))" == f"{x}"
    assert repr(Scaled(ja.ones(1), 3.0)) == "Scaled(values=tensor([1.]), context=3.0)"
    for ask in (x.item, x.tolist, x.numpy, x.jax, lambda: bool(x), lambda: float(x), lambda: np.asarray(x)):
        with pytest.raises(errors.MissingMemoryError, match=r"`\.a`, `\.b`"):
            ask()
    for ask in (x.untyped_storage, x.data_ptr, lambda: x.resize_(3), lambda: x.set_(ja.ones(1))):
        with pytest.raises(errors.MissingMemoryError, match="`TwoTensor` is made of inner tensors"):
            ask()
    assert x.device == x.a.device
    assert isinstance(x, ja.Tensor)
    assert x.stride() == (1,)


def test_to_jax_it_is_a_node():
    x = pair(3)
    leaves, tree = jax.tree.flatten([x])
    assert leaves == [x.a, x.b]
    assert jax.tree.unflatten(tree, leaves)[0].a is x.a
    doubled = jax.tree.map(lambda leaf: leaf * 2, x)
    assert type(doubled) is TwoTensor
    arrays = ja.interop.to_arrays(x)
    assert_same(ja.interop.to_tensors(arrays).b, x.b)
    assert str(jax.tree_util.tree_flatten_with_path(x)[0][0][0][0]) == ".a"
    assert jax.tree.structure(Scaled(ja.ones(1), 1.0)) != jax.tree.structure(Scaled(ja.ones(1), 1))


# -- what is wrong -----------------------------------------------------------------------------------------------------


def test_a_class_without_the_protocol():
    with pytest.raises(errors.SubclassError, match=r"`.*Bare` derives from `ja\.Tensor` and has no `__tensor_unf"):

        class Bare(ja.Tensor):
            def __tensor_flatten__(self):
                return ["a"], None

    with pytest.raises(errors.SubclassError, match="write `@classmethod` above it"):

        class Plain(Scaled):
            def __tensor_dispatch__(self, op, types, args, kwargs):
                return NotImplemented

    with pytest.raises(errors.SubclassError, match="is no subclass"):
        ja.Tensor._make_wrapper_subclass(ja.Tensor, (3,), dtype=ja.float32)


def broken(**members):
    return type("Broken", (Scaled,), members)(ja.ones(3))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"__tensor_flatten__": lambda self: (["factor"], None)}, "factor = 2.0 was found in tensor attrs of Broken"),
        ({"__tensor_flatten__": lambda self: (["values"], [1])}, "not hashable"),
        ({"__tensor_flatten__": lambda self: ["values"]}, "returns the names of the inner tensors"),
        ({"__tensor_flatten__": lambda self: ([], None)}, "names no inner tensors"),
        ({"__tensor_flatten__": lambda self: (["values", "values"], None)}, "names of the inner tensors, each once"),
        ({"__tensor_unflatten__": staticmethod(lambda inner, *_: inner["values"])}, "returned a `Tensor`"),
        (
            {
                "__tensor_flatten__": lambda self: (["values"], id(self)),
                "__tensor_unflatten__": classmethod(lambda cls, inner, *_: cls(inner["values"])),
            },
            "taken apart and put together",
        ),
    ],
)
def test_a_class_that_does_not_keep_to_the_protocol(members, message):
    x = broken(**members)
    for use in (lambda: jax.tree.map(lambda leaf: leaf, x), lambda: ja.compile(lambda t: jax.tree.map(abs, t))(x)):
        with pytest.raises(errors.SubclassError, match=message):
            use()


def test_a_wrapper_inside_of_itself():
    x = pair(3)
    x.a = x
    with pytest.raises(errors.SubclassError, match="among its own inner tensors"):
        jax.tree.leaves(x)
