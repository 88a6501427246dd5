"""Saved tensors: names, identity, hooks and their rules, versions, inference tensors; PyTorch decides."""

from __future__ import annotations

import gc
import random
import weakref

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.seeds import seeds

hooks = ja.autograd.graph.saved_tensors_hooks
HALVES = (lambda x: x.to(ja.bfloat16), lambda x: x.to(ja.float32))
SAME = (lambda x: x, lambda x: x)


def leaf(*values):
    return ja.tensor(values or (0.5, 1.0, 2.0), requires_grad=True)


@pytest.fixture
def checked():
    ja.autograd.set_version_check("error")
    yield
    ja.autograd.set_version_check("off")


# -- what is saved, and under which name -------------------------------------------------------------------------------


def test_a_saved_argument_is_the_very_tensor():
    a = leaf()
    y = a * a
    assert y.grad_fn._saved_self is a and y.grad_fn._saved_other is a
    h = a.exp()
    assert (h * h).grad_fn._saved_self is h
    view = a.clone()[1:]
    assert (view * view).grad_fn._saved_self is view


def test_a_saved_result_shares_memory_and_version_but_is_another_object():
    y = leaf().exp()
    saved = y.grad_fn._saved_result
    assert saved is not y and saved.grad_fn is y.grad_fn and saved.untyped_storage() is y.untyped_storage()
    y.detach().add_(1)
    assert saved._version == 1


def test_what_is_not_needed_is_none_and_unknown_names_are_no_attributes():
    node = (leaf() * 2).grad_fn
    assert node._saved_self is None and node._saved_other.item() == 2
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = node._saved_nothing
    assert {"_saved_other", "_raw_saved_other"} <= set(dir(node))


def test_values_that_were_written_since_are_shown_as_they_were_saved():
    x = leaf().clone()
    y = x * x
    x.add_(1)
    assert y.grad_fn._saved_self is not x and y.grad_fn._saved_self.tolist() == [0.5, 1, 2]
    assert y.grad_fn._saved_self.grad_fn is not None


def test_saved_values_are_freed_by_the_backward_and_only_then():
    a = leaf()
    y = a * a
    y.sum().backward(retain_graph=True)
    assert y.grad_fn._saved_self is a
    y.sum().backward()
    with pytest.raises(errors.BackwardTwiceError, match="directly access saved tensors after they have already been"):
        _ = y.grad_fn._saved_self


def test_an_op_that_saved_nothing_runs_again():
    a = leaf()
    y = a + 1
    y.sum().backward()
    y.sum().backward()
    assert a.grad.tolist() == [2, 2, 2]


def fields(saved):
    return saved.saved_version, saved.is_leaf, saved.is_output, saved.is_inplace_on_view


def test_fields_of_a_saved_tensor():
    x = leaf()
    product, exponential = x * x, x.exp()
    assert fields(product.grad_fn._raw_saved_self) == (0, True, False, False)
    assert fields(exponential.grad_fn._raw_saved_result) == (0, False, True, False)
    h = x.clone().add_(1)
    squared = h * h
    assert fields(squared.grad_fn._raw_saved_self) == (1, False, False, False)
    h.add_(1)
    assert squared.grad_fn._raw_saved_self.saved_version is None, "written since, and versions are not noted"
    whole = x.clone()
    whole.exp_()
    assert fields(whole.grad_fn._raw_saved_result) == (1, False, True, False)
    base = x.clone()
    base[1:].exp_()
    node = base.grad_fn.next_functions[1][0]
    assert fields(node._raw_saved_result)[1:] == (False, True, True)


def test_versions_of_saved_tensors_where_they_are_noted(checked):
    h = leaf().clone().add_(1)
    y = h * h
    h.add_(1)
    assert y.grad_fn._raw_saved_self.saved_version == 1


