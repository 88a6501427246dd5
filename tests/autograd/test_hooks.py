"""Hooks on gradients, of tensors and of nodes: called when, in which order and with what, as PyTorch does."""

from __future__ import annotations

import functools
import gc
import random
import weakref

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.seeds import seeds


def plain(value):
    """Tensors within lists and tuples as lists of numbers."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


class Log(list):
    """What was called, with which values."""

    def hook(self, name, change=None):
        def called(*given):
            self.append((name, plain(given)))
            return None if change is None else change(*given)

        return called


def accumulator(tensor):
    return tensor.view_as(tensor).grad_fn.next_functions[0][0]


def every_kind(lib, log):
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    y = w * 2
    y.retain_grad()
    y.register_hook(log.hook("tensor 1", lambda g: g * 10))
    y.grad_fn.register_prehook(log.hook("pre", lambda gs: (gs[0] + 1,)))
    y.grad_fn.register_hook(log.hook("post", lambda gi, go: (gi[0] * 3, None)))
    y.register_hook(log.hook("tensor 2"))
    node = accumulator(w)
    node.register_prehook(log.hook("leaf pre", lambda gs: (gs[0] + 5,)))
    node.register_hook(log.hook("leaf post"))
    w.register_hook(log.hook("leaf tensor"))
    w.register_post_accumulate_grad_hook(log.hook("accumulated"))
    y.sum().backward(retain_graph=True)
    (y * y).sum().backward()
    return y.grad, w.grad, y.retains_grad, w.retains_grad


def chosen_inputs(lib, log):
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    node = accumulator(w)
    node.register_prehook(log.hook("leaf pre"))
    node.register_hook(log.hook("leaf post"))
    w.register_hook(log.hook("leaf tensor", lambda g: g + 1))
    w.register_post_accumulate_grad_hook(log.hook("accumulated"))
    y = w * 2
    y.register_hook(log.hook("tensor", lambda g: g * 10))
    y.grad_fn.register_prehook(log.hook("pre"))
    y.grad_fn.register_hook(log.hook("post"))
    y.retain_grad()
    loss = (y * 3).sum()
    found = []
    for inputs in ([y, w], [y], [w], [lib.autograd.graph.get_gradient_edge(y)]):
        found.append(lib.autograd.grad(loss, inputs, retain_graph=True))
        log.append(("then", plain(y.grad)))
    for inputs in (w, [y], [w, y]):
        loss.backward(inputs=inputs, retain_graph=True)
        log.append(("then", plain([y.grad, w.grad])))
    return found


def written_in_place(lib, log):
    leaf = lib.zeros(4, requires_grad=True)
    x = leaf * 1
    v = x[:2]
    v.register_hook(log.hook("view"))
    v.retain_grad()
    x.retain_grad()
    x.register_hook(log.hook("before"))
    x.add_(1)
    x.register_hook(log.hook("after"))
    (v * 2).sum().backward()
    y = leaf * 1
    y.register_hook(log.hook("before"))
    y.retain_grad()
    y.mul_(3)
    y.register_hook(log.hook("after"))
    y.sum().backward()
    z = leaf * 1
    z.retain_grad()
    z[1:].mul_(3)
    (z * z).sum().backward()
    return v.grad, x.grad, y.grad, y.retains_grad, z.grad, leaf.grad


def leaf_written_in_place(lib, log):
    x = lib.ones(2, requires_grad=True)
    x.register_hook(log.hook("leaf"))
    with lib.no_grad():
        x.mul_(2)
    (x * x).sum().backward()
    return x.grad


def hooks_that_write(lib, log):
    a = lib.ones(2, requires_grad=True)
    y = a * 2
    y.register_hook(lambda g: (g.mul_(5), None)[1])
    y.register_hook(log.hook("next"))
    (y * y).sum().backward()
    return a.grad


def removed_and_added(lib, log):
    x = lib.ones(2, requires_grad=True)
    handles = []
    y = x * 2
    handles.append(y.register_hook(lambda g: handles[0].remove()))
    handles.append(y.register_hook(log.hook("kept")))
    y.register_hook(lambda g: (y.register_hook(log.hook("added")), None)[1])
    y.sum().backward(retain_graph=True)
    log.append("again")
    y.sum().backward(retain_graph=True)
    with x.register_hook(log.hook("within")):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad


def gradients_released_at_once(lib, log):
    x, w = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)

    def step(p):
        with lib.no_grad():
            p.sub_(p.grad)
        p.grad = None

    for p in (x, w):
        p.register_post_accumulate_grad_hook(step)
    (x * w * 2).sum().backward()
    return x, w, x.grad, w.grad


def several_outputs(lib, log):
    x = lib.tensor([[1.0, 5.0], [7.0, 3.0]], requires_grad=True)
    values, _ = lib.std_mean(x * 1, dim=1)
    values.register_hook(log.hook("values"))
    values.grad_fn.register_prehook(log.hook("pre"))
    values.grad_fn.register_hook(log.hook("post"))
    (values * 2).sum().backward()
    return x.grad


def multi_grad(lib, log):
    register = lib.autograd.graph.register_multi_grad_hook
    a, b, c = (lib.ones(2, requires_grad=True) for _ in range(3))
    all_of = register((a, b, c), log.hook("all"))
    any_of = register((a, b, c), log.hook("any"), mode="any")
    (a * b).sum().backward()
    (a * 2).sum().backward()
    (a + b + c).sum().backward()
    (a * c).sum().backward(inputs=[c])
    all_of.remove()
    with any_of:
        pass
    (a + b + c).sum().backward()
    y, z = a * 2, b * 3
    register([y, z], log.hook("inner"))
    lib.autograd.grad((y * z).sum(), [a], retain_graph=True)
    lib.autograd.grad((y * z).sum(), [a, b])


def what_nodes_say(lib, log):
    x = lib.ones(2, requires_grad=True)
    y = x * 2
    node = y.grad_fn
    node.metadata["mine"] = 3
    assert node.metadata is y.grad_fn.metadata
    earlier, later = (x + 1).grad_fn, (x + 1).grad_fn
    assert earlier._sequence_nr() < later._sequence_nr()
    shown = []
    for made in (
        y, x + 1, x @ x.exp(), lib.ones(2) @ x, lib.cat([x, lib.ones(2)]), x.sum(), x.exp(),
    ):  # fmt: skip
        shown.append([None if n is None else n.name().rpartition("::")[2] for n, _ in made.grad_fn.next_functions])
    edge = lib.autograd.graph.get_gradient_edge(y)
    return shown, node.metadata, node.name(), edge.node is node, edge.output_nr, accumulator(x).variable is x


def doubling(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    return Double


def views_that_are_written(lib, log):
    """The gradient of what a view showed before a write through it goes to the base past the hooks of the view."""
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    found = []
    for number, write in enumerate((
        lambda v: v.mul_(3), lambda v: v[0].mul_(3), lambda v: v.add_(v), doubling(lib).apply,
        lambda v: v.__setitem__(0, 5.0),
    )):  # fmt: skip
        a = w * 2
        v = a[:1]
        v.register_hook(log.hook(f"tensor {number}"))
        v.grad_fn.register_prehook(log.hook(f"node {number}"))
        v.retain_grad()
        write(v)
        (v.sum() + a.sum()).backward()
        found += [v.grad, w.grad.clone()]
    return found


def retained_and_marked_dirty(lib, log):
    w = lib.tensor([1.0, 2.0], requires_grad=True)
    a = w * 2
    a.retain_grad()
    a.sum().backward(retain_graph=True)
    doubling(lib).apply(a)
    (a * 3).sum().backward()
    return a.grad, a.retains_grad, w.grad


PROGRAMS = [
    every_kind, chosen_inputs, written_in_place, leaf_written_in_place, hooks_that_write, removed_and_added,
    gradients_released_at_once, several_outputs, multi_grad, what_nodes_say, views_that_are_written,
    retained_and_marked_dirty,
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_in_torch(program):
    import torch

    logs, results = [], []
    for lib in (torch, ja):
        logs.append(Log())
        results.append(plain(program(lib, logs[-1])))
    assert logs[1] == logs[0] and results[1] == results[0]


BAD = {
    "no tensor": ("tensor", lambda g: 3),
    "another size": ("tensor", lambda g: g[:1]),
    "prehook: no tuple": ("pre", lambda gs: 3),
    "prehook: a tensor": ("pre", lambda gs: gs[0]),
    "prehook: too many": ("pre", lambda gs: (gs[0], gs[0])),
    "prehook: another size": ("pre", lambda gs: (gs[0][:1],)),
    "prehook: nothing": ("pre", lambda gs: (None,)),
    "post: no tuple": ("post", lambda gi, go: 3),
    "post: too few": ("post", lambda gi, go: ()),
    "post: nothing": ("post", lambda gi, go: (None, None)),
    "post: another size": ("post", lambda gi, go: (gi[0][:1], None)),
    "leaf: something": ("accumulated", lambda p: 3),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", BAD)
def test_what_hooks_may_return_is_as_in_torch(case):
    import torch

    kind, hook = BAD[case]

    def run(lib):
        w = lib.ones(2, requires_grad=True)
        y = w * 2
        register = {
            "tensor": lambda: y.register_hook(hook),
            "pre": lambda: y.grad_fn.register_prehook(hook),
            "post": lambda: y.grad_fn.register_hook(hook),
            "accumulated": lambda: w.register_post_accumulate_grad_hook(hook),
        }
        register[kind]()
        try:
            y.sum().backward()
        except (RuntimeError, TypeError) as error:
            return isinstance(error, TypeError), plain(w.grad)
        return plain(w.grad)

    assert run(ja) == run(torch)


def test_a_hook_keeps_the_dtype():
    y = ja.ones(2, requires_grad=True) * 2
    y.register_hook(lambda g: g.to(ja.float16))
    with pytest.raises(errors.HookResultError, match=r"changed the type of value \(was float32 got float16\)"):
        y.sum().backward()


@pytest.mark.oracle
def test_where_hooks_cannot_be_registered_is_as_in_torch():
    import torch

    def run(lib):
        w = lib.ones(2, requires_grad=True)
        calls = [
            lambda: (w * 2).register_post_accumulate_grad_hook(print),
            lambda: lib.zeros(2).register_post_accumulate_grad_hook(print),
            lambda: lib.zeros(2).register_hook(print),
            lambda: lib.zeros(2).retain_grad(),
            lambda: lib.autograd.graph.get_gradient_edge(lib.zeros(2)),
            lambda: (w * 2).sum().backward(inputs=[]),
            lambda: (w * 2).sum().backward(inputs=[lib.zeros(2)]),
            lambda: lib.autograd.graph.register_multi_grad_hook((w,), print, mode="some"),
        ]
        words = []
        for call in calls:
            with pytest.raises((RuntimeError, ValueError)) as raised:
                call()
            words.append((str(raised.value)[:40], isinstance(raised.value, ValueError)))
        (w * 2).sum().backward(inputs=[lib.ones(2, requires_grad=True)])
        return words, w.grad

    assert run(ja) == run(torch)


def test_retaining_makes_no_cycle():
    w = ja.ones(2, requires_grad=True)
    y = w * 2
    y.retain_grad()
    gone = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()


def random_program(lib, seed, log):
    """A random program with hooks, writes, views, retained gradients and several backwards."""
    rng = random.Random(seed)
    leaves = [lib.tensor([1.0 + i, 2.0, -1.0, 0.5], requires_grad=True) for i in range(3)]
    values = [leaf * 1 for leaf in leaves]
    handles, retained = [], []

    def register(count):
        kind = rng.choice(["tensor", "tensor", "change", "pre", "post", "leaf", "accumulated", "leaf pre", "leaf post"])
        tensor, leaf = rng.choice(values), rng.choice(leaves)
        hook = log.hook(f"{kind} {count}")
        match kind:
            case "tensor":
                handles.append(tensor.register_hook(hook))
            case "change":
                handles.append(tensor.register_hook(log.hook(f"{kind} {count}", lambda g: g * 2)))
            case "pre":
                handles.append(tensor.grad_fn.register_prehook(hook))
            case "post":  # what views get beside gradients differs
                handles.append(tensor.grad_fn.register_hook(lambda gi, go: log.append((f"post {count}", plain(go)))))
            case "leaf":
                handles.append(leaf.register_hook(hook))
            case "accumulated":
                handles.append(leaf.register_post_accumulate_grad_hook(lambda p: log.append((count, plain(p.grad)))))
            case "leaf pre":
                nodes.append(accumulator(leaf))
                handles.append(nodes[-1].register_prehook(hook))
            case "leaf post":
                nodes.append(accumulator(leaf))
                handles.append(nodes[-1].register_hook(hook))

    nodes = []
    for count in range(16):
        a, b = rng.choice(values), rng.choice(values)
        match rng.randrange(9):
            case 0:
                values.append(a.clone() * b.clone())
            case 1:
                values.append(a + b)
            case 2:
                values.append(a.clone().abs() + 1)
            case 3:
                a.add_(b.detach())
            case 4:
                a[1:3].mul_(0.5)
            case 5:
                a.retain_grad()
                retained.append(a)
            case 6 if handles:
                rng.choice(handles).remove()
            case _:
                register(count)
    loss = sum((value.sum() for value in values[1:]), values[0].sum())
    for _ in range(2):
        match rng.randrange(4):
            case 0:
                loss.backward(inputs=rng.sample(leaves, 2) + rng.sample(values, 1), retain_graph=True)
            case 1:
                log.append(plain(lib.autograd.grad(loss, rng.sample(leaves, 2), retain_graph=True)))
            case _:
                loss.backward(retain_graph=True)
    return [plain(t.grad) for t in (*leaves, *retained)]


@pytest.mark.oracle
@pytest.mark.parametrize("seed", seeds(40, 12))
def test_random_programs_as_in_torch(seed):
    import torch

    def found(lib):
        log = Log()
        grads = random_program(lib, seed, log)
        # the order among independent nodes is the engine's own
        return sorted(map(repr, log)), grads

    assert found(ja) == found(torch)


# -- compiled calls ----------------------------------------------------------------------------------------------------


def around_a_call(fn, log):
    """Hooks of every kind on what a call takes, returns and writes."""
    w = ja.tensor([1.0, 2.0], requires_grad=True)
    node = accumulator(w)
    node.register_prehook(log.hook("leaf pre"))
    node.register_hook(log.hook("leaf post"))
    w.register_hook(log.hook("leaf tensor", lambda g: g * 2))
    w.register_post_accumulate_grad_hook(log.hook("accumulated"))
    x, y = w * 2, w * 3
    x.retain_grad()
    x.register_hook(log.hook("input", lambda g: g + 1))
    x.grad_fn.register_prehook(log.hook("input pre"))
    y.retain_grad()
    y.register_hook(log.hook("written, before"))
    first, second = fn(x, y)
    assert y.retains_grad
    y.register_hook(log.hook("written, after"))
    first.retain_grad()
    first.register_hook(log.hook("output", lambda g: g * 10))
    ja.autograd.graph.register_multi_grad_hook([first, w], log.hook("both"))
    (first * y).sum().backward(retain_graph=True)
    log.append(plain(ja.autograd.grad((first + second + y).sum(), [x, first], retain_graph=True)))
    (first + second).sum().backward(inputs=[x, w])
    return plain([w.grad, x.grad, y.grad, first.grad])


def test_hooks_around_a_compiled_call_run_as_around_the_function():
    def fn(x, y):
        first = (x * y).sin()
        y.mul_(x)
        return first, x.exp()

    logs, results = [], []
    for run in (fn, ja.compile(fn)):
        for _ in range(2):
            logs.append(Log())
            results.append(around_a_call(run, logs[-1]))
    for log, result in zip(logs, results, strict=True):
        np.testing.assert_allclose(np.array(result), np.array(results[0]), rtol=1e-5)
        assert [entry[0] for entry in log if isinstance(entry, tuple)] == [
            entry[0] for entry in logs[0] if isinstance(entry, tuple)
        ]


def test_hooks_on_an_output_that_gets_no_gradient_are_not_called():
    seen, x = [], ja.ones(2, requires_grad=True)
    first, second = ja.compile(lambda x: (x * 2, x * 3))(x)
    second.register_hook(seen.append)
    first.sum().backward()
    assert not seen and x.grad.tolist() == [2, 2]


def test_hooks_of_a_backward_inside_are_part_of_the_graph():
    w = ja.ones(2, requires_grad=True)

    def step(x):
        h = w * x
        handle = h.register_hook(lambda g: g * 10)
        node = h.grad_fn.register_prehook(lambda gs: (gs[0] + 1,))
        (h * h).sum().backward()
        handle.remove()
        node.remove()

    compiled = ja.compile(step)
    compiled(ja.ones(2))
    compiled(ja.ones(2))
    (again,) = (g.tolist() for g in [w.grad])
    w.grad = None
    step(ja.ones(2))
    step(ja.ones(2))
    assert again == w.grad.tolist() == [42, 42] and w._hooks is None


KEPT = {
    "a count": lambda g, log: len(log),
    "a value": lambda g, log: g.sum().item(),
    "a tensor": lambda g, log: g.sum(),
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kind", ["register_hook", "register_post_accumulate_grad_hook"])
def test_what_a_hook_of_a_leaf_does_to_python_is_done_at_each_call(kind, kept):
    found = []
    for compiles in (False, True):
        w, log, counts = ja.ones(2, requires_grad=True), [], {"n": 0}

        def hook(g, log=log, counts=counts):
            log.append(KEPT[kept](g, log))
            counts["n"] += 1

        def step(x, w=w):
            w.grad = None
            (x * w).sum().backward()

        getattr(w, kind)(hook)
        run = ja.compile(step) if compiles else step
        for n in range(1, 4):
            run(ja.ones(2) * n)
        found.append(([float(value) for value in log], counts["n"], w.grad.tolist()))
    assert found[0] == found[1] and found[1][1] == 3


@pytest.mark.slow
def test_hooks_that_look_at_leaves_are_part_of_the_graph_and_guarded():
    w = ja.ones(2, requires_grad=True)

    @ja.compile
    def step(x):
        (x * w).sum().backward()

    def descend(p):
        with ja.no_grad():
            p.sub_(p.grad * 0.5)
        p.grad = None

    handle = w.register_post_accumulate_grad_hook(descend)
    for n in (1, 2):
        step(ja.ones(2))
        assert w.tolist() == [1 - n / 2] * 2 and w.grad is None
    handle.remove()
    node = accumulator(w)
    node.register_prehook(lambda gs: (gs[0] * 3,))
    step(ja.ones(2))
    assert w.grad.tolist() == [3, 3]


LASTING = {
    "on a value": lambda x, w: (x * w).register_hook(print),
    "on a view": lambda x, w: (x * w)[1:].register_hook(print),
    "on its node": lambda x, w: (x * w).grad_fn.register_hook(print),
    "on a leaf": lambda x, w: w.register_hook(print),
    "on a leaf, later": lambda x, w: w.register_post_accumulate_grad_hook(print),
    "on an argument": lambda x, w: x.register_hook(print),
    "kept gradients of an argument": lambda x, w: x.retain_grad(),
}


@pytest.mark.parametrize("case", LASTING)
def test_hooks_that_would_outlive_the_call_are_refused_and_nothing_is_changed(case):
    w = ja.ones(2, requires_grad=True)
    x = w * 1

    def fn(x):
        LASTING[case](x, w)
        return x * 1

    def on_a_value(x):
        y = x * w if case == "on a value" else (x * w)[1:]
        y.register_hook(print)
        return y.sum()

    whole = functools.partial(ja.compile, fullgraph=True)
    for run in (ja.func.functionalize,) if case == "on a value" else (whole,):
        with pytest.raises(errors.LastingHookError, match=r"test_hooks\.py:\d+"):
            run(on_a_value if "v" in case[-5:] else fn if "node" not in case else on_its_node(w))(x)
        assert w._hooks is None or not w._hooks
        assert not x.retains_grad and (x.grad_fn.hooks is None or not any(x.grad_fn.hooks.tensor.values()))
    assert ja.compile(lambda x: x * 2)(x).tolist() == [2, 2]


def on_its_node(w):
    def fn(x):
        y = x * w
        y.grad_fn.register_hook(print)
        return y.exp()

    return fn


def scanned(x):
    def iteration(c, _):
        y = c * 2
        y.register_hook(lambda g: g * 3)
        return y.clone(), y.sum()

    return ja.scan(iteration, x, None, length=3)[0]


def branched(x):
    def one(x):
        y = x.sin()
        y.register_hook(lambda g: g * 3)
        return y * 2

    return ja.cond(x.sum() > 0, one, lambda x: x * 5, (x,))


INSIDE = {
    "scan": lambda x, net: scanned(x), "cond": lambda x, net: branched(x),
    "map": lambda x, net: ja.map(lambda row: hooked(row * 2), x.view(2, 1)),
    "a module in a scan": lambda x, net: ja.scan(lambda c, _: (net(c), c.sum()), x, None, length=2)[0],
}  # fmt: skip


def hooked(y):
    y.register_hook(lambda g: g * 3)
    return y.exp()


@pytest.mark.parametrize("name", INSIDE)
def test_hooks_inside_of_loops_and_branches_run_in_parts(name):
    net, gradients = ja.nn.Linear(2, 2), []
    net.register_full_backward_hook(lambda module, given, arrived: (given[0] * 3,))
    fn = lambda x: INSIDE[name](x, net)
    with pytest.raises(errors.LastingHookError, match="not inside of `scan` or `cond`"):
        ja.compile(fn, fullgraph=True)(ja.ones(2, requires_grad=True) * 1)
    with pytest.warns(errors.RecompileWarning, match="a hook on a gradient"):
        for run in (fn, ja.compile(fn)):
            for scale in (1.0, 2.0):
                x = (ja.ones(2) * scale).requires_grad_()
                run(x).sum().backward()
                gradients.append(x.grad.numpy())
    np.testing.assert_allclose(gradients[:2], gradients[2:], rtol=1e-6)


def test_hooks_are_taken_away_where_they_were_registered():
    x = ja.ones(2, requires_grad=True) * 1
    handle = x.register_hook(print)

    def fn(x):
        handle.remove()
        return x * 2

    with pytest.raises(errors.LastingHookError, match="takes away a hook"):
        ja.compile(fn, fullgraph=True)(x)
    assert x.grad_fn.hooks.tensor[0]
    with pytest.warns(errors.RecompileWarning, match="a hook is taken away"):
        ja.compile(fn)(x)
    assert not x.grad_fn.hooks.tensor[0]


def test_callbacks_run_when_the_backward_has_ended():
    log = []
    x = ja.ones(2, requires_grad=True)
    queue = ja.autograd.graph.queue_callback

    def first():
        log.append(("first", x.grad.tolist()))
        queue(lambda: log.append("last"))

    def hook(gradient):
        queue(first)
        queue(lambda: log.append("second"))
        log.append("hook")

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert log == ["hook", ("first", [2, 2]), "second", "last"]
    (x * 2).sum().backward()  # another backward has none
    assert len(log) == 4


def test_callbacks_are_those_of_the_innermost_backward():
    log = []
    queue = ja.autograd.graph.queue_callback

    def inner(gradient):
        queue(lambda: log.append("inner"))

    def outer(gradient):
        queue(lambda: log.append("outer"))
        with ja.enable_grad():
            z = ja.ones(1, requires_grad=True) * 2
            z.register_hook(inner)
            z.backward()
        log.append("after the inner one")

    y = ja.ones(1, requires_grad=True) * 2
    y.register_hook(outer)
    y.backward()
    assert log == ["inner", "after the inner one", "outer"]


def test_callbacks_need_a_backward_that_python_runs():
    with pytest.raises(errors.AutogradError, match="only be installed during backward pass"):
        ja.autograd.graph.queue_callback(print)
    calls = []

    def fn(x):
        y = x * 2
        y.register_hook(lambda g: ja.autograd.graph.queue_callback(lambda: calls.append(1)))
        return ja.autograd.grad(y.sum(), x)[0]

    with pytest.raises(errors.EagerOnlyError, match="queues a callback"):
        ja.trace(fn, ja.ones(2, requires_grad=True))
    assert not calls


def test_callbacks_of_a_failed_backward_are_dropped():
    calls = []
    y = ja.ones(1, requires_grad=True) * 2
    z = y * 3

    def fails(gradient):
        raise KeyError("from a hook")

    z.register_hook(lambda g: ja.autograd.graph.queue_callback(lambda: calls.append(1)))
    y.register_hook(fails)
    with pytest.raises(KeyError):
        z.backward()
    (ja.ones(1, requires_grad=True) * 2).backward()
    assert not calls
