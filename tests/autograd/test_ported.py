"""What ported programs ask of the tape behind the scenes, and the words with which it refuses."""

from __future__ import annotations

import asyncio
import copy

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


def leaf(*shape, dtype=np.float32):
    return ja.tensor(np.ones(shape, dtype), requires_grad=True)


class Doubled(ja.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def test_a_node_knows_the_types_of_its_outputs():
    x = leaf(3, 4)
    base = x * 2
    base[0].add_(leaf(4))
    made = {
        "MulBackward0": (x * x, (3, 4)),
        "SelectBackward0": (x[1], (4,)),
        "DoubledBackward": (Doubled.apply(x), (3, 4)),
        "CompiledBackward": (ja.compile(lambda x: x.sum(1))(x), (3,)),
        "CopySlices": (base, (3, 4)),
    }
    for name, (y, shape) in made.items():
        (metadata,) = y.grad_fn._input_metadata
        assert y.grad_fn.name().startswith(name[:6]) and (metadata.shape, metadata.dtype) == (shape, np.float32), name
    both = ja.var_mean(x, dim=0)
    assert [m.shape for m in both[0].grad_fn._input_metadata] == [(4,), (4,)]


def test_a_gradient_edge_is_differentiated_as_the_tensor_is():
    x = leaf(3)
    of = lambda y: ja.autograd.graph.get_gradient_edge(y)
    edge = of((x * 2).sum())
    (found,) = ja.autograd.grad(edge, x)
    assert found.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        ja.autograd.grad(of(x * 2), x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        ja.autograd.grad(of((x * 2).sum()), x, ja.ones(4))
    for output in ((x * 2).sum(), of((x * 2).sum())):
        with pytest.raises(RuntimeError, match="required to have the same dtype"):
            ja.autograd.grad(output, x, ja.ones((), dtype=ja.complex64))


def test_batched_gradients_of_another_shape_say_what_is_batched():
    x = leaf(2, 2)
    with pytest.raises(RuntimeError, match="If `is_grads_batched=True`, we interpret the first"):
        ja.autograd.grad(x.clone(), x, ja.ones(2, 2), is_grads_batched=True)


def test_the_arguments_of_grad_are_in_the_order_of_pytorch():
    x, unused = leaf(2), leaf(2)
    found = ja.autograd.grad((x * 3).sum(), (x, unused), None, False, False, True, True, False, True)
    assert [g.tolist() for g in found] == [[3, 3], [0, 0]]
    named = ja.autograd.grad((x * 3).sum(), {"w": x})
    assert {name: g.tolist() for name, g in named.items()} == {"w": [3, 3]}
    with pytest.warns(FutureWarning, match="only_inputs"):
        ja.autograd.grad((x * 3).sum(), x, only_inputs=False)


def test_the_hooks_of_a_tensor_are_a_dict():
    for y in (leaf(2), leaf(2) * 2):
        seen = []
        y.register_hook(seen.append)
        assert list(y._backward_hooks.values()) == [seen.append]
        y._backward_hooks = {7: lambda g: seen.append("other")}
        y.sum().backward()
        assert seen == ["other"]
        with pytest.raises(RuntimeError, match="Deletion of _backward_hooks not allowed"):
            del y._backward_hooks
    assert ja.ones(2)._backward_hooks is None


def test_a_tensor_on_one_device_has_no_mesh():
    x = ja.ones(2, 2)
    assert not hasattr(x, "device_mesh") and not hasattr(x, "placements")
    with pytest.raises(errors.PlacementError, match="on no mesh"):
        _ = x.device_mesh
    assert all(hasattr(x, name) for name in dir(x) if name != "imag")


class Spoiled(ja.autograd.Function):
    """Its backward is fine; the backward of its backward is not."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return (ctx.saved_tensors[0] * 0).sqrt() * gradient


def test_anomaly_mode_warns_of_where_a_node_was_made_and_what_made_it():
    x = ja.zeros(2, requires_grad=True)
    with pytest.warns(UserWarning) as caught, pytest.raises(errors.AnomalyError), ja.autograd.detect_anomaly():
        (g,) = ja.autograd.grad(Spoiled.apply(x).sum(), x, create_graph=True)
        g.sum().backward()
    words = [str(warning.message) for warning in caught]
    assert "Error detected in MulBackward0. Traceback of forward call that caused" in words[1]
    assert "induced by SpoiledBackward" in words[2] and "Spoiled.apply(x)" in words[2]


class Tagged(ja.Tensor):
    pass


@pytest.mark.parametrize("compiled", [False, True])
def test_a_copy_shows_the_same_memory(compiled):
    def f(x):
        y = copy.copy(x)
        y.add_(1)
        return x * 2

    assert (ja.compile(f) if compiled else f)(ja.zeros(2)).tolist() == [2, 2]
    made = copy.copy(leaf(2))
    assert made.requires_grad and made.is_leaf
    tagged = ja.zeros(2).as_subclass(Tagged)
    tagged.tag = 3
    assert type(copy.copy(tagged)) is Tagged and copy.copy(tagged).tag == 3


def test_modes_hold_inside_of_asynchronous_generators():
    seen = []

    @ja.no_grad()
    async def numbers():
        for i in range(2):
            await asyncio.sleep(0)
            seen.append(ja.is_grad_enabled())
            seen.append((yield i))

    async def run():
        steps = numbers()
        assert await steps.asend(None) == 0 and ja.is_grad_enabled()
        assert await steps.asend("sent") == 1
        return [i async for i in steps]

    assert asyncio.run(run()) == [] and ja.is_grad_enabled()
    assert seen == [False, "sent", False, None]


def test_an_instance_of_a_function_is_no_node():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Doubled()
    with pytest.raises(RuntimeError, match="Attribute 'register_hook' is invalid"):
        made.register_hook(print)
    assert not hasattr(made, "other")


@pytest.mark.filterwarnings("ignore:Input #")
def test_gradcheck_of_short_numbers_and_of_what_is_not_linear():
    def shifted(x):
        y = x.clone()
        y.register_hook(lambda g: g + 1e-3)
        return y

    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        assert not ja.autograd.gradcheck(shifted, leaf(2, 2), raise_exception=False)
    with pytest.raises(errors.GradientMismatchError, match="backward not multiplied by grad_output"):
        ja.autograd.gradcheck(shifted, leaf(2, 2), atol=1)
    with pytest.raises(errors.GradientMismatchError, match="While considering the imaginary part of complex outputs"):
        ja.autograd.gradcheck(shifted, leaf(2, dtype=np.complex64))
    with pytest.raises(errors.GradientMismatchError, match="with the same shape when inputs are perturbed"):
        ja.autograd.gradcheck(lambda x: ja.cat([x, x]) if bool((x >= 1).all()) else x, leaf(2))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        ja.autograd.gradcheck(lambda x: x, leaf(1).expand(2, 2), raise_exception=False)


class Written(ja.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_mark_dirty_counts_as_a_write():
    for x in (ja.zeros(2), leaf(2).clone()):
        Written.apply(x)
        assert x._version == 2


class Views(ja.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:1], x * 2

    @staticmethod
    def backward(ctx, first, second):
        return second


class Part(ja.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:1]

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_a_view_of_a_function_is_not_written_with_what_requires_grad():
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        Part.apply(ja.zeros(2)).add_(leaf(1))
    assert type(Part.apply(leaf(2)).grad_fn) is Part._backward_cls


def test_a_write_to_one_of_several_views_names_it():
    x = leaf(4).clone()
    for view, name in ((x.unbind()[2], "Output 2 of UnbindBackward0"), (x.split(2)[1], "Output 1 of SplitBackward0")):
        with pytest.raises(RuntimeError, match=f"{name} .* of a function that returns multiple views"):
            view.add_(1)
    with pytest.raises(RuntimeError, match=r"Output 0 of ViewsBackward .* of a function that returns multiple views"):
        Views.apply(x)[0].add_(1)


@pytest.mark.parametrize("mode", [ja.no_grad, ja.inference_mode])
def test_a_view_of_a_view_that_was_not_recorded(mode):
    x = ja.zeros(2)
    with mode():
        y = x.view(2)
    with pytest.raises(RuntimeError, match=rf"a view of a view which .* inside the {mode.__name__} block"):
        y.requires_grad_().view(2).add_(1)


def test_backward_warns_of_the_cycle_that_it_makes():
    x = leaf(2)
    with pytest.warns(UserWarning, match="Using backward\\(\\) with create_graph=True will create a reference cycle"):
        (x * x).sum().backward(create_graph=True)


def test_a_checkpointed_function_takes_debug_and_says_what_it_saved_otherwise():
    runs = []

    def changing(x):
        runs.append(x)
        return x.sin().exp() if len(runs) % 2 else x.sin()

    with pytest.raises(RuntimeError, match="A different number of tensors was saved") as caught:
        ja.utils.checkpoint.checkpoint(changing, leaf(2), use_reentrant=False, debug=True).sum().backward()
    assert "You are seeing this error because you passed `debug=True`" in str(caught.value)
    assert "ExpBackward0 float32[2]  -" in str(caught.value)
    with pytest.raises(RuntimeError) as caught, ja.utils.checkpoint.set_checkpoint_debug_enabled(False):
        ja.utils.checkpoint.checkpoint(changing, leaf(2), debug=True).sum().backward()
    assert "You are seeing" not in str(caught.value)


def test_a_tensor_of_another_library_is_named():
    class Tensor:
        pass

    with pytest.raises(TypeError, match=r"must be Tensor, not tests\.autograd\.test_ported\.Tensor"):
        ja.sin(Tensor())


def test_words_of_splits_and_sizes():
    x = ja.ones(4)
    with pytest.raises(RuntimeError, match="to have dtype of long, but got Float"):
        ja.tensor_split(x, ja.tensor(1.5))
    with pytest.raises(RuntimeError, match="one-dimensional tensor, but got a tensor with 2 dims"):
        ja.tensor_split(x, ja.tensor([[1]]))
    with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
        ja.empty(0).resize_(0, 4, 2**61)
    with pytest.raises(RuntimeError, match=r"cannot be broadcast to a single shape.*tensor a \(3\)"):
        ja.broadcast_shapes((3,), (5,))
    with pytest.raises(RuntimeError, match="Input shapes should be of type ints"):
        ja.broadcast_shapes(1.5)


@pytest.mark.filterwarnings("ignore:Input #")
def test_gradcheck_gives_each_input_a_tangent():
    fwd = ja.autograd.forward_ad
    seen = []

    def product(x, y):
        if fwd.unpack_dual(x).tangent is not None or fwd.unpack_dual(y).tangent is not None:
            seen.append((fwd.unpack_dual(x).tangent, fwd.unpack_dual(y).tangent))
        return x * y

    given = leaf(2), leaf(2)
    ja.autograd.gradcheck(product, given, check_forward_ad=True, check_undefined_grad=False)
    assert seen and all(tangent is not None for pair in seen for tangent in pair)


def test_a_saved_tensor_takes_two_functions():
    saved = leaf(2).sin().grad_fn._raw_saved_self
    for hooks in ((lambda x: x,), (1, 1)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            saved.register_hooks(*hooks)
    saved.register_hooks(lambda x: x, lambda x: x)


def test_no_tensor_is_volatile():
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not ja.ones(2).volatile