def test_what_a_saved_tensor_holds():
    x = leaf()
    saved = x.exp().grad_fn._raw_saved_result
    assert saved.unpack_hook is None and not saved.data.requires_grad
    assert np.allclose(saved.data.numpy(), np.exp([0.5, 1, 2]))
    unpack = lambda pair: pair[1]
    with hooks(lambda t: ("packed", t), unpack):
        y = x.exp()
    saved = y.grad_fn._raw_saved_result
    assert saved.data[0] == "packed" and saved.unpack_hook is unpack and saved.saved_version is None
    y.sum().backward()
    with pytest.raises(errors.BackwardTwiceError):
        _ = saved.data


def test_results_die_without_the_garbage_collector():
    gc.disable()
    try:
        for make in (lambda x: x.exp(), lambda x: x * x, lambda x: x.clone().mul_(x), lambda x: x.clone().exp_()):
            for pair in (None, SAME, HALVES):
                x = leaf()
                if pair is None:
                    y = make(x)
                else:
                    with hooks(*pair):
                        y = make(x)
                seen, node = weakref.ref(y), weakref.ref(y.grad_fn)
                del y
                assert seen() is None and node() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_no_residual_is_kept_that_follows_from_arguments_or_results():
    x = ja.rand(4, 5, requires_grad=True)
    saved = {
        name: getattr(ja, name)(x, *more).grad_fn.kernel.saved_names
        for name, more in {
            "sin": (), "exp": (), "tanh": (), "sigmoid": (), "relu": (), "rsqrt": (), "reciprocal": (), "sqrt": (),
            "log": (), "softmax": (-1,), "log_softmax": (-1,), "sum": (), "abs": (),
        }.items()
    }  # fmt: skip
    assert saved == {
        "sin": ("self",), "exp": ("result",), "tanh": ("result",), "sigmoid": ("result",), "relu": ("result",),
        "rsqrt": ("result",), "reciprocal": ("result",), "sqrt": ("result",), "log": ("self",),
        "softmax": ("result",), "log_softmax": ("result",), "sum": (), "abs": ("self",),
    }  # fmt: skip


# -- the rules of hooks ------------------------------------------------------------------------------------------------


def test_hooks_see_what_is_saved_with_its_shape_and_dtype():
    seen = []
    x, w = ja.rand(4, 5), ja.rand(5, 2, requires_grad=True)

    def pack(t):
        assert isinstance(t, ja.Tensor) and not t.requires_grad and not ja.is_grad_enabled()
        seen.append((tuple(t.shape), t.dtype))
        return t

    with hooks(pack, lambda t: t):
        y = (x @ w).exp().to(ja.bfloat16).tanh()
    y.sum().backward()
    assert seen == [((4, 5), ja.float32), ((4, 2), ja.float32), ((4, 2), ja.bfloat16)]


def test_numbers_and_keys_are_never_packed():
    seen = []
    with hooks(lambda t: seen.append(tuple(t.shape)) or t, lambda t: t):
        y = leaf() * 2
        z = ja.nn.functional.dropout(leaf(), 0.5)
    assert seen == [(3,)], "the mask of dropout alone"
    (y + z).sum().backward()


def test_the_innermost_pair_is_called_and_the_outer_one_comes_back():
    calls = []
    pair = lambda name: (lambda t: calls.append(name) or t, lambda t: t)
    x = leaf()
    with hooks(*pair("outer")):
        a = x.exp()
        with hooks(*pair("inner")):
            b = x.exp()
        c = x.exp()
    d = x.exp()
    (a + b + c + d).sum().backward()
    assert calls == ["outer", "inner", "outer"]


def test_unpack_is_called_each_time():
    calls = []
    x = leaf()
    with hooks(lambda t: t, lambda t: calls.append(1) or t):
        y = x.exp()
    assert calls == []
    y.sum().backward(retain_graph=True)
    y.sum().backward(retain_graph=True)
    assert len(calls) == 2
    _ = y.grad_fn._saved_result
    assert len(calls) == 3


