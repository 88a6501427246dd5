"""`cond`, `while_loop`, `scan` and `map` over functions that write: compiled is what the same Python does eagerly."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.seeds import some

F = ja.nn.functional


def leaf(*values):
    return ja.tensor(list(values), requires_grad=True)


def run(fn, make, then):
    """Returns the values and the other facts that one sees after a call of `fn` on inputs made anew.

    Args:
      fn: The program.
      make: Makes the inputs.
      then: What is done after the call with its results and inputs, eagerly.
    """
    ja.manual_seed(7)
    inputs = make()
    results = fn(*inputs)
    then(results, inputs)
    seen = [x for x in jax.tree.leaves((results, inputs)) if not isinstance(x, ja.Generator)]
    values, facts = [], []
    for x in seen:
        if not isinstance(x, ja.Tensor):
            values.append(np.asarray(x))
            continue
        values.append(np.asarray(x.detach().numpy()))
        facts.append((x.requires_grad, x._version, x.is_leaf))
        if isinstance(x, ja.Tensor) and x.is_leaf and x.requires_grad:
            values.append(np.zeros(x.shape, np.float32) if x.grad is None else np.asarray(x.grad.numpy()))
    kinds = [(str(v.dtype), v.shape) for v in values] + [x.stride() for x in seen if isinstance(x, ja.Tensor)]
    return values, facts, [kinds, ja.default_generator.offset, jax.tree.structure(results)]


def backward_of_all(results, inputs):
    """A backward from everything that requires grad, results and inputs that were written."""
    reached = {}
    for i, x in enumerate(jax.tree.leaves((results, inputs))):
        if isinstance(x, ja.Tensor) and x.requires_grad and not x.is_leaf:
            slope = np.arange(1.0, x.numel() + 1).reshape(x.shape) * (1 + i / 2)
            reached[i] = x, ja.tensor(slope, dtype=x.dtype)
    if reached:
        ja.autograd.backward(*map(list, zip(*reached.values(), strict=True)))


def same(fn, make, then=backward_of_all, flags=True):
    """Checks that two compiled calls let one see what an eager call does, and returns the trace.

    Args:
      fn: The program.
      make: Makes its inputs.
      then: As for `run`.
      flags: Whether versions and what requires grad are compared: not where they depend on values.
    """
    values, facts, kinds = run(fn, make, then)
    compiled = ja.compile(fn)
    for _ in range(2):
        our_values, our_facts, our_kinds = run(compiled, make, then)
        assert our_kinds == kinds
        assert not flags or our_facts == facts
        for ours, theirs in zip(our_values, values, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-5)
    assert compiled.cache_info().misses == 1
    return ja.trace(fn, *make())


def equations(traced, name):
    """Returns the equations of one primitive, those within others too."""
    found = []

    def visit(jaxpr):
        for eqn in jaxpr.eqns:
            if eqn.primitive.name == name:
                found.append(eqn)
            for value in eqn.params.values():
                for inner in value if isinstance(value, (tuple, list)) else (value,):
                    inner = getattr(inner, "jaxpr", inner)
                    if hasattr(inner, "eqns"):
                        visit(inner)

    visit(traced.jaxpr.jaxpr)
    return found


# -- cond --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", [True, False])
def test_cond_chooses(positive):
    def fn(x, w):
        return ja.cond(x.sum() > 0, lambda x: (x * w).exp(), lambda x: x - w, (x,))

    sign = 1.0 if positive else -1.0
    traced = same(fn, lambda: (ja.full((3,), sign), leaf(1.0, 2.0, 3.0)))
    assert len(equations(traced, "cond")) == 1


@pytest.mark.parametrize("positive", [True, False])
def test_a_captured_buffer_is_written_in_both_branches(positive):
    def fn(x, buffer):
        def up():
            buffer.add_(x)
            return x * 2

        def down():
            buffer[1:].mul_(2)
            return x

        y = ja.cond(x[0] > 0, up, down)
        return y + buffer

    same(fn, lambda: (ja.full((3,), 1.0 if positive else -1.0), ja.ones(3)))


@pytest.mark.parametrize("positive", [True, False])
def test_a_branch_that_does_nothing(positive):
    def fn(x, w, buffer):
        ja.cond(x[0] > 0, lambda: buffer.mul_(w).sum(), lambda: ja.zeros(()))
        return buffer * 2

    # which branch ran is only known when the graph runs: what was written and requires grad is what either wrote
    same(fn, lambda: (ja.full((3,), 1.0 if positive else -1.0), leaf(1.0, 2.0, 3.0), ja.ones(3)), flags=positive)


@pytest.mark.parametrize("positive", some([True, False], 1))
def test_operands_are_themselves(positive):
    def fn(x, w):
        h = x * w
        y = ja.cond(w[0] > 0, lambda h: h.add_(w), lambda h: h.mul_(3), (h,))
        h.mul_(2)  # the result shares nothing with it
        return y, h

    same(fn, lambda: (ja.ones(2), leaf(1.0, 2.0) if positive else leaf(-1.0, 2.0)))


def test_results_that_are_operands_are_copies():
    def fn(x, w):
        a, b = ja.cond(x.sum() > 0, lambda x: (x, w), lambda x: (w * 1, x), (x,))
        a.add_(1)
        return a, b

    same(fn, lambda: (ja.ones(2), leaf(1.0, 2.0)), flags=False)
    x, w = ja.ones(2), leaf(1.0, 2.0)
    for call in (fn, ja.compile(fn)):
        a, b = call(x, w)
        assert x.tolist() == [1, 1] and a.untyped_storage() is not x.untyped_storage()
        assert b is not w and b.requires_grad and not b.is_leaf


def test_a_python_bool_is_decided_while_tracing():
    fn = lambda x: ja.cond(True, lambda: x.add_(1).sum(), lambda: "never run")
    traced = same(fn, lambda: (ja.zeros(3),))
    assert not equations(traced, "cond")


@pytest.mark.slow
def test_nested_cond():
    def fn(x, buffer):
        def inner():
            return ja.cond(x[1] > 0, lambda: buffer.add_(x).sum(), lambda: buffer.sub_(x).sum())

        return ja.cond(x[0] > 0, inner, lambda: x.sum())

    for signs in ([1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]):
        same(fn, lambda: (ja.tensor(signs), ja.zeros(2)), flags=signs[0] > 0)


@pytest.mark.slow
def test_two_histories_of_one_storage():
    """A detached twin is written in one branch, the tensor itself in the other."""

    def fn(x, w):
        h = w * 1
        twin = h.detach()

        def through_the_twin():
            twin.mul_(2)
            return h.sum()

        def recorded():
            h.mul_(w)
            return (h * twin).sum()

        y = ja.cond(x[0] > 0, through_the_twin, recorded)
        return y, h * 3, twin

    for sign in (1.0, -1.0):
        same(fn, lambda: (ja.tensor([sign]), leaf(2.0, 3.0)), flags=False)


def test_no_grad_inside_a_branch():
    def fn(x, w):
        def quiet():
            with ja.no_grad():
                return x * w

        return ja.cond(x.sum() > 0, quiet, lambda: (x - w).detach())

    traced = same(fn, lambda: (ja.ones(2), leaf(1.0, 2.0)))
    assert not traced.needs_backward


def test_a_write_under_no_grad_in_a_branch():
    def fn(x, w):
        def step():
            with ja.no_grad():
                w.sub_(x)
            return (w * x).sum()

        return ja.cond(x.sum() > 0, step, lambda: (w * 2 * x).sum())

    for sign in (1.0, -1.0):
        same(fn, lambda: (ja.full((2,), sign), leaf(1.0, 2.0)), flags=sign > 0)


def test_under_no_grad_nothing_requires_grad():
    def fn(x, w):
        with ja.no_grad():
            return ja.cond(x.sum() > 0, lambda: w, lambda: w * 2)

    same(fn, lambda: (ja.ones(2), leaf(1.0, 2.0)))


# -- scan --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_scan_carries_tensors():
    def fn(xs, w):
        def iteration(h, x):
            h = (h * w + x).sin()
            return h, h * 2

        return ja.scan(iteration, ja.zeros(3), xs)

    make = lambda n: lambda: (ja.arange(3.0 * n).reshape(n, 3), leaf(0.1, 0.2, 0.3))
    traced = same(fn, make(4))
    (eqn,) = equations(traced, "scan")
    assert eqn.params["length"] == 4
    sizes = [len(ja.trace(fn, *make(n)()).jaxpr.eqns) for n in (2, 50)]
    assert sizes[0] == sizes[1]


@pytest.mark.slow
def test_a_cache_is_filled_in_a_scan():
    """The keys and values of a decoder: written at the place that the carry counts."""

    def fn(keys, values, xs, w):
        def iteration(place, x):
            keys[:, place.reshape(1)] = (x @ w).unsqueeze(1)
            values.index_copy_(1, place.reshape(1), x.unsqueeze(1))
            weights = (keys * x.unsqueeze(1)).sum(-1).softmax(-1)
            return place + 1, (weights.unsqueeze(-1) * values).sum(1)

        return ja.scan(iteration, ja.tensor(0), xs)

    def make():
        xs = (ja.arange(24.0) / 10).sin().reshape(3, 2, 4)
        return ja.zeros(2, 5, 4), ja.zeros(2, 5, 4), xs, (ja.eye(4) * 0.5).requires_grad_()

    traced = same(fn, make)
    assert len(equations(traced, "scan")) == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_in_both_directions(reverse):
    def fn(xs, log):
        def iteration(carry, x):
            log.mul_(2).add_(x["a"])
            return {"sum": carry["sum"] + x["a"], "n": carry["n"] + 1}, (x["a"] * x["b"], None)

        return ja.scan(iteration, {"sum": ja.zeros(2), "n": 0}, xs, reverse=reverse)

    same(fn, lambda: ({"a": ja.arange(6.0).reshape(3, 2), "b": jnp.arange(3.0)}, ja.zeros(2)))


def test_integer_and_bool_carries_and_plain_arrays():
    def fn(xs):
        def iteration(carry, x):
            n, seen, key = carry
            return (n + x, seen | (x > 2), key * 2), None

        return ja.scan(iteration, (ja.tensor(0), ja.tensor(False), jnp.ones(2)), xs)

    traced = same(fn, lambda: (ja.tensor([1, 3, 2]),))
    carry, nothing = ja.compile(fn)(ja.tensor([1, 3, 2]))
    assert nothing is None and isinstance(carry[2], jax.Array) and carry[1].item() is True
    assert traced.jaxpr is not None


def test_what_is_carried_is_fresh_in_each_iteration():
    def fn(x, w):
        def iteration(h, _):
            h.mul_(w)  # neither the user's tensor nor the one that was returned
            return h, h

        total, ys = ja.scan(iteration, x, None, length=3)
        return total, ys, x

    same(fn, lambda: (ja.ones(2), leaf(2.0, 3.0)))
    same(fn, lambda: (leaf(1.0, 1.0), leaf(2.0, 3.0)))


def test_writes_to_the_slices_stay_there():
    def fn(xs):
        return ja.scan(lambda c, x: (c + x.mul_(2), x), ja.zeros(2), xs), xs

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2),))


def test_the_xs_are_those_before_the_loop():
    def fn(xs):
        def iteration(c, x):
            xs.zero_()
            return c + x, x

        return ja.scan(iteration, ja.zeros(2), xs)

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2),))


def test_no_iteration_at_all():
    def fn(xs, buffer, w):
        def iteration(c, x):
            buffer.add_(w)
            return c * w, (x * w).sum()

        return ja.scan(iteration, buffer * 1, xs)

    same(fn, lambda: (ja.zeros(0, 2), ja.ones(2), leaf(1.0, 2.0)))


def test_a_captured_tensor_begins_to_require_grad_in_the_loop():
    def fn(xs, w, buffer):
        def iteration(c, x):
            before = buffer * 2  # requires grad from the second turn on
            buffer.mul_(x).add_(w)
            return c, before

        return ja.scan(iteration, None, xs)[1], buffer

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2), leaf(1.0, 2.0), ja.ones(2)))


@pytest.mark.slow
def test_a_carry_begins_to_require_grad_in_the_loop():
    def fn(xs, w):
        return ja.scan(lambda c, x: (c * w + x, c), ja.ones(2), xs)

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2), leaf(1.0, 2.0)))


@pytest.mark.slow
def test_views_of_captured_tensors():
    def fn(xs, base, w):
        row, column = base[1], base.t()[0]

        def iteration(c, x):
            row.add_(x * w)
            column.mul_(2)
            base[:, 1:][0].sub_(c)
            return c + column.sum(), row

        return ja.scan(iteration, ja.zeros(()), xs), base, row

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2), ja.ones(2, 2), leaf(1.0, 2.0)))


@pytest.mark.slow
def test_a_write_through_a_view_of_what_has_a_history():
    def fn(xs, w):
        h = w * 2
        part = h[1:]

        def iteration(c, x):
            part.mul_(x)
            return c + h, h[0] * c

        return ja.scan(iteration, ja.zeros(3), xs), part, h

    same(fn, lambda: (ja.tensor([1.0, 2.0, 3.0]), leaf(1.0, 2.0, 3.0)))


@pytest.mark.slow
def test_cond_in_scan_and_scan_in_cond():
    def fn(xs, w, buffer):
        def iteration(c, x):
            def big():
                buffer.add_(x * w)
                return c + x

            return ja.cond(x.sum() > 2, big, lambda: c * 2), buffer.sum()

        first = ja.scan(iteration, ja.zeros(2), xs)
        second = ja.cond(w[0] > 0, lambda: ja.scan(iteration, ja.ones(2), xs), lambda: (ja.zeros(2), ja.zeros(3)))
        return first, second

    traced = same(fn, lambda: (ja.arange(6.0).reshape(3, 2), leaf(1.0, 2.0), ja.ones(2)), flags=False)
    assert len(equations(traced, "scan")) == 2


@pytest.mark.slow
def test_scan_in_scan():
    def fn(xs, w, buffer):
        def outer(c, row):
            def inner(d, x):
                buffer[0].add_(x * w[0])
                return d * x + c, buffer.sum()

            d, ys = ja.scan(inner, c, row)
            return d * w[1], ys

        return ja.scan(outer, ja.ones(()), xs)

    same(fn, lambda: ((ja.arange(6.0) / 3).reshape(3, 2), leaf(1.0, 2.0), ja.ones(2)))


@pytest.mark.slow
def test_an_optimizer_step_in_a_scan():
    """Writes under no_grad to a leaf: each iteration sees the new value, and gradients flow to the leaf."""

    def fn(xs, w):
        def iteration(c, x):
            loss = ((w * x) ** 2).sum()
            with ja.no_grad():
                w.sub_(0.1 * x)
            return c + loss, None

        return ja.scan(iteration, ja.zeros(()), xs)[0]

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2) / 5, leaf(1.0, 2.0)))


def test_a_whole_training_loop_in_a_scan():
    """A backward in each iteration adds to gradients that are there before."""

    def fn(xs, w):
        w.grad = ja.zeros(2)

        def iteration(c, x):
            w.grad.zero_()
            loss = ((w * x - 1) ** 2).sum()
            loss.backward()
            with ja.no_grad():
                w.sub_(0.1 * w.grad)
            return c, loss.detach()

        return ja.scan(iteration, None, xs)[1]

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2) / 5, leaf(1.0, 2.0)))


def test_a_backward_in_each_iteration_through_nested_control_flow():
    def fn(xs, w):
        w.grad = ja.zeros(2)

        def iteration(c, x):
            w.grad.zero_()
            h = ja.cond(x.sum() > 1, lambda: w * x, lambda: (w - x).sin())
            h, _ = ja.scan(lambda a, _: (a * w, None), h, None, length=2)
            (h**2).sum().backward()
            with ja.no_grad():
                w.sub_(0.1 * w.grad)
            return c, h.detach()

        return ja.scan(iteration, None, xs)[1]

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2) / 5, leaf(1.0, 2.0)))


@pytest.mark.slow
def test_backward_within_the_trace():
    """The tape of a trace runs through the equations of control flow."""

    def fn(xs, w, buffer):
        def iteration(h, x):
            buffer[1:].add_(x[:1] * w[1:])
            h = ja.cond(x.sum() > 2, lambda h: h * w, lambda h: h + w, (h,))
            return h, (h * x).sum()

        h, ys = ja.scan(iteration, w * 2, xs)
        (h.sum() + ys.sum() + (buffer * buffer).sum()).backward()
        with ja.no_grad():
            w.sub_(0.01 * w.grad)
        return ys.detach()

    make = lambda: (ja.arange(6.0).reshape(3, 2) / 2, leaf(1.0, 2.0), ja.ones(2))
    same(fn, make, then=lambda *_: None, flags=False)


@pytest.mark.slow
def test_what_was_made_before_is_used_in_a_loop_by_two_histories():
    def fn(xs, w):
        h = w * 1
        twin = h.detach()

        def iteration(c, x):
            twin.add_(x)  # h sees the value, and keeps its own gradient
            h.mul_(2)
            return c + (h * twin).sum(), twin * w

        return ja.scan(iteration, ja.zeros(()), xs), h, twin

    same(fn, lambda: (ja.arange(6.0).reshape(3, 2) / 4, leaf(1.0, 2.0)))


def complex_loop(xs, w, buffer):
    def iteration(c, x):
        buffer[0].add_(w * x)
        seen = buffer.conj()
        return c * w + seen.sum(), (c * seen.sum()).real

    (c, ys), b = ja.scan(iteration, w * 1, xs), buffer
    return c, ys, (ys.sum() + (c * c.conj()).real.sum() + (b * b.conj()).real.sum())


@pytest.mark.slow
@pytest.mark.parametrize("where", some(["after", "within"], 1))
def test_complex_gradients_are_those_of_the_tape(where):
    def fn(*inputs):
        *results, loss = complex_loop(*inputs)
        if where == "within":
            loss.backward()
        return loss, [x.detach() for x in results]

    def make():
        w = ja.tensor([1 + 2j, 0.5 - 1j], requires_grad=True)
        return ja.tensor([[1 + 1j, 2j], [0.3, 0.1j], [1.0, -1j]]) * 0.3, w, ja.zeros(2, 2, dtype=ja.complex64)

    grads = []
    for call in (fn, ja.compile(fn)):
        inputs = make()
        loss, _ = call(*inputs)
        if where == "after":
            loss.backward()
        grads.append(inputs[1].grad.numpy())
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-5)


@pytest.mark.slow
def test_masks_and_views_of_another_dtype():
    def fn(xs, buffer, bits):
        def iteration(c, x):
            buffer[x > 1] = 0.5
            bits.view(ja.int32)[0] = x.sum().to(ja.int32)
            c[c > 2] *= 2
            return c + x, (c[c > 0].sum(), bits)

        return ja.scan(iteration, ja.ones(3), xs), buffer, bits

    same(fn, lambda: (ja.arange(9.0).reshape(3, 3) / 3, ja.zeros(3), ja.ones(2)))


def test_python_floats_promote_as_numbers_in_a_body():
    def fn(x, s):
        carried, _ = ja.scan(lambda c, r: (c * s + r, c), ja.zeros(2, dtype=ja.bfloat16), x)
        return carried, ja.cond(x.sum() > 0, lambda: s, lambda: 0.0), ja.scan(lambda c, r: (c + 1, None), s, x)

    same(fn, lambda: (ja.ones(3, 2, dtype=ja.bfloat16), 0.5))


class Model:
    """Counts and averages while it trains."""

    def __init__(self):
        self.w = leaf(1.0, 2.0)
        self.count = ja.zeros(())
        self.mean = ja.zeros(2)

    def __call__(self, x):
        def train():
            self.count.add_(1)
            self.mean.mul_(0.9).add_(0.1 * x.detach())
            return x * self.w

        return ja.cond(x.sum() > 0, train, lambda: x * self.w - self.mean)


def test_buffers_of_a_model_are_reached_through_it():
    models = Model(), Model()
    compiled = ja.compile(lambda x: models[1](x))
    for sign in (1.0, -1.0, 1.0):
        x = ja.full((2,), sign)
        for a, b in zip(
            (models[0](x), models[0].count, models[0].mean), (compiled(x), models[1].count, models[1].mean), strict=True
        ):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)
    assert compiled.cache_info().misses == 1 and models[1].count.item() == 2


def recurrence(m, scan, xs, w, cache):
    """Fills a cache and reads it, in a loop."""

    def iteration(h, x):
        h = (h * w + x).sin()
        cache[1:] += h * x
        cache[0].mul_(0.5)
        return h, (cache.clone() * h).sum()  # PyTorch refuses to differentiate what is written since

    h, ys = scan(iteration, m.zeros(2), xs)
    return (h * h).sum() + (ys * ys).sum() + (cache * w).sum()


@pytest.mark.oracle
def test_gradients_are_those_of_the_same_loop_in_pytorch():
    torch = pytest.importorskip("torch")

    def loop(iteration, carry, xs):
        ys = []
        for x in xs:
            carry, y = iteration(carry, x)
            ys.append(y)
        return carry, torch.stack(ys)

    def inputs(m):
        xs = m.tensor([[0.1, 0.4], [-0.3, 0.2], [0.9, -0.5]])
        return xs, m.tensor([0.7, -0.4], requires_grad=True), m.ones(3, 2)

    xs, w, cache = inputs(torch)
    expected = recurrence(torch, loop, xs, w, cache)
    expected.backward()
    for call in (lambda f: f, ja.compile):
        our_xs, our_w, our_cache = inputs(ja)
        loss = call(lambda *inputs: recurrence(ja, ja.scan, *inputs))(our_xs, our_w, our_cache)
        loss.backward()
        np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-5)
        np.testing.assert_allclose(our_w.grad.numpy(), w.grad.numpy(), rtol=1e-5)
        np.testing.assert_allclose(our_cache.detach().numpy(), cache.detach().numpy(), rtol=1e-5)
        assert our_cache._version == cache._version


# -- while_loop --------------------------------------------------------------------------------------------------------


def test_a_tensor_is_added_to_in_a_while_loop():
    def fn(x, total):
        def body(i, x):
            total.add_(x)
            return i + 1, x * 2

        return ja.while_loop(lambda i, x: i < 5, body, (ja.tensor(0), x)), total

    traced = same(fn, lambda: (ja.ones(2), ja.zeros(2)), flags=False)
    assert len(equations(traced, "while")) == 1


def test_a_while_loop_that_never_runs():
    def fn(x, total):
        def body(x):
            total.add_(x)
            return (x * 2,)

        return ja.while_loop(lambda x: x.sum() > 100, body, (x,)), total

    same(fn, lambda: (ja.ones(2), ja.zeros(2)), flags=False)


@pytest.mark.slow
def test_a_condition_that_writes_and_draws():
    def fn(x, tries):
        def goes_on(x):
            tries.add_(1)
            return (x + ja.rand(2)).sum() < 20

        return ja.while_loop(goes_on, lambda x: (x + ja.rand(2) * 3,), (x,)), tries

    same(fn, lambda: (ja.ones(2), ja.zeros(())), flags=False)


def test_a_condition_that_writes_to_what_is_carried():
    def fn(x):
        (y,) = ja.while_loop(lambda v: x.add_(1).sum() < 10, lambda v: (v * 2,), (x,))
        return y, x

    same(fn, lambda: (ja.ones(2),), flags=False)


def test_a_carry_that_is_no_tuple():
    fn = lambda x: ja.while_loop(lambda c: c["n"] < 3, lambda c: {"n": c["n"] + 1, "x": c["x"] * 2}, {"n": 0, "x": x})
    same(fn, lambda: (ja.ones(2),))


def test_a_loop_with_a_bound_in_place_of_a_while_loop():
    """What the error of a differentiated while_loop tells to write."""

    def fn(x, w):
        def iteration(carry, _):
            return ja.cond(carry[0].sum() < 10, lambda a: (a * w,), lambda *c: c, carry), None

        ((y,), _) = ja.scan(iteration, (x,), None, length=6)
        return y

    same(fn, lambda: (ja.ones(2), leaf(1.5, 2.0)))


def test_gradients_do_not_flow_through_a_compiled_while_loop():
    def fn(x):
        return ja.while_loop(lambda x: x.sum() < 10, lambda x: (x * 2,), (x,))[0].sum()

    x = leaf(1.0, 2.0)
    fn(x).backward()  # eagerly the tape sees each iteration
    assert x.grad.tolist() == [4, 4]
    with pytest.raises(errors.NotDifferentiableError, match=r"ja\.scan\(step, carry, None, length=at_most\)"):
        ja.compile(fn)(leaf(1.0, 2.0))
    with pytest.raises(errors.NotDifferentiableError, match="number of iterations has a bound"):
        ja.compile(lambda x: fn(x).backward())(leaf(1.0, 2.0))
    assert ja.compile(lambda x: fn(x.detach()))(leaf(1.0, 2.0)).item() == 12


# -- map ---------------------------------------------------------------------------------------------------------------


def test_map_stacks_and_writes():
    def fn(xs, w, count):
        def each(x, scale):
            count.add_(1)
            return {"y": x * w * scale, "n": count}

        return ja.map(each, xs, w.detach())

    traced = same(fn, lambda: (ja.arange(6.0).reshape(3, 2), leaf(1.0, 2.0), ja.zeros(())))
    assert len(equations(traced, "scan")) == 1


# -- random numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dropout_in_a_scan():
    def fn(xs, w):
        a = ja.rand(2)
        h, ys = ja.scan(lambda h, x: (F.dropout(h * w + x, 0.5), ja.rand(2) * h), ja.ones(2), xs)
        return a, h, ys, ja.rand(2)

    same(fn, lambda: (ja.arange(12.0).reshape(6, 2), leaf(1.0, 2.0)))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("training", [True, False])
def test_a_branch_that_draws_and_one_that_does_not(training):
    def fn(flag, x):
        y = ja.cond(flag, lambda: F.dropout(x, 0.5) + ja.rand(8), lambda: x)
        return y, ja.rand(3)

    same(fn, lambda: (ja.tensor(training), ja.ones(8)))


def test_iterations_draw_other_numbers():
    ys = ja.map(lambda x: ja.rand(()), ja.zeros(20))
    assert len(set(ys.tolist())) == 20
    a, b = (ja.cond(True, lambda: ja.rand(4), lambda: None).tolist() for _ in range(2))
    assert a != b
    assert ja.default_generator.offset == 3


def test_random_numbers_in_nested_loops():
    def fn(xs):
        def iteration(c, x):
            inner = ja.scan(lambda d, _: (d + ja.rand(()), ja.rand(())), c, None, length=3)
            return ja.cond(x > 1, lambda: ja.rand(()) + inner[0], lambda: inner[0]) + ja.rand(()), inner[1]

        return ja.scan(iteration, ja.zeros(()), xs), ja.rand(2)

    same(fn, lambda: (ja.arange(4.0),))


@pytest.mark.slow
def test_a_generator_of_ones_own():
    def fn(xs, g):
        ys = ja.scan(lambda c, x: (c + ja.rand(2, generator=g), ja.rand((), generator=g)), ja.zeros(2), xs)
        return ys, ja.rand(2, generator=g)

    seen = []
    for call in (fn, ja.compile(fn)):
        g = ja.Generator().manual_seed(3)
        (c, ys), after = call(ja.zeros(4), g)
        seen.append((c.tolist(), ys.tolist(), after.tolist(), g.offset))
    assert seen[0] == seen[1] and seen[0][-1] == 2
    one_branch = lambda p, g: ja.cond(p, lambda: ja.rand(2, generator=g), lambda: ja.zeros(2))
    with pytest.raises(errors.TraceError, match="A generator of your own is drawn from in one branch"):
        ja.compile(one_branch)(ja.tensor(True), g)


@pytest.mark.slow
def test_a_compiled_function_in_an_eager_loop_draws_as_if_it_were_part_of_it():
    step = ja.compile(lambda h, x: F.dropout(h + x, 0.5))
    loop = lambda xs: ja.scan(lambda h, x: (step(h, x), ja.rand(())), ja.ones(4), xs)
    same(loop, lambda: (ja.arange(12.0).reshape(3, 4),))


def test_seeding_in_an_iteration_ends_with_it():
    def iteration(x):
        with ja.random.fork_rng():
            ja.manual_seed(0)
            a = ja.rand(2)
        return a, ja.rand(2)

    same_seed, others = ja.map(iteration, ja.zeros(3))
    ja.manual_seed(0)
    assert same_seed.tolist() == [ja.rand(2).tolist()] * 3
    assert len({tuple(row) for row in others.tolist()}) == 3


# -- with JAX's transformations ----------------------------------------------------------------------------------------


def program(x, w):
    state = x * 0

    def iteration(h, row):
        state.add_(row * w)
        h = ja.cond(h.sum() > 3, lambda h: h.mul_(0.5), lambda h: h + row, (h,))
        return h, state * h

    h, ys = ja.scan(iteration, w * 1, x.reshape(2, 1) * w)
    (n,) = ja.while_loop(lambda n: n < 3, lambda n: (n + 1,), (ja.tensor(0),))
    return (h.sum() + ys.sum()) * n


def plain(x, w):
    state = x * 0
    h = w
    total = 0.0
    for row in x.reshape(2, 1) * w:
        state = state + row * w
        h = jnp.where(h.sum() > 3, h * 0.5, h + row)
        total = total + (state * h).sum()
    return (h.sum() + total) * 3


@pytest.mark.slow
def test_functionalized_under_jax_transformations():
    pure = ja.func.functionalize(program)
    x, w = jnp.array([0.5, 1.5]), jnp.array([1.0, 2.0])
    for transform in (lambda f: f, jax.jit, lambda f: jax.jit(jax.grad(f, (0, 1))), lambda f: jax.grad(jax.jit(f))):
        for ours, theirs in zip(
            jax.tree.leaves(transform(pure)(x, w)), jax.tree.leaves(transform(plain)(x, w)), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    xs = jnp.stack([x, x * 2, -x])
    np.testing.assert_allclose(jax.vmap(pure, (0, None))(xs, w), jax.vmap(plain, (0, None))(xs, w), rtol=1e-5)
    per_example = lambda f: jax.vmap(jax.grad(f), (0, None))
    np.testing.assert_allclose(per_example(pure)(xs, w), per_example(plain)(xs, w), rtol=1e-5)
    hessian = lambda f: jax.jacfwd(jax.grad(f))
    np.testing.assert_allclose(hessian(pure)(x, w), hessian(plain)(x, w), rtol=1e-5)


def test_compiled_within_jit():
    compiled = ja.compile(program)
    x, w = jnp.array([0.5, 1.5]), jnp.array([1.0, 2.0])
    jitted = jax.jit(lambda x, w: compiled(ja.interop.from_jax(x), ja.interop.from_jax(w)).jax())
    np.testing.assert_allclose(jitted(x, w), plain(x, w), rtol=1e-5)


def test_a_pure_function_writes_only_to_what_it_is_passed():
    buffer = ja.zeros(2)
    pure = ja.func.functionalize(lambda x: ja.cond(x.sum() > 0, lambda: buffer.add_(x), lambda: x))
    with pytest.raises(errors.TraceError, match="changed 1 tensor"):
        pure(jnp.ones(2))
    assert buffer.tolist() == [0, 0]


# -- errors ------------------------------------------------------------------------------------------------------------


def said(error, fn, *args):
    with pytest.raises(error) as caught:
        fn(*args)
    return " ".join(str(caught.value).split())


def test_branches_that_do_not_agree():
    def fn(x):
        return ja.cond(x.sum() > 0, lambda: {"a": x, "b": x.sum(), "c": x}, lambda: {"a": x[:1], "b": 1, "d": None})

    words = said(errors.ControlFlowMismatchError, ja.trace, fn, ja.ones(2))
    assert "`result['a']`: Tensor float32[2] in `true_fn`, Tensor float32[1] in `false_fn`" in words
    assert "`result['b']`: Tensor float32[] in `true_fn`, Tensor int32[] in `false_fn`" in words
    assert "`result['c']`: Tensor float32[2] in `true_fn`, not there in `false_fn`" in words
    containers = lambda x: ja.cond(x.sum() > 0, lambda: (x, x), lambda: [x, x])
    assert "`result` is (*, *) in `true_fn` and [*, *] in `false_fn`" in said(
        errors.ControlFlowMismatchError, ja.trace, containers, ja.ones(2)
    )


@pytest.mark.parametrize("wrap", [lambda f: f, ja.compile], ids=["eager", "compiled"])
def test_carries_that_change(wrap):
    words = said(errors.ControlFlowMismatchError, wrap(lambda x: ja.scan(lambda c, x: (c + x, c), 0, x)), ja.ones(3))
    assert "`carry`: Tensor int32[] in what the loop starts from, Tensor float32[] in what `f` returns" in words
    assert "`ja.tensor(0.0)` rather than `0`" in words
    grows = lambda x: ja.while_loop(lambda a, b: True, lambda a, b: (a.repeat(2), b > 0), (x, x))
    words = said(errors.ControlFlowMismatchError, wrap(grows), ja.ones(3))
    assert "`carry[0]`: Tensor float32[3]" in words and "`carry[1]`: Tensor float32[3]" in words
    assert "returned a Tensor; it returns a pair" in said(
        errors.ControlFlowMismatchError, wrap(lambda x: ja.scan(lambda c, x: c, x, x)), ja.ones(3)
    )


def test_numbers_that_fit_what_is_carried():
    fn = lambda x: ja.scan(lambda c, x: (ja.cond(x > 1, lambda: c * 0 + x, lambda: c), 1), 0.0, x)
    same(fn, lambda: (ja.arange(3.0),))
    same(lambda x: ja.scan(lambda c, x: ((c[0] + x, 0), None), (0.0, 5), x), lambda: (ja.arange(3.0),))


@pytest.mark.parametrize("wrap", [lambda f: f, ja.compile], ids=["eager", "compiled"])
def test_lengths_that_differ(wrap):
    fn = lambda a, b: ja.scan(lambda c, x: (c, None), None, {"a": a, "b": b})
    words = said(errors.ControlFlowMismatchError, wrap(fn), ja.ones(3), ja.ones(4))
    assert "`xs['a']`: 3, `xs['b']`: 4" in words
    assert "`xs`: no dim" in said(errors.ControlFlowMismatchError, wrap(lambda a: ja.map(lambda x: x, a)), ja.ones(()))
    assert "nothing is given" in said(errors.ControlFlowMismatchError, wrap(lambda: ja.scan(lambda c, x: (c, c), 1.0)))


@pytest.mark.parametrize("wrap", [lambda f: f, ja.compile], ids=["eager", "compiled"])
def test_leaves_that_are_no_tensors(wrap):
    words = said(errors.TensorTypeError, wrap(lambda x: ja.cond(x.sum() > 0, lambda: (x, "a"), lambda: x)), ja.ones(2))
    assert "`result[1]` is a str" in words
    words = said(errors.ControlFlowMismatchError, wrap(lambda x: ja.cond(x > 0, lambda: x, lambda: x)), ja.ones(2))
    assert "`pred` has to be one value" in words and "`ja.where(pred, a, b)`" in words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.t_(), "shows other memory than before"),
        (lambda x: x.set_(ja.zeros(2)), "shows other memory than before"),
        (lambda x: x.resize_(8), "shows other memory than before"),
        (lambda x: x.untyped_storage().resize_(0), "was resized"),
        (lambda x: x.requires_grad_(), "the place of a captured tensor float32[2, 3] in the tape changed"),
        (lambda x: setattr(x, "grad", ja.zeros(2, 3)), "the `.grad` of a captured tensor float32[2, 3] was replaced"),
    ],
)
def test_changes_of_what_a_captured_tensor_shows(change, words):
    def fn(x, y):
        return ja.cond(y.sum() > 0, lambda: (change(x), y)[1], lambda: y)

    x = ja.zeros(2, 3)
    message = said(errors.CapturedTensorChangedError, ja.compile(fn), x, ja.ones(2))
    assert words in message and "Values may be written" in message
    assert x.shape == (2, 3) and x._version == 0 and not x.requires_grad and x.grad is None
    assert x.add_(1).sum().item() == 6


def test_a_tensor_that_leaks_out_of_a_body():
    def read_later(xs):
        kept = []
        ja.scan(lambda c, x: (c, kept.append(x * 2)), None, xs)
        return kept[0] + 1

    assert "used outside of that trace" in said(
        errors.LeakedTensorError, ja.compile(read_later, fullgraph=True), ja.ones(3)
    )
    held = []
    never_read = lambda x: ja.cond(x.sum() > 0, lambda: held.append(x * 2) or x, lambda: x)
    assert "`held[0]`" in said(errors.LeakedTensorError, ja.compile(never_read, fullgraph=True), ja.ones(3))


@pytest.mark.parametrize("wrap", [lambda fn: fn, ja.compile])
def test_an_error_inside_leaves_what_it_leaves_eagerly(wrap):
    buffer, w = ja.zeros(2), leaf(1.0, 2.0)

    def iteration(c, x):
        buffer.add_(w)
        raise KeyError("stop")

    def fn(xs):
        buffer.add_(1)
        return ja.scan(iteration, None, xs)

    with pytest.raises(KeyError):
        wrap(fn)(ja.ones(3))
    assert buffer.tolist() == [2, 3] and buffer._version == 2 and buffer.requires_grad
    assert ja.add(buffer, 1).tolist() == [3, 4] and ja.default_generator.offset == 1


def test_a_backward_that_would_leave_an_iteration():
    def fn(xs, w):
        def iteration(c, x):
            (c * x).sum().backward()
            return c, None

        return ja.scan(iteration, w * 1, xs)

    words = said(errors.AutogradError, ja.compile(fn), ja.ones(3, 2), leaf(1.0, 2.0))
    assert "`x = x.detach().requires_grad_()`" in words


def test_a_python_branch_on_a_symbol_names_what_to_write():
    def fn(x):
        return ja.map(lambda x: x if x > 0 else -x, x)

    words = said(errors.ConcretizationError, ja.compile(fn, fullgraph=True), ja.ones(3))
    assert "test_control_flow.py:" in words and "x if x > 0 else -x" in words
    assert "ja.cond(" in words and "ja.while_loop(" in words and "ja.where(" in words
    assert "nor in an iteration of a loop such as `ja.scan`" in words
