"""Small agreements of autograd with PyTorch: modes as decorators, saved tensors that a backward writes, edges."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import warnings
import weakref

import pytest

import jaxaot as ja
from jaxaot import errors

WAYS = ["eager", pytest.param("torch", marks=pytest.mark.oracle)]


@pytest.fixture(params=WAYS)
def m(request):
    return importlib.import_module("torch") if request.param == "torch" else ja


# -- modes -------------------------------------------------------------------------------------------------------------


def test_a_generator_runs_in_its_mode_and_its_caller_does_not(m):
    @m.no_grad()
    def steps():
        sent = yield m.is_grad_enabled()
        try:
            yield sent, m.is_grad_enabled()
        except ValueError:
            yield "thrown", m.is_grad_enabled()
        return m.is_grad_enabled()

    @m.no_grad()
    def delegates():
        result = yield from steps()
        yield result

    g = delegates()
    assert next(g) is False and m.is_grad_enabled()
    assert g.send(5) == (5, False) and m.is_grad_enabled()
    assert g.throw(ValueError()) == ("thrown", False) and m.is_grad_enabled()
    assert next(g) is False and list(g) == []


def test_a_closed_generator_cleans_up_in_its_mode(m):
    seen = []

    @m.no_grad()
    def steps():
        try:
            yield 1
        finally:
            seen.append(m.is_grad_enabled())

    g = steps()
    next(g)
    g.close()
    assert seen == [False] and m.is_grad_enabled()


def test_a_coroutine_runs_in_its_mode():
    @ja.no_grad()
    async def inner():
        await asyncio.sleep(0)
        return ja.is_grad_enabled()

    async def outer():
        return await asyncio.gather(inner(), inner()), ja.is_grad_enabled()

    assert asyncio.run(outer()) == ([False, False], True)


def test_modes_as_decorators(m):
    @m.set_grad_enabled(False)
    def off():
        return m.is_grad_enabled()

    @m.inference_mode()
    def infers():
        yield m.is_inference_mode_enabled()

    assert (off(), m.is_grad_enabled()) == (False, True)
    assert list(infers()) == [True] and not m.is_inference_mode_enabled()


SWITCHES = {
    "set_grad_enabled": (lambda m: m.set_grad_enabled, lambda m: m.is_grad_enabled(), True),
    "inference_mode": (lambda m: m.inference_mode, lambda m: m.is_inference_mode_enabled(), False),
    "set_detect_anomaly": (
        lambda m: m.autograd.set_detect_anomaly,
        lambda m: (m.autograd if hasattr(m.autograd, "is_anomaly_enabled") else m).is_anomaly_enabled(),
        False,
    ),
    "set_multithreading_enabled": (lambda m: m.autograd.set_multithreading_enabled, lambda m: None, True),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_are_contexts_that_exceptions_leave(m, name):
    switch, reads, default = SWITCHES[name]
    switch = switch(m)
    before = reads(m)
    for value in (True, False):
        with switch(value):
            inside = reads(m)
            assert inside in (None, value)
            with switch(not value):
                assert reads(m) in (None, not value)
            assert reads(m) == inside
        with pytest.raises(ZeroDivisionError), switch(value):
            raise ZeroDivisionError
        assert reads(m) == before
    if name != "inference_mode":  # which is a context and a decorator alone, in PyTorch too
        switch(not default)
        assert reads(m) in (None, not default)
        switch(default)
    assert reads(m) == before


def test_the_check_of_versions_is_a_context_that_an_exception_leaves():
    def squared():
        x = ja.ones(2, requires_grad=True).clone()
        y = (x**2).sum()
        x.add_(1)
        y.backward()

    with pytest.raises(errors.JaxaotError, match="modified by an inplace"), ja.autograd.set_version_check("error"):
        squared()
    squared()


# -- custom Functions --------------------------------------------------------------------------------------------------


def doubling(m, saves_result, writes=lambda x: x.mul_(2)):
    class Doubling(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y if saves_result else x)
            return y

        @staticmethod
        def backward(ctx, gradient):
            (saved,) = ctx.saved_tensors
            writes(saved)
            return gradient * 2

    return Doubling


@pytest.mark.parametrize("saves_result", [False, True])
def test_what_a_backward_writes_to_a_saved_tensor_arrives(m, saves_result):
    leaf = m.ones(2, requires_grad=True)
    x = leaf * 3
    y = doubling(m, saves_result).apply(x)
    before = x._version, y._version
    y.sum().backward()
    assert (x.tolist(), y.tolist()) == (([3, 3], [12, 12]) if saves_result else ([6, 6], [6, 6]))
    assert (x._version - before[0], y._version - before[1]) == (int(not saves_result), int(saves_result))
    assert leaf.grad.tolist() == [6, 6]


def test_a_saved_tensor_that_is_a_view(m):
    leaf = m.ones(3, requires_grad=True)
    x = leaf * 3
    doubling(m, False, lambda part: part.data.mul_(2)).apply(x[1:]).sum().backward()
    assert x.tolist() == [3, 6, 6] and leaf.grad.tolist() == [0, 6, 6]


def test_a_saved_tensor_that_was_written_since_has_the_values_that_were_saved():
    leaf = ja.ones(2, requires_grad=True)
    x = leaf * 3
    seen = []
    y = doubling(ja, False, lambda saved: seen.append(saved.tolist())).apply(x)
    x.mul_(5)
    y.sum().backward()
    assert seen == [[3, 3]] and x.tolist() == [15, 15]


def test_setup_context_gets_defaults_and_nodes_have_the_name_of_their_function(m):
    class Scaled(m.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.n = inputs

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.n, None

    x = m.ones(1, requires_grad=True)
    y = Scaled.apply(x)
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "ScaledBackward"
    assert isinstance(y.grad_fn, m.autograd.graph.Node)
    y.backward()
    assert x.grad.tolist() == [3]


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_an_edge_is_differentiated_with_its_gradient(m):
    x = m.ones(2, requires_grad=True)
    edge = m.autograd.graph.get_gradient_edge(x * 3)
    assert m.autograd.grad(edge, (x,), grad_outputs=(m.ones(2),))[0].tolist() == [3, 3]
    m.autograd.backward(m.autograd.graph.get_gradient_edge(x * 2), (m.ones(2),))
    assert x.grad.tolist() == [2, 2]
    del x.grad
    assert x.grad is None


def test_what_has_no_gradient_of_its_own_is_refused(m):
    x = m.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        m.autograd.grad(x * 2, [])
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        m.ones(1, dtype=m.complex64, requires_grad=True).sum().backward()
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 0


def test_hooks_that_an_unpack_hook_enters_end_with_the_backward(m):
    packed = []
    hooks = m.autograd.graph.saved_tensors_hooks

    def unpack(saved):
        hooks(lambda t: packed.append(1) or t, lambda t: t).__enter__()
        return saved

    x = m.ones(1, requires_grad=True)
    with hooks(lambda t: t, unpack):
        y = x * x
    y.backward()
    packed.clear()
    assert (x * x).requires_grad and not packed


def test_a_version_is_counted_by_hand(m):
    x, y = m.ones(1), m.ones(1)
    m.autograd.graph.increment_version(x)
    m.autograd.graph.increment_version([x, y])
    assert (x._version, y._version) == (2, 1)


def test_hooks_that_an_unpack_hook_leaves_are_there_after_the_backward(m):
    packed = []
    hooks = m.autograd.graph.saved_tensors_hooks

    def unpack(saved):
        entered.__exit__(None, None, None)
        return saved

    entered = hooks(lambda t: packed.append(1) or t, unpack)
    x = m.ones(1, requires_grad=True)
    with entered:
        for _ in range(2):
            x.sin().backward()
        packed.clear()
        x.sin()
    assert packed
    packed.clear()
    x.sin()
    assert not packed


def test_a_node_is_called_with_gradients(m):
    x = m.full((2,), 3.0, requires_grad=True)
    y = x**2
    for wrong in ((), (m.ones(2), m.ones(2)), ("one",)):
        with pytest.raises(TypeError, match=r"argument"):
            y.grad_fn(*wrong)
    assert [y.grad_fn(m.ones(2)).tolist() for _ in range(2)] == [[6, 6]] * 2
    slope = (x * y).grad_fn(m.ones(2))[1]
    assert m.autograd.grad(slope.sum(), x, retain_graph=True)[0].tolist() == [1, 1]
    with m.no_grad():
        assert not y.grad_fn(m.ones(2)).requires_grad


def saving(m, *others):
    class Saving(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, *others)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0]

    return Saving


def test_what_a_function_saved_takes_hooks(m):
    x = m.full((1,), 3.0, requires_grad=True)
    y = saving(m, None).apply(x)
    first, second = y.grad_fn._raw_saved_tensors
    with pytest.raises(RuntimeError, match="None is forbidden"):
        second.register_hooks(lambda t: t, lambda t: t)
    first.register_hooks(lambda t: t * 2, lambda t: t + 1)
    with pytest.raises(RuntimeError, match="already been set"):
        first.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert x.grad.tolist() == [7]
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = y.grad_fn._raw_saved_tensors


def test_backwards_in_backwards_hundreds_deep(m):
    class Inner(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with m.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx, gradient):
            assert not m.is_grad_enabled()
            if ctx.x >= 0:
                with m.enable_grad():
                    Inner.apply(ctx.x).backward()
            elif ctx.x.item() == -0.5:
                raise ValueError("the innermost")
            return gradient

    x = m.tensor(400.0, requires_grad=True)
    Inner.apply(x).backward()
    assert x.grad.item() == 1
    with pytest.raises(ValueError, match="the innermost"):
        Inner.apply(m.tensor(99.5, requires_grad=True)).backward()


def test_functions_without_the_method_that_is_needed(m):
    class Empty(m.autograd.Function):
        pass

    class Forward(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = m.ones(1, requires_grad=True)
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Empty.apply(x)
    y = Forward.apply(x)
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp"):
        y.backward()
    with m.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="implement the jvp function"):
        Forward.apply(m.autograd.forward_ad.make_dual(x.detach(), x.detach()))


def test_reading_the_gradient_of_what_keeps_none_warns(m):
    x = m.ones(1, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None and x.grad is None and y.detach().grad is None


def test_several_threads_may_be_switched_off(m):
    switch, is_on = m.autograd.set_multithreading_enabled, m.autograd.is_multithreading_enabled
    with switch(False):
        assert not is_on()
        switch(True)
        assert is_on()
    assert is_on()
    switch(False)
    assert not is_on()
    switch(True)


def test_saved_tensors_may_be_written_where_that_is_allowed():
    allowed = ja.autograd.graph.allow_mutation_on_saved_tensors
    with ja.autograd.set_version_check("error"):
        with allowed() as context:
            x = ja.ones(2, requires_grad=True).clone()
            y = (x**2).sum()
            assert len(context.tid_to_weakhandle) == 1 and not context.cloned
            x.sin_()
            assert len(context.cloned) == 1, "what PyTorch would have copied"
            y.backward()
            assert not context.cloned
            with pytest.raises(RuntimeError, match="cannot be nested"):
                allowed().__enter__()
        z = (x**2).sum()
        x.sin_()
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            z.backward()


def test_a_backward_belongs_where_writes_were_allowed(m):
    allowed = m.autograd.graph.allow_mutation_on_saved_tensors
    with allowed():
        y = (m.ones(2, requires_grad=True).clone() ** 2).sum()
    for context in (contextlib.nullcontext(), allowed()):
        with context, pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation"):
            y.backward()


@pytest.mark.parametrize("is_leaf", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_what_requires_grad_is_set_to_other_memory(is_leaf, compiled):
    def step(a):
        b = ja.arange(3.0)
        with ja.no_grad():
            a.set_(b)
            a.mul_(2)
        b.add_(1)
        return a * b

    x = ja.ones(3, requires_grad=True)
    a = x if is_leaf else x + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.RecompileWarning)
        y = (ja.compile(step) if compiled else step)(a)
    y.sum().backward()
    assert a.tolist() == x.grad.tolist() == [1, 3, 5] and y.tolist() == [1, 9, 25]


def test_zeros_for_what_is_not_used(m):
    x, y = (m.full((1,), 0.5, requires_grad=True) for _ in range(2))
    (slope,) = m.autograd.grad(x * 1, x, create_graph=True)
    options = {"materialize_grads": True}
    (second,) = m.autograd.grad(x * x, y, create_graph=True, **options)
    assert second.requires_grad and m.autograd.grad(second, x, **options)[0].tolist() == [0]
    assert not m.autograd.grad(x * x, y, **options)[0].requires_grad and slope.tolist() == [1]
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        m.autograd.grad(x * 1, y, allow_unused=False, **options)
    with pytest.raises(RuntimeError, match="cannot be used when the given input is a GradientEdge"):
        m.autograd.grad(x * 1, m.autograd.graph.get_gradient_edge(y * 1), **options)


def test_post_hooks_of_a_leaf_see_what_the_hooks_before_them_wrote(m):
    x = m.ones(1, requires_grad=True)
    seen = []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda given, arrived: seen.append(arrived[0].tolist()))
    x.register_post_accumulate_grad_hook(lambda x: (x.grad.add_(1), None)[1])
    (x * 3).backward()
    assert seen == [[4]] and x.grad.tolist() == [4]


def test_marks_and_methods_that_do_not_fit(m):
    class Marking(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    class Both(Marking):
        vjp = Marking.backward

    x = m.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="a tensor that was not an input"):
        Marking.apply(x)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(x).backward()


def test_a_ctx_that_outlives_its_node_has_freed_what_it_saved():
    kept = []

    class Keeping(ja.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            kept.append(ctx)
            return ctx.saved_tensors[0] * gradient

    y = Keeping.apply(ja.ones(1, requires_grad=True))
    y.backward(retain_graph=True)
    assert kept[0].saved_tensors[0].tolist() == [1]
    del y
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = kept[0].saved_tensors


def dropping(m):
    class Dropping(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    return Dropping


def listed(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def test_hooks_are_called_with_none_where_a_backward_says_so(m):
    x = m.ones(1, requires_grad=True)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(("tensor", listed([g]))))
    y.grad_fn.register_prehook(lambda gs: seen.append(("before", listed(gs))))
    y.grad_fn.register_hook(lambda gs, given: seen.append(("after", listed(gs)[:1], listed(given))))
    x.register_hook(lambda g: seen.append(("leaf", listed([g]))))
    x.register_post_accumulate_grad_hook(lambda x: seen.append("accumulated"))
    y.retain_grad()
    dropping(m).apply(y).backward()
    assert seen == [("tensor", [None]), ("before", [None]), ("after", [None], [None]), ("leaf", [None]), "accumulated"]
    assert x.grad is None and y.grad is None


def test_a_hook_makes_no_gradient_out_of_none(m):
    y = m.ones(1, requires_grad=True) * 1
    y.register_hook(lambda g: m.ones(1))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        dropping(m).apply(y).backward()


def test_a_backward_of_the_user_runs_without_a_gradient(m):
    seen = []

    class Seeing(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient.tolist())
            return gradient

    x = m.ones(1, requires_grad=True)
    dropping(m).apply((Seeing.apply(x) * 2).sin()).backward()
    assert seen == [[0]] and x.grad.tolist() == [0]


def showing(m, jvp, writes=False):
    class Showing(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if not writes:
                return x[:1]
            ctx.mark_dirty(x.mul_(2))
            return x

    Showing.jvp = staticmethod(lambda ctx, t: jvp(t))
    return Showing


def test_tangents_share_memory_as_their_tensors_do(m):
    ad = m.autograd.forward_ad
    with ad.dual_level():
        dual = lambda: ad.make_dual(m.ones(2), m.ones(2))
        assert ad.unpack_dual(showing(m, lambda t: t[:1]).apply(dual())).tangent.tolist() == [1]
        with pytest.raises(RuntimeError, match="the jvp is not returning a view"):
            showing(m, lambda t: t[:1] * 1).apply(dual())
        with pytest.raises(RuntimeError, match="not returning a view of the given grad input"):
            showing(m, lambda t: t.clone()[:1]).apply(dual())
        with pytest.raises(RuntimeError, match="not returning a view of the same base"):
            showing(m, lambda t: t.clone()[:1]).apply(dual().view(2))
        written = showing(m, lambda t: t.mul_(2), writes=True)
        assert ad.unpack_dual(written.apply(dual())).tangent.tolist() == [2, 2]
        with pytest.raises(RuntimeError, match="must modify the corresponding gradient inplace"):
            showing(m, lambda t: t * 2, writes=True).apply(dual())


def test_inference_tensors_outside_of_their_mode(m):
    with m.inference_mode():
        x = m.ones(2, 3)
    y = x.view(-1)
    assert m.is_inference(y) and not y._is_view() and not y.requires_grad
    for change in (lambda: x.add_(1), lambda: x.transpose_(0, 1), lambda: y.mul_(2)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
            change()
    if m is ja:  # PyTorch writes first
        assert x.tolist() == [[1, 1, 1]] * 2


def test_ops_without_a_derivative(m):
    x = m.ones(1)
    with m.autograd.forward_ad.dual_level():
        dual = m.autograd.forward_ad.make_dual(x, x)
        with pytest.raises(NotImplementedError, match=r"Trying to use forward AD with .*igamma"):
            m.igamma(dual, dual)
    y = m.igamma(x.clone().requires_grad_(), x)
    with pytest.raises(NotImplementedError, match="not implemented"):
        y.backward()


# -- what is refused, and what is warned of -------------------------------------------------------------------------


def test_a_class_is_not_decorated_with_a_mode(m):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        made = m.no_grad()(type("Plain", (), {"mode": lambda self: m.is_grad_enabled()}))
    assert made().mode()


def test_attributes_that_cannot_be_deleted_or_set(m):
    x = m.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    with pytest.raises(RuntimeError):
        del x.requires_grad
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    with pytest.raises(RuntimeError, match="cannot be empty"):
        m.autograd.grad(x.sum(), [])


def test_zeros_for_an_edge_are_refused_only_where_they_are_needed(m):
    x, y = m.ones(2, requires_grad=True).clone(), m.ones(2, requires_grad=True).clone()
    edges = [m.autograd.graph.get_gradient_edge(t) for t in (x, y)]
    loss = x.clone().sum()
    found = m.autograd.grad(loss, (edges[0], y), materialize_grads=True)
    assert [g.tolist() for g in found] == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="GradientEdge"):
        m.autograd.grad(x.clone().sum(), (x, edges[1]), materialize_grads=True)


def test_the_older_name_of_saved_tensors(m):
    class Doubled(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            assert ctx.saved_variables[0].tolist() == [1.0]
            return gradient * 2

    with pytest.warns(DeprecationWarning, match="saved_variables"):
        Doubled.apply(m.ones(1, requires_grad=True)).backward()


def test_a_backward_gets_the_very_tensor_that_was_saved(m):
    seen = []

    class Kept(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            seen.extend(ctx.saved_tensors)
            return gradient, gradient

    leaf, other = m.ones(2, requires_grad=True), m.ones(2)
    inner = leaf * 3
    Kept.apply(inner, other).sum().backward()
    assert seen[0] is inner and seen[1] is other
    if m is ja:  # values are kept: what was written since comes back as it was
        y = Kept.apply(leaf * 3, other)
        other.add_(1)
        y.sum().backward()
        assert seen[3] is not other and seen[3].tolist() == [1.0, 1.0]


def test_unique_of_what_requires_grad_has_no_derivative(m):
    x = m.tensor([1.0, 2.0, 1.0], requires_grad=True)
    for found in (m.unique(x), m.unique_consecutive(x), m.unique(x, return_counts=True)[0], m.unique(x, dim=0)):
        assert found.requires_grad
        with pytest.raises(NotImplementedError, match=r"derivative for '_?unique"):
            found.sum().backward()
    assert not m.unique(x, return_inverse=True)[1].requires_grad and not m.unique(x.detach()).requires_grad


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_views_made_where_nothing_is_recorded(m, mode):
    name = {"no_grad": "no_grad", "inference_mode": "inference"}[mode]
    for change in (lambda t: t.add_(2), lambda t: t.transpose_(0, 1)):
        base = m.ones(2, 2, requires_grad=True).clone()
        with getattr(m, mode)():
            view = base.view_as(base)
        with pytest.raises(RuntimeError, match=f"A view was created in {name} mode and is being modified inplace"):
            change(view)
        change(base)
        with pytest.raises(RuntimeError, match=f"A view was created in {name} mode and its base or another view"):
            view.grad_fn  # noqa: B018
        assert "<Invalid>" in repr(view)
    base = m.ones(2, 2)
    with getattr(m, mode)():
        view = base.view_as(base)
    assert view.add_(1).grad_fn is None


def test_a_view_made_in_inference_mode_is_a_leaf_whose_gradient_leads_nowhere(m):
    base = m.ones(2, 2, requires_grad=True).clone()
    with m.inference_mode():
        view = base.view(-1)
        assert view.view(4).requires_grad and not (view * 2).requires_grad and not base.detach().view(4).requires_grad
    assert (view.requires_grad, view.is_leaf, view._is_view()) == (True, True, True) and not m.is_inference(view)
    part = view[:2]
    (view * view + part.sum()).sum().backward()
    assert view.grad is None and part.requires_grad and not part.is_leaf
    assert "requires_grad=True" in repr(view)
    with pytest.raises(RuntimeError, match="requires grad"):
        view.numpy()


def test_a_node_takes_any_object_for_a_hook_and_its_backward_refuses(m):
    class Kept:
        pass

    kept = Kept()
    alive = weakref.ref(kept)
    y = m.ones(2, requires_grad=True).clone()
    y.grad_fn.register_hook(kept)
    del kept
    m.nn.functional.relu(y.view(2), inplace=True)
    assert alive() is not None
    with pytest.raises(TypeError, match="A hook is a function, and <.*Kept" if m is ja else "not callable"):
        y.sum().backward()
    del y
    gc.collect()
    assert alive() is None


def test_several_views_of_one_function_have_one_node(m):
    x, seen = m.arange(6.0).requires_grad_(), []
    first, second, third = parts = x.split(2)
    assert [t.output_nr for t in parts] == [0, 1, 2] and second.grad_fn is first.grad_fn
    first.register_hook(lambda g: seen.append(g if g is None else g.tolist()))
    third.retain_grad()
    (second * m.tensor([1.0, 2.0]) + third[1]).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 2, 0, 2] and third.grad.tolist() == [0, 2] and seen == [None]
    (first**2).sum().backward()
    assert x.grad.tolist() == [0, 2, 1, 2, 0, 2] and seen == [None, [0, 2]]
    y = m.arange(40.0).requires_grad_()
    (slope,) = m.autograd.grad(sum(t**3 for t in y.unbind()), y, create_graph=True)
    assert m.autograd.grad(slope.sum(), y)[0].tolist() == [6.0 * i for i in range(40)]


@pytest.mark.parametrize("records", [False, True])
def test_views_of_custom_functions_say_where_they_were_made(m, records):
    class First(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1]

    base = m.ones(2, requires_grad=True).clone()
    with m.set_grad_enabled(records):
        view = First.apply(base)
    words = "view was created inside a custom Function" if records else "A view was created in no_grad mode"
    with pytest.raises(RuntimeError, match=words):
        view.mul_(2)


def test_a_tangent_of_part_of_a_memory_can_be_seen_beyond_it(m):
    ad = importlib.import_module("torch.autograd.forward_ad") if m is not ja else ja.autograd.forward_ad
    primal, tangent = m.arange(5.0)[1:4].detach(), m.ones(3)
    with ad.dual_level():
        dual = ad.make_dual(primal, tangent)
        shown = ad.unpack_dual(dual).tangent
        shown *= 2
        assert tangent.tolist() == [1.0] * 3
        assert ad.unpack_dual(dual.as_strided((5,), (1,), 0)).tangent.tolist() == [0.0, 2.0, 2.0, 2.0, 0.0]


def test_a_saved_tensor_is_not_made_by_hand():
    for made in (ja.autograd.SavedTensor, ja.autograd.graph.SavedTensor):
        with pytest.raises(errors.AutogradError, match="from Python is forbidden"):
            made()