def test_a_packed_value_comes_back_with_its_place_in_the_graph():
    x = leaf().clone()
    with hooks(*HALVES):
        y, z = x.exp(), x[1:] * 3.0 * x[1:]
    saved = y.grad_fn._saved_result
    assert saved is not y and saved.grad_fn is y.grad_fn and saved.requires_grad
    other = z.grad_fn._saved_other
    assert not other._is_view() and other.grad_fn is not None and other.tolist() == [1, 2]
    w = leaf()
    with hooks(*SAME):
        u = w * w
    again = u.grad_fn._saved_self
    assert again is not w and again.is_leaf and again.requires_grad
    again.exp().sum().backward()
    assert w.grad is not None


def test_what_needs_no_gradient_comes_back_as_the_hook_made_it():
    made = []

    def unpack(t):
        made.append(t * 1)
        return made[-1]

    with hooks(lambda t: t, unpack):
        y = ja.ones(3) * leaf()
    assert y.grad_fn._saved_self is made[-1]


def test_hooks_change_the_gradient_as_they_change_the_values():
    x = leaf()
    with hooks(lambda t: t * 2, lambda t: t):
        y = x.exp() * 3
    y.sum().backward()
    assert np.allclose(x.grad.numpy(), 6 * np.exp([0.5, 1, 2]))


def test_a_hook_may_keep_its_values_anywhere():
    store = {}

    def pack(t):
        store[len(store)] = t.numpy().astype(np.float16)
        return len(store) - 1

    x = leaf()
    with hooks(pack, lambda key: ja.tensor(store[key].astype(np.float32))):
        y = (x * x).tanh()
    y.sum().backward()
    values = x.detach().numpy()
    assert len(store) == 3 and np.allclose(x.grad.numpy(), 2 * values * (1 - np.tanh(values**2) ** 2), atol=1e-2)


def test_later_writes_do_not_reach_what_a_hook_keeps():
    x = leaf().clone()
    with hooks(*SAME):
        y = x * x
    x.add_(100)
    (gradient,) = ja.autograd.grad(y.sum(), [x], allow_unused=True, retain_graph=True)
    assert gradient is None, "x is another value now"
    assert y.grad_fn._saved_self.tolist() == [0.5, 1, 2]


@pytest.mark.parametrize("result", [1, None, np.ones(3)])
def test_unpack_has_to_return_a_tensor(result):
    with hooks(lambda t: t, lambda t: result):
        y = leaf().exp()
    message = f"unpack_hook expected to be a Tensor but got result of type {type(result).__name__}"
    with pytest.raises(TypeError, match=message):
        y.sum().backward()


def test_unpack_has_to_return_the_shape_that_was_packed():
    with hooks(lambda t: t, lambda t: t[:2]):
        y = leaf().exp()
    with pytest.raises(errors.ShapeMismatchError, match=r"\[3\], but got \[2\]"):
        y.sum().backward()


def test_unpack_may_return_another_dtype():
    x = leaf()
    with hooks(lambda t: t.to(ja.bfloat16), lambda t: t):
        y = (x * x) @ x
    y.backward()
    assert x.grad.dtype == ja.float32 and np.allclose(x.grad.numpy(), [0.75, 3, 12])


def test_a_pack_hook_must_not_write_and_nothing_is_changed_if_it_does():
    x = leaf().clone()
    with (
        pytest.raises(errors.PackHookWroteError, match="A saved tensor pack hook is modifying its input in place"),
        hooks(lambda t: t.add_(1), lambda t: t),
    ):
        _ = x * x
    assert x.tolist() == [0.5, 1, 2] and x._version == 0
    y = x * x
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t)
    assert y.grad_fn._saved_self is x
    y.sum().backward()


def test_register_hooks_packs_at_once_and_frees_what_was_saved():
    y = leaf().exp().clone().exp()
    node, array = y.grad_fn, weakref.ref(y.grad_fn.leaves[0])
    calls = []
    node._raw_saved_result.register_hooks(lambda t: calls.append("pack") or t.numpy().copy(), lambda a: ja.tensor(a))
    assert calls == ["pack"]
    del y
    assert array() is None
    assert node._saved_result.grad_fn is node


