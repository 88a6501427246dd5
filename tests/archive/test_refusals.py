"""What needs the source is refused when it is exported, all of it at once; calls that do not fit, when they come."""

import dataclasses

import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import archived


class Scale:
    def __init__(self):
        self.weight, self.log, self.mode = ja.ones(3), [], "first"

    def __call__(self, x):
        return x * self.weight


@dataclasses.dataclass
class Pair:
    one: ja.Tensor


def said(fn, *args, **kwargs):
    with pytest.raises(ja.errors.ExportError) as caught:
        ja.export(fn, *args, **kwargs)
    return str(caught.value)


def test_objects_among_the_arguments():
    words = said(lambda model, x: model(x), Scale(), ja.ones(3))
    assert "an argument is a Scale" in words and "`ja.export(lambda x: f(the_scale, x), x)`" in words


def test_functions_among_the_arguments():
    assert "an argument is an object of type function" in said(lambda f, x: f(x), ja.relu, ja.ones(3))


def test_classes_of_the_user_among_the_results():
    assert "Pair" in said(lambda x: Pair(x + 1), ja.ones(3))


def test_what_is_kept_in_python_is_told_all_at_once():
    scale = Scale()

    def fn(x):
        scale.log.append(x.sum())
        scale.mode = "second" if scale.mode == "first" else "first"
        return scale(x)

    words = said(fn, ja.ones(3))
    assert "it changes `scale.log`" in words and "return the value instead" in words
    assert "it changes `scale.mode`, which decides what it computes" in words


def test_arguments_on_the_memory_of_the_state():
    cache = ja.zeros(4)
    words = said(lambda view: cache.add_(1).sum() + view.sum(), cache[1:])
    assert "shares memory with `cache`" in words


def test_tensors_with_a_history():
    scaled = ja.ones(3, requires_grad=True) * 2
    assert "`scaled` requires grad and was computed" in said(lambda x: x * scaled, ja.ones(3))


def test_hooks_are_functions():
    weight = ja.ones(3, requires_grad=True)
    weight.register_hook(lambda grad: grad * 2)

    def step(x):
        (weight * x).sum().backward()
        weight.grad = None

    assert "has hooks on its gradient" in said(step, ja.ones(3))


def test_an_autocast_around_the_export():
    with ja.autocast("cpu", dtype=ja.bfloat16):
        assert "enter that in the function" in said(lambda x: x @ x, ja.ones(3, 3))


def test_what_python_reads_is_not_exported():
    with pytest.raises(ja.errors.TraceError):
        ja.export(lambda x: x + 1 if x.sum() > 0 else x, ja.ones(3))


# -- calls that do not fit ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded():
    def fn(x, cache, kind, scale=1.0):
        cache.add_(x.sum())
        return x * scale if kind == "plain" else x

    return archived(fn, ja.ones(2, 3), ja.zeros(4), "plain", scale=2.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ((ja.ones(3, 3), ja.zeros(4), "plain"), 2.0), ["`x` is float32[3, 3] instead of float32[2, 3]"]),
        (lambda: ((ja.ones(3, 2).t(), ja.zeros(4), "plain"), 2.0), ["`x` has the strides (1, 2) instead of (3, 1)"]),
        (lambda: ((ja.ones(2, 3), ja.zeros(6)[2:], "plain"), 2.0), ["`cache` is a view of 24 bytes from element 2"]),
        (lambda: ((ja.ones(2, 3), ja.zeros(4), "other"), 2.0), ["is 'other' instead of 'plain'"]),
        (lambda: ((ja.ones(2, 3), ja.zeros(4), "plain"), 2), ["is 2 instead", "is a int instead of a float"]),
        (lambda: ((np.ones((2, 3)), ja.zeros(4), "plain"), 2.0), ["an array instead of a tensor, `ja.tensor(x)`"]),
        (lambda: ((ja.ones(2, 3, requires_grad=True), ja.zeros(4), "plain"), 2.0), ["`x` requires grad"]),
        (lambda: ((ja.ones(2, 3), [ja.zeros(4)], "plain"), 2.0), ["the arguments have the structure"]),
        (lambda: ((ja.ones(2, 2), ja.zeros(5), "no"), 2.0), ["`x` is", "`cache` is float32[5]", "is 'no' instead"]),
    ],
)
def test_a_call_that_does_not_fit_says_why(loaded, make, words):
    args, scale = make()
    before = args[1].clone() if isinstance(args[1], ja.Tensor) else None
    with pytest.raises(ja.errors.SignatureMismatchError) as caught:
        loaded(*args, scale=scale)
    assert "`fn` comes from an archive" in str(caught.value)
    assert any(word in str(caught.value) for word in words)
    assert before is None or (before == args[1]).all().item()


def test_memory_that_is_shared_where_it_was_not(loaded):
    fn = archived(lambda x, y: (x.add_(1), y.add_(1)), ja.ones(3), ja.ones(3))
    x = ja.ones(3)
    with pytest.raises(ja.errors.SignatureMismatchError, match="shares memory with"):
        fn(x, x.detach())


def test_a_loaded_function_is_called_outside_of_a_trace(loaded):
    with pytest.raises(ja.errors.ExportError, match=r"call it outside of `ja\.compile`"):
        ja.trace(lambda x: loaded(x, ja.zeros(4), "plain", scale=2.0), ja.ones(2, 3))


def test_hooks_on_saved_tensors_that_no_graph_can_carry_out():
    def fn(x):
        with ja.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), ja.tensor):
            return x.exp().exp().sum()

    x = ja.ones(2, requires_grad=True)
    with ja.config(policy="save_all"):
        with pytest.raises(ja.errors.ExportError, match=r"no graph can carry out.* on 2 saved values"):
            ja.export(fn, x)
        assert ja.export(fn, x, with_gradients=False).programs


def test_tensors_without_values():
    model = ja.nn.Linear(3, 2).to("meta")
    with pytest.raises(ja.errors.ExportError, match=r"weight.* on the device `meta` have none.*to_empty"):
        ja.export(model, ja.ones(2, 3))
    with pytest.raises(ja.errors.ExportError, match="`x` on the device `meta`"):
        ja.export(lambda x: x + 1, ja.ones(3, device="meta"))