def test_register_hooks_has_three_errors():
    y = leaf() * 2
    with pytest.raises(errors.SavedHooksError, match="with value None is forbidden"):
        y.grad_fn._raw_saved_self.register_hooks(*SAME)
    a = leaf()
    z = a * a
    saved = z.grad_fn._raw_saved_self
    saved.register_hooks(*SAME)
    with pytest.raises(errors.SavedHooksError, match="whose hooks have already been set"):
        z.grad_fn._raw_saved_self.register_hooks(*SAME)
    z.sum().backward()
    with pytest.raises(errors.SavedHooksError, match="after it has been freed"):
        saved.register_hooks(*SAME)
    with hooks(*SAME):
        w = a * a
    with pytest.raises(errors.SavedHooksError, match="have already been set"):
        w.grad_fn._raw_saved_other.register_hooks(*SAME)
    with pytest.raises(TypeError, match="unpack_hook must be a function"):
        (a * a).grad_fn._raw_saved_self.register_hooks(lambda t: t, 3)


def test_hooks_can_be_forbidden():
    with ja.autograd.graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), hooks(*SAME):
            pass
        _ = leaf().exp()
    forbid = ja.autograd.graph.disable_saved_tensors_hooks
    with pytest.raises(errors.SavedHooksDisabledError, match="nor here"), hooks(*SAME), forbid("nor here"):
        pass
    with hooks(*SAME):
        pass


def test_hooks_end_with_their_block_even_after_an_error():
    def pack(t):
        raise ValueError("no")

    x = leaf()
    with pytest.raises(ValueError, match="no"), hooks(pack, lambda t: t):
        _ = x.exp()
    x.exp().sum().backward()
    assert x.grad is not None


def test_of_a_checkpointed_function_only_the_arguments_are_packed():
    calls = []
    x = leaf()
    with hooks(lambda t: calls.append(t.tolist()) or t, lambda t: t):
        y = ja.utils.checkpoint.checkpoint(lambda v: v.exp().tanh(), x)
    y.sum().backward()
    inner = np.exp([0.5, 1, 2])
    assert calls == [x.tolist()] and np.allclose(x.grad.numpy(), inner * (1 - np.tanh(inner) ** 2), atol=1e-5)


INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `ja.no_grad()` instead of `ja.inference_mode()`."
)
PACK_WROTE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to "
    "perform in-place operations on the input to a pack hook."
)
HOOKS_SET = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)
HOOKS_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
    "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved variables after calling backward."
)
HOOKS_NONE = "Calling register_hooks on a saved tensor with value None is forbidden"


def test_messages_are_those_of_pytorch_word_by_word():
    def message(fn):
        with pytest.raises(RuntimeError) as caught:
            fn()
        return str(caught.value)

    with ja.inference_mode():
        c = ja.ones(3)
    assert message(lambda: leaf() * c) == INFERENCE and (leaf() * c.clone()).requires_grad
    x, product = leaf(), leaf() * leaf()
    saved = product.grad_fn._raw_saved_self
    assert message(lambda: saved.register_hooks(lambda t: t.add_(1), lambda t: t)).startswith(PACK_WROTE)
    saved.register_hooks(*SAME)
    assert message(lambda: saved.register_hooks(*SAME)) == HOOKS_SET
    product.sum().backward()
    assert message(lambda: saved.register_hooks(*SAME)) == HOOKS_FREED
    assert message(lambda: (x * 2).grad_fn._raw_saved_self.register_hooks(*SAME)) == HOOKS_NONE


@pytest.mark.oracle
def test_these_messages_are_in_pytorch():
    torch = pytest.importorskip("torch")

    def message(fn):
        with pytest.raises(RuntimeError) as caught:
            fn()
        return str(caught.value)

    make = lambda: torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    with torch.inference_mode():
        c = torch.ones(3)
    assert message(lambda: make() * c) == INFERENCE.replace("ja.", "torch.")
    x, product = make(), make() * make()
    written = product.grad_fn._raw_saved_other  # which PyTorch counts as packed from then on
    assert message(lambda: written.register_hooks(lambda t: t.add_(1), lambda t: t)) == PACK_WROTE
    product = make() * make()
    saved = product.grad_fn._raw_saved_self
    saved.register_hooks(*SAME)
    assert message(lambda: saved.register_hooks(*SAME)) == HOOKS_SET
    product.sum().backward()
    assert message(lambda: saved.register_hooks(*SAME)) == HOOKS_FREED
    assert message(lambda: (x * 2).grad_fn._raw_saved_self.register_hooks(*SAME)) == HOOKS_NONE


# -- inference tensors -------------------------------------------------------------------------------------------------


def test_inference_tensors_cannot_be_saved():
    with ja.inference_mode():
        c = ja.ones(3)
        d, view = c + 1, c[1:]
        with ja.inference_mode(False):
            normal = ja.ones(3)
    assert [ja.is_inference(t) for t in (c, d, view, normal)] == [True, True, True, False]
    for t in (c, d, c.detach()):
        with pytest.raises(errors.InferenceTensorError, match="Inference tensors cannot be saved for backward"):
            _ = leaf() * t
    assert (leaf() + c).requires_grad, "a sum saves nothing"
    assert (leaf() * c.clone()).requires_grad and (leaf() * normal).requires_grad


def test_inference_tensors_have_no_versions_and_are_not_written_outside():
    with ja.inference_mode():
        c = ja.ones(3)
        c.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = c._version
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        c.add_(1)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        c.requires_grad_()


# -- versions ----------------------------------------------------------------------------------------------------------


def test_by_default_a_write_does_not_matter():
    x = leaf()
    h = x.clone()
    y = h * h
    h.mul_(0)
    y.sum().backward()
    assert x.grad.tolist() == [1, 2, 4]


def test_by_default_detaching_in_place_does_not_matter():
    x = leaf()
    h = x.clone()
    y = h.sin()
    h.detach_()
    y.sum().backward()
    assert np.allclose(x.grad.numpy(), np.cos([0.5, 1, 2]))


def test_a_checked_write_says_what_and_which_versions(checked):
    h = leaf().clone().exp()
    y = h * h
    h.add_(1)
    match = r"operation: \[jaxaot.FloatTensor \[3\]\], which is output 0 of \w+, is at version 1; expected version 0 in"
    with pytest.raises(errors.SavedTensorWrittenError, match=match):
        y.sum().backward()
    with pytest.raises(errors.SavedTensorWrittenError):
        _ = y.grad_fn._saved_self


def test_a_checked_detach_in_place(checked):
    a = leaf().clone()
    y = a.sin()
    a.detach_()
    with pytest.raises(
        errors.SavedTensorDetachedError, match=r"i.e. with .detach_\(\).This is not supported, please use"
    ):
        y.sum().backward()
    b = leaf().clone()
    z = b.exp()
    b.detach_()
    z.sum().backward()


def test_nothing_is_checked_where_hooks_keep_the_values(checked):
    x = leaf()
    h = x.clone()
    with hooks(*SAME):
        y = h * h
    h.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1, 2, 4]


# -- against PyTorch ---------------------------------------------------------------------------------------------------

UNARY = """
sin cos tan exp log sqrt rsqrt tanh sigmoid relu abs reciprocal sinh cosh atan log1p expm1 neg square erf sum mean
cumsum softplus silu gelu
"""
BINARY = "add sub mul div maximum matmul pow"
PROGRAM = "sin cos exp tanh sigmoid relu sqrt mul add div scale view inplace matmul"


def apply(module, name, *args):
    owner = module if hasattr(module, name) else module.nn.functional
    return getattr(owner, name)(*args)


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*UNARY.split(), *BINARY.split()])
def test_a_write_is_refused_exactly_where_pytorch_refuses_it(name, checked):
    """Neither a false alarm nor a miss: after a write to an argument, to the result, or through a view of either."""
    import torch

    values = np.array([[0.5, 0.7], [0.9, 0.4]], np.float32)

    def outcome(module, which, through):
        a = module.tensor(values, requires_grad=True)
        b = module.tensor(values, requires_grad=True)
        args = [t * 1 for t in ((a,) if name in UNARY.split() else (a, b))]
        y = apply(module, name, *args) if name != "cumsum" else args[0].cumsum(0)
        target = y if which == "result" else args[which]
        if through == "view" and target.ndim:
            target[0].add_(1)
        else:
            with module.no_grad():
                target.mul_(2) if through == "no_grad" else target.detach().mul_(2)
        try:
            y.sum().backward()
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
            return "refused"
        return [g.tolist() for g in (a.grad, b.grad) if g is not None]

    places = [0, "result"] if name in UNARY.split() else [0, 1, "result"]
    for which in places:
        for through in ("view", "no_grad", "detach"):
            ours, theirs = outcome(ja, which, through), outcome(torch, which, through)
            assert (ours == "refused") == (theirs == "refused"), (which, through, ours, theirs)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["mul_", "exp_", "tanh_", "sigmoid_", "relu_", "sin_", "add_"])
def test_an_op_in_place_saves_what_pytorch_saves(name, checked):
    import torch

    def outcome(module, later):
        x = module.tensor([0.5, 0.7], requires_grad=True)
        h, w = x * 1, module.tensor([2.0, 3.0], requires_grad=True)
        if name == "mul_":
            h.mul_(w)
        else:
            getattr(h, name)(*((w,) if name == "add_" else ()))
        if later is not None:
            (h if later == "target" else w.detach()).mul_(2)
        try:
            h.sum().backward()
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
            return "refused"
        return [None if g is None else np.round(np.asarray(g), 5).tolist() for g in (x.grad, w.grad)]

    for later in (None, "target", "other"):
        assert outcome(ja, later) == outcome(torch, later), later


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(40, 12))
def test_random_programs_with_hooks_are_those_of_pytorch(seed):
    """The values that hooks get, and gradients under lossy hooks, nested ones and those of `register_hooks`."""
    import torch

    def run(module, graph):
        rng = random.Random(seed)
        log = []

        def pair(name, factor):
            def pack(t):
                log.append((name, tuple(t.shape), np.round(t.detach().numpy(), 4).tolist()))
                return t * factor, name

            def unpack(packed):
                assert packed[1] == name
                return packed[0]

            return pack, unpack

        numbers = np.random.RandomState(seed).rand(3, 3).astype(np.float32) + np.float32(0.3)
        leaves = [module.tensor(row, requires_grad=True) for row in numbers]
        pool = list(leaves)
        for i in range(12):
            name = rng.choice(PROGRAM.split())
            x, y = rng.choice(pool), rng.choice(pool)
            outer, inner = rng.random() < 0.5, rng.random() < 0.3

            def op(name=name, x=x, y=y):
                match name:
                    case "mul" | "div" | "add":
                        return getattr(module, name)(x, y)
                    case "scale":
                        return x * 0.5
                    case "view":
                        return module.flip(x, (0,))[1:].sum() + y
                    case "inplace":
                        return (x * 1).tanh_()
                    case "matmul":
                        return (x.reshape(3, 1) @ y.reshape(1, 3)).sum(0)
                return getattr(module, name)(x)

            if outer and inner:
                with graph.saved_tensors_hooks(*pair("outer", 1.0)), graph.saved_tensors_hooks(*pair(f"in{i}", 0.5)):
                    made = op()
            elif outer:
                with graph.saved_tensors_hooks(*pair(f"out{i}", 2.0)):
                    made = op()
            else:
                made = op()
                if name in ("exp", "tanh", "sigmoid") and rng.random() < 0.5:
                    made.grad_fn._raw_saved_result.register_hooks(*pair(f"set{i}", 1.5))
            pool.append(made)
        loss = sum((t.sum() for t in pool[3:]), start=module.zeros(()))
        times = rng.choice([1, 2])
        for k in range(times):
            loss.backward(retain_graph=k + 1 < times)
        return sorted(log), [None if t.grad is None else t.grad.numpy() for t in leaves]

    ours, theirs = run(ja, ja.autograd.graph), run(torch, torch.autograd.graph)
    assert [entry[:2] for entry in ours[0]] == [entry[:2] for entry in theirs[0]]
    for mine, other in zip(ours[0], theirs[0], strict=True):
        assert np.allclose(mine[2], other[2], rtol=1e-3, atol=1e-3, equal_nan=True), (mine, other)
    for mine, other in zip(ours[1], theirs[1], strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            assert np.allclose(mine, other, rtol=1e-3, atol=1e-3, equal_nan=True)


def identity_hooks():
    return ja.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)


def test_what_a_hook_unpacked_has_a_version_of_its_own():
    x = ja.ones(3, requires_grad=True)
    with ja.autograd.set_version_check("error"):
        y = x * 2
        with identity_hooks():
            z = y.sin()
        w = y.cos()
        saved = z.grad_fn._saved_self
        with ja.no_grad():
            saved.add_(1)
        assert (y._version, saved._version) == (0, 1)
        (z + w).sum().backward()  # nobody wrote `y`
    # the hook's tensor was written, which is on memory of its own
    np.testing.assert_allclose(x.grad.numpy(), [2 * np.cos(3) - 2 * np.sin(2)] * 3, rtol=1e-5)


def test_what_a_hook_unpacked_has_the_tangent_of_what_was_packed():
    forward_ad = ja.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(ja.ones(3, requires_grad=True), ja.full((3,), 2.0))
        with identity_hooks():
            y = x.exp()
            z = x.sin()
        assert forward_ad.unpack_dual(z.grad_fn._saved_self).tangent.tolist() == [2, 2, 2]
        tangent = forward_ad.unpack_dual(y.grad_fn._saved_result).tangent
        np.testing.assert_allclose(tangent.detach().numpy(), [2 * np.e] * 3, rtol=1e-6)


@pytest.mark.parametrize("watches", [False, True])
@pytest.mark.filterwarnings("ignore:Anomaly")
@pytest.mark.filterwarnings("ignore:Error detected")
def test_the_hint_depends_on_the_anomaly_mode(watches):
    x = ja.ones(3, requires_grad=True)
    hint = "the backtrace further above" if watches else "enable anomaly detection"
    with ja.autograd.set_version_check("error"), ja.autograd.set_detect_anomaly(watches):
        y = x.exp()
        y.add_(1)
        with pytest.raises(ja.errors.SavedTensorWrittenError, match=hint):
            y.sum().backward()


def test_a_kernel_that_is_traced_again_saves_no_number():
    x = ja.ones(3, requires_grad=True)
    x * 1  # settles the kernel
    for setting in (jax.debug_nans(True), jax.default_matmul_precision("float32")):
        with setting:
            x * 1
        with ja.autograd.graph.allow_mutation_on_saved_tensors():
            (gradient,) = ja.autograd.grad((x * 1).sin().sum(), x)
        np.testing.assert_allclose(gradient.numpy(), [np.cos(1)] * 3, rtol=1e-6)


def test_a_block_of_version_checks_ends_with_an_error():
    def written():
        x = ja.ones(3, requires_grad=True)
        y = x.exp()
        y.add_(1)
        y.sum().backward()
        return x.grad.tolist()

    with pytest.raises(ja.errors.SavedTensorWrittenError), ja.autograd.set_version_check("error"):
        written()
    np.testing.assert_allclose(written(), [np.e] * 3, rtol=1e-6)
    with pytest.raises(TypeError):
        ja.autograd.set_version_check("always")
    np.testing.assert_allclose(written(), [np.e] * 3, rtol=1e-6)
