"""aot_function and aot_module: compilers and partition functions of the user, and what a call does with them."""

import functools
import logging

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors

as_function = jax.extend.core.jaxpr_as_fun


class Recorder:
    """A compiler that notes which graphs it got."""

    def __init__(self, kind="graph", log=None):
        self.kind, self.log = kind, [] if log is None else log

    def __call__(self, jaxpr, example_avals):
        assert [(a.shape, a.dtype) for a in example_avals] == [(a.shape, a.dtype) for a in jaxpr.in_avals]
        self.log.append((self.kind, len(jaxpr.in_avals), len(jaxpr.out_avals)))
        return jax.jit(as_function(jaxpr))


def three(log):
    kinds = {"fw_compiler": "forward", "bw_compiler": "backward", "inference_compiler": "inference"}
    return {argument: Recorder(kind, log) for argument, kind in kinds.items()}


def program(x, w, buffer):
    """Writes, a view of an argument, an alias pair, a gradient through a write."""
    y = x @ w
    y[0].mul_(2)
    buffer.add_(y.detach().sum(0))
    return y.tanh().sum(), buffer.view(-1), y, y[1:]


def arguments():
    return ja.randn(3, 4), ja.randn(4, 2, requires_grad=True), ja.zeros(2)


# -- compilers ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_compilers_are_called_once_for_each_kind_of_call_and_the_backward_lazily():
    log = []
    fn = ja.aot.aot_function(program, **three(log))
    x, w, buffer = arguments()
    for _ in range(3):
        loss = fn(x, w, buffer)[0]
        assert [kind for kind, *_ in log] == ["forward"]
    loss.backward()
    fn(x, w, buffer)[0].backward()
    assert [kind for kind, *_ in log] == ["forward", "backward"]
    with ja.no_grad():
        fn(x, w, buffer)
        fn(x, w, buffer)
    assert [kind for kind, *_ in log] == ["forward", "backward", "inference"]
    assert log[0][1] == 3  # one input for each storage


@pytest.mark.parametrize("change", ["shape", "dtype", "requires_grad", "alias", "static", "grad mode"])
def test_a_call_that_differs_is_compiled_again(change):
    log = []
    fn = ja.aot.aot_function(lambda x, y, n: (x * y * n).sum(), **three(log))
    x, y = ja.ones(3), ja.ones(3, requires_grad=True)
    assert fn(x, y, 2).item() == 6
    match change:
        case "shape":
            assert fn(ja.ones(4), ja.ones(4, requires_grad=True), 2).item() == 8
        case "dtype":
            assert fn(ja.ones(3, dtype=ja.int32), y, 2).item() == 6
        case "requires_grad":
            assert not fn(x, ja.ones(3), 2).requires_grad
        case "alias":
            fn(y, y, 2).backward()
            assert y.grad.tolist() == [4, 4, 4]
        case "static":
            assert fn(x, y, 3).item() == 9
        case "grad mode":
            with ja.no_grad():
                assert not fn(x, y, 2).requires_grad
    assert len([entry for entry in log if entry[0] != "backward"]) == 2
    assert fn(x, y, 2).item() == 6 and fn.cache_info().misses == 2


def run(fn, seed=0):
    """Returns everything that one can see of two calls of `fn`, as lists."""
    ja.manual_seed(seed)
    x, w, buffer = arguments()
    seen = []
    for _ in range(2):
        loss, flat, y, part = fn(x, w, buffer)
        part.mul_(3)  # shares memory with y
        (loss + y.sum()).backward()
        seen += [t.tolist() for t in (loss, flat, y, part, buffer, w.grad)]
        seen += [flat._base is buffer, part.untyped_storage() is y.untyped_storage(), buffer._version, y.requires_grad]
    return seen


def assert_equal(got, wanted):
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


COMPILERS = {
    "equations": lambda jaxpr, avals: as_function(jaxpr),
    "jit": lambda jaxpr, avals: jax.jit(as_function(jaxpr)),
    "tuple": lambda jaxpr, avals: lambda *args: tuple(as_function(jaxpr)(*args)),
    "numpy": lambda jaxpr, avals: lambda *args: [np.asarray(x) for x in as_function(jaxpr)(*args)],
    "xla": "xla",
    "interpret": "interpret",
}
PARTITIONS = {
    "default": ja.aot.default_partition,
    "min_cut": ja.aot.min_cut_rematerialization_partition,
    "budget": functools.partial(ja.aot.min_cut_rematerialization_partition, memory_budget=0.0),
    "partition": lambda joint: joint.partition("save_nothing"),
    "arguments": lambda joint, avals, *, num_fwd_outputs: ja.aot.default_partition(
        joint, avals, num_fwd_outputs=num_fwd_outputs
    ),
    "more arguments": lambda joint, *rest, **options: ja.aot.default_partition(joint, *rest, **options),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_any_compiler_gives_what_eager_gives(compiler):
    assert_equal(run(ja.aot.aot_function(program, COMPILERS[compiler])), run(program))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_any_partition_gives_what_eager_gives(partition):
    assert_equal(run(ja.aot.aot_function(program, "interpret", partition_fn=PARTITIONS[partition])), run(program))


def test_what_a_compiler_returns_may_be_held_by_others():
    kept = jnp.ones(3)
    fn = ja.aot.aot_function(lambda x: (x.clone(), x * 0 + 1), lambda jaxpr, avals: lambda x: [x, kept])
    x = ja.zeros(3)
    same, ones = fn(x)
    for t in (same, ones, x):
        t.add_(1)  # nothing of it may be donated
    assert [t.tolist() for t in (same, ones, x)] == [[1] * 3, [2] * 3, [1] * 3]
    assert kept.tolist() == [1, 1, 1] and fn(x)[1].tolist() == [1, 1, 1]


def test_a_backend_by_name_reuses_the_buffers_of_what_is_written():
    fn = ja.aot.aot_function(lambda cache, new: cache[1:2].copy_(new), "xla")
    cache = ja.zeros(4, 1024)
    fn(cache, ja.ones(1, 1024))
    before = cache._storage.array.unsafe_buffer_pointer()
    fn(cache, ja.ones(1, 1024))
    assert cache._storage.array.unsafe_buffer_pointer() == before and cache[1, 0].item() == 1


def test_a_program_of_functorch():
    """`test_aot_export_simplified_basic` and TestPythonKey's programs, as calls."""
    fn = lambda x, y: (x * y, y * y.detach())
    x, y = ja.randn(2, requires_grad=True), ja.randn(2, requires_grad=True)
    for loss in (sum(fn(x, y)), sum(ja.aot.aot_function(fn, "interpret")(x, y))):
        x.grad = y.grad = None
        loss.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.detach().numpy())
        np.testing.assert_allclose(y.grad.numpy(), (x + y).detach().numpy(), rtol=1e-6)


def test_pytrees_keywords_and_constants():
    fn = ja.aot.aot_function(lambda d, *, k=None: {"a": d["x"] * d["y"][0], "k": k, "n": 3}, "interpret")
    x = ja.ones(2, requires_grad=True)
    got = fn({"x": x, "y": (ja.ones(2) * 2,)}, k="mode")
    assert got["a"].tolist() == [2, 2] and got["k"] == "mode" and got["n"] == 3
    got["a"].sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_tensors_reached_without_being_passed_are_inputs():
    w = ja.ones(3, requires_grad=True)
    log = []
    fn = ja.aot.aot_function(lambda x: (x * w).sum(), Recorder("graph", log))
    fn(ja.ones(3)).backward()
    with ja.no_grad():
        w.add_(1)
    assert fn(ja.ones(3)).item() == 6 and w.grad.tolist() == [1, 1, 1]
    assert log[0][1] == 2 and len(log) == 2


def test_random_numbers_are_those_of_eager():
    drop = ja.nn.functional.dropout
    fn = ja.aot.aot_function(lambda x: drop(x) * drop(x), "interpret")
    x = ja.ones(64, requires_grad=True)
    ja.manual_seed(1)
    wanted = [(drop(x) * drop(x)).tolist() for _ in range(2)]
    ja.manual_seed(1)
    assert [fn(x).tolist() for _ in range(2)] == wanted


def test_inlined_in_other_traces():
    log = []
    inner = ja.aot.aot_function(lambda x: x.mul_(2), Recorder("graph", log))
    assert ja.compile(lambda x: inner(x) + 1)(ja.ones(2)).tolist() == [3, 3]
    assert ja.aot.aot_function(inner, "interpret")(ja.ones(2)).tolist() == [2, 2]
    assert ja.aot.aot_function(ja.compile(lambda x: x + 1), "interpret")(ja.ones(2)).tolist() == [2, 2]
    assert log == []


def test_the_function_keeps_its_name_and_shows_its_stages():
    fn = ja.aot.aot_function(program, "interpret", partition_fn=lambda joint: joint.partition("save_nothing"))
    assert fn.__name__ == "program" and "Writes" in fn.__doc__
    assert "recomputes" in str(fn.explain(*arguments()))
    assert len(fn.trace(*arguments()).jaxpr.in_avals) == 3


def test_graphs_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, "jaxaot.aot"):
        ja.aot.aot_function(program, "interpret", enable_log=False)(*arguments())
        assert not caplog.records
        ja.aot.aot_function(program, "interpret")(*arguments())
        with ja.no_grad():
            ja.aot.aot_function(program, "interpret")(*arguments())
    joint, inference = (record.getMessage() for record in caplog.records)
    assert joint.startswith("joint(") and "backward(" in joint and inference.startswith("traced(")


def test_a_cleared_cache_compiles_again():
    log = []
    fn = ja.aot.aot_function(lambda x: x.sin(), Recorder(log=log))
    fn(ja.ones(2))
    ja.aot.clear_compile_cache()
    assert fn.cache_info() == (0, 0, 0)
    fn(ja.ones(2))
    assert len(log) == 2


# -- decompositions ----------------------------------------------------------------------------------------------------


def primitives(jaxpr):
    return {eqn.primitive.name for eqn in jaxpr.eqns}


def test_decompositions_are_of_both_graphs():
    graphs = []
    table = {
        "tanh": lambda x, **_: (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-x)),
        jax.lax.integer_pow_p: lambda x, *, y: functools.reduce(jnp.multiply, [x] * y),
    }

    def keep(jaxpr, avals):
        graphs.append(jaxpr)
        return as_function(jaxpr)

    fn = lambda x: (x.tanh() ** 2).sum()
    decomposed = ja.aot.aot_function(fn, keep, decompositions=table)
    x = ja.tensor([0.1, 0.2, 0.3], requires_grad=True)
    decomposed(x).backward()
    wanted = x.grad.tolist()
    x.grad = None
    fn(x).backward()
    np.testing.assert_allclose(wanted, x.grad.numpy(), rtol=1e-5)
    with ja.no_grad():
        decomposed(x)
    assert len(graphs) == 3 and not {"tanh", "integer_pow"} & set().union(*map(primitives, graphs))


def test_decompositions_reach_into_loops():
    def loop(x):
        return ja.interop.from_jax(jax.lax.fori_loop(0, 3, lambda _, c: jnp.sin(c), x.jax()))

    graphs = []
    keep = lambda jaxpr, avals: graphs.append(jaxpr) or as_function(jaxpr)
    fn = ja.aot.aot_function(loop, keep, decompositions={"sin": lambda x, **_: jnp.cos(x - np.pi / 2)})
    np.testing.assert_allclose(fn(ja.ones(2)).numpy(), np.sin(np.sin(np.sin(np.ones(2)))), rtol=1e-5)
    assert " sin " not in str(graphs[0]) and " cos " in str(graphs[0])


def test_a_decomposition_that_leaves_some_equations():
    graphs = []
    keep = lambda jaxpr, avals: graphs.append(jaxpr) or as_function(jaxpr)
    table = {"sin": lambda x, **_: NotImplemented if x.ndim else jnp.cos(x - np.pi / 2)}
    fn = ja.aot.aot_function(lambda x: x.sin() + x.sum().sin(), keep, decompositions=table)
    np.testing.assert_allclose(fn(ja.ones(2)).numpy(), np.sin(np.ones(2)) + np.sin(2), rtol=1e-5)
    (graph,) = graphs
    assert sum(eqn.primitive.name == "sin" for eqn in graph.eqns) == 1 and "cos" in primitives(graph)


def test_a_decomposition_of_another_type():
    fn = ja.aot.aot_function(lambda x: x.sin(), "interpret", decompositions={"sin": lambda x, **_: x[:1]})
    with pytest.raises(errors.DecompositionError, match=r"`sin` returns \(f32\[1\]\) where the equation makes \(f32\["):
        fn(ja.ones(2))
    assert fn.cache_info().currsize == 0


# -- what is refused, and leaves everything as it was ------------------------------------------------------------------

BAD_COMPILERS = {
    "no function": (lambda jaxpr, avals: None, "`fw_compiler` returned a NoneType"),
    "one array": (lambda jaxpr, avals: lambda *args: args[0], "not a list of arrays"),
    "too few": (lambda jaxpr, avals: lambda *args: [], "gave 0 values instead of"),
    "another shape": (
        lambda jaxpr, avals: lambda *args: [x[None] for x in as_function(jaxpr)(*args)],
        r"value 0 is float32\[1.*instead of f32\[",
    ),
    "no array": (lambda jaxpr, avals: lambda *args: [object() for _ in jaxpr.out_avals], "a object as value 0"),
}


@pytest.mark.parametrize("name", BAD_COMPILERS)
def test_a_compiler_that_compiles_something_else(name):
    compiler, words = BAD_COMPILERS[name]
    fn = ja.aot.aot_function(lambda x: x.mul_(2), compiler)
    x = ja.ones(3)
    with pytest.raises(errors.CompilerResultError, match=words):
        fn(x)
    assert x.tolist() == [1, 1, 1] and x._version == 0 and fn.cache_info().currsize == 0


def test_a_compiler_that_fails():
    def fails(jaxpr, avals):
        raise KeyError("cannot")

    x = ja.ones(3, requires_grad=True)
    buffer = ja.zeros(3)
    fn = lambda x, buffer: (x * buffer.add_(1)).sin().sum()
    with pytest.raises(KeyError):
        ja.aot.aot_function(fn, fails)(x, buffer)
    assert buffer.tolist() == [0, 0, 0]
    attempts = []

    def fails_at_first(jaxpr, avals):
        attempts.append(jaxpr)
        return fails(jaxpr, avals) if len(attempts) == 1 else as_function(jaxpr)

    loss = ja.aot.aot_function(fn, "interpret", fails_at_first)(x, buffer)
    with pytest.raises(KeyError):
        loss.backward()
    assert x.grad is None
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.ones(3)), rtol=1e-6)


def test_a_partition_function_that_returns_something_else():
    def attempt(partition_fn, words):
        fn = ja.aot.aot_function(lambda x: x.sin().exp().sum(), "interpret", partition_fn=partition_fn)
        with pytest.raises(errors.PartitionResultError, match=words):
            fn(ja.ones(3, requires_grad=True))
        assert fn.cache_info().currsize == 0

    attempt(lambda joint: None, "returned a NoneType")
    attempt(lambda joint: (1, 2), "the forward is a int, not a ClosedJaxpr\n.*the backward is a int")
    swapped = lambda joint: ja.aot.default_partition(joint)[::-1]
    attempt(swapped, r"the forward takes \(.*the primals are \(f32\[3\]\)")
    attempt(lambda joint: ja.aot.default_partition(joint, num_fwd_outputs=7), "num_fwd_outputs is 7, but 1")


def test_options_without_a_meaning_here():
    for options, words in [
        ({"dynamic": True}, "each size is compiled once"),
        ({"disable_functionalization": True}, "A jaxpr is functional"),
        ({"num_params_buffers": -1}, "0 or more"),
    ]:
        with pytest.raises(errors.OptionError, match=words):
            ja.aot.aot_function(program, "interpret", **options)
    with pytest.raises(errors.CompilerResultError, match="`bw_compiler` is a int"):
        ja.aot.aot_function(program, "interpret", 3)
    with pytest.raises(errors.CompilerError, match="no backend 'tvm'"):
        ja.aot.aot_function(program, "tvm")


def test_an_error_in_the_function_leaves_what_it_leaves_eagerly():
    def fn(x):
        x.add_(1)
        raise ValueError("inside")

    x = ja.ones(2)
    compiled = ja.aot.aot_function(fn, "interpret")
    with pytest.raises(ValueError, match="inside"):
        compiled(x)
    assert x.tolist() == [2, 2] and x._version == 1 and compiled.cache_info().currsize == 0


# -- partition functions -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_pieces_of_a_partition_compute_the_gradients():
    def fn(x, w):
        return (x @ w).tanh().exp(), x.sum()

    x, w = ja.randn(3, 4, requires_grad=True), ja.randn(4, 2, requires_grad=True)
    joint = ja.trace(fn, x, w).joint()
    out = fn(x, w)
    cts = [ja.randn(3, 2), ja.randn(())]
    wanted = [g.numpy() for g in ja.autograd.grad(out, [x, w], cts)]
    sizes = {}
    for cut in (ja.aot.default_partition, ja.aot.min_cut_rematerialization_partition):
        forward, backward = cut(joint, num_fwd_outputs=2)
        values = as_function(forward)(x.detach().jax(), w.detach().jax())
        np.testing.assert_allclose(values[0], out[0].detach().numpy(), rtol=1e-5)
        gradients = as_function(backward)(*values[2:], *(ct.jax() for ct in cts))
        for got, gradient in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(got, gradient, rtol=1e-5)
        sizes[cut] = sum(v.nbytes for v in values[2:])
    assert sizes[ja.aot.min_cut_rematerialization_partition] <= sizes[ja.aot.default_partition]
    _, gradients = joint([x, w], cts)
    np.testing.assert_allclose(gradients[1], wanted[1], rtol=1e-5)


def test_the_joint_graph_is_called_with_lists():
    x, n = ja.ones(3, requires_grad=True), ja.ones(3)
    joint = ja.trace(lambda x, n: x.sin() * n, x, n).joint()
    outputs, gradients = joint([x, n], [jnp.ones(3)])
    assert gradients[1] is None and np.allclose(gradients[0], np.cos(1)) and len(outputs) == 1
    with pytest.raises(errors.SignatureMismatchError):
        joint([x, n], [])


@pytest.mark.slow
def test_memory_efficient_fusion_saves_less():
    def fn(x):
        for _ in range(6):
            x = x.sin().cos()
        return x.sum()

    x = ja.randn(64, requires_grad=True)
    fused = ja.aot.memory_efficient_fusion(fn)
    fused(x).backward()
    got, x.grad = x.grad.numpy(), None
    fn(x).backward()
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-4, atol=1e-6)
    saved = fused.programs[0].partition.saved_bytes
    everything = ja.aot.aot_function(fn, "xla")
    everything(x)
    assert saved < everything.programs[0].partition.saved_bytes


# -- modules -----------------------------------------------------------------------------------------------------------


class Linear:
    def __init__(self, n):
        self.weight = (ja.randn(n, n) / n).requires_grad_()
        self.calls = ja.zeros((), dtype=ja.int32)
        self.training = True
        self.n_python = 0

    def __call__(self, x):
        self.n_python += 1
        self.calls.add_(1)
        return x @ self.weight * (1 if self.training else 2)


class Net:
    def __init__(self):
        self.layers = {"first": Linear(3), "others": [Linear(3)]}
        self.layers["tied"] = self.layers["first"]
        self.scale = ja.ones(3, requires_grad=True)
        self.shared = self.scale

    def forward(self, x):
        for layer in (self.layers["first"], *self.layers["others"], self.layers["tied"]):
            x = layer(x)
        return x * self.scale


@pytest.mark.slow
def test_a_module_takes_parameters_then_buffers_then_inputs():
    log = []
    net = Net()
    module = ja.aot.aot_module(net, **three(log))
    names = ["scale", "layers.first.weight", "layers.others.0.weight"]
    assert list(module.parameters) == names and module.parameters["scale"] is net.scale
    assert list(module.buffers) == ["layers.first.calls", "layers.others.0.calls"]
    x = ja.randn(2, 3)
    graph = module.trace(x)
    assert [a.shape for a in graph.jaxpr.in_avals] == [(3,), (3, 3), (3, 3), (), (), (2, 3)]
    module(x).sum().backward()
    got = {name: g.numpy() for name, g in module.gradients().items()}
    assert [t.item() for t in module.buffers.values()] == [2, 1] and log[0][:2] == ("forward", 6)
    module.zero_grad()
    assert all(g is None for g in module.gradients().values())
    net.forward(x).sum().backward()
    for name, gradient in module.gradients().items():
        np.testing.assert_allclose(got[name], gradient.numpy(), rtol=1e-5)


def test_a_module_follows_its_attributes():
    net = Net()
    module = ja.aot.aot_module(net, "interpret")
    x = ja.ones(1, 3)
    first = module(x).detach()
    for _ in range(3):
        module(x)
    assert module.cache_info().misses == 1  # a Python counter that a trace moves on is no reason to compile again
    net.layers["first"].training = False
    np.testing.assert_allclose(module(x).detach().numpy(), 4 * first.numpy(), rtol=1e-5)
    net.layers["first"].training = True
    net.scale = ja.full((3,), 10.0, requires_grad=True)
    net.shared = net.scale
    np.testing.assert_allclose(module(x).detach().numpy(), 10 * first.numpy(), rtol=1e-5)
    module(x).sum().backward()
    assert net.scale.grad is not None
    net.layers["others"].append(Linear(3))
    assert list(module.parameters) != list(ja.aot.aot_module(net, "interpret").parameters)
    module(x)
    assert len(module.parameters) == 4


def test_parameters_that_the_module_does_not_use_are_inputs_too():
    class Unused:
        def __init__(self):
            self.a, self.b = ja.ones(2, requires_grad=True), ja.ones(2, requires_grad=True)

        def __call__(self, x):
            return x * self.b

    module = ja.aot.aot_module(Unused(), "interpret")
    module(ja.ones(2)).sum().backward()
    assert len(module.trace(ja.ones(2)).jaxpr.in_avals) == 3
    assert module.gradients()["a"] is None and module.gradients()["b"].tolist() == [1, 1]


def test_tensors_of_a_module_that_share_memory():
    class Shared:
        def __init__(self):
            self.memory = ja.zeros(4)
            self.head = self.memory[:2]

        def __call__(self, x):
            self.head.add_(x)
            return self.memory.sum()

    shared = Shared()
    module = ja.aot.aot_module(shared, "interpret")
    assert [module(ja.ones(2)).item() for _ in range(2)] == [2, 4]
    assert shared.memory.tolist() == [2, 2, 0, 0] and len(module.trace(ja.ones(2)).jaxpr.in_avals) == 2


def test_modules_that_cannot_be_lifted():
    with pytest.raises(errors.ModuleLiftError, match="cannot be called"):
        ja.aot.aot_module(object(), "interpret")
    with pytest.raises(errors.ModuleLiftError, match="are those of a linen module; this is a Net"):
        ja.aot.aot_module(Net(), "interpret", variables={})
    with pytest.raises(errors.ModuleLiftError, match="Only linen modules have variables"):
        ja.aot.aot_module(Net(), "interpret").variables  # noqa: B018


def test_memory_efficient_fusion_of_a_module():
    net = Net()
    module = ja.aot.memory_efficient_fusion(net)
    assert isinstance(module, ja.aot.AotModule)
    module(ja.ones(1, 3)).sum().backward()
    assert net.scale.grad is not None


@pytest.mark.oracle
def test_a_module_trains_like_pytorch():
    import torch
    from torch._functorch.aot_autograd import aot_module
    from torch._functorch.compilers import nop

    class Theirs(torch.nn.Module):
        def __init__(self, w):
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor(w))
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            y = x @ self.w
            self.mean.mul_(0.9).add_(0.1 * y.detach().mean(0))
            return ((y - self.mean) ** 2).sum()

    class Ours:
        def __init__(self, w):
            self.w = ja.tensor(w, requires_grad=True)
            self.mean = ja.zeros(3)

        forward = Theirs.forward

    w, x = np.random.default_rng(0).normal(size=(2, 3, 3)).astype(np.float32)
    theirs, ours = Theirs(w), Ours(w)
    their_module, our_module = aot_module(theirs, nop), ja.aot.aot_module(ours, "interpret")
    for _ in range(3):
        for module, inputs, inner, no_grad in (
            (their_module, torch.tensor(x), theirs, torch.no_grad),
            (our_module, ja.tensor(x), ours, ja.no_grad),
        ):
            inner.w.grad = None
            module(inputs).backward()
            with no_grad():
                inner.w.sub_(0.01 * inner.w.grad)
    np.testing.assert_allclose(ours.w.detach().numpy(), theirs.w.detach().numpy(), rtol=1e-4)
    np.testing.assert_allclose(ours.mean.numpy(), theirs.mean.numpy(), rtol=1e-4)


@pytest.mark.few(5)
@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_storage_that_is_freed_in_the_forward(partition):
    """With a Partition the backward reads it when it is filled again; in two plain graphs its content is saved."""

    def fn(p, shard, x):
        p.untyped_storage().resize_(shard.nbytes)
        with ja.no_grad():
            p.copy_(shard)
        out = (x @ p).tanh().sum()
        p.untyped_storage().resize_(0)
        return out

    p, shard, x = ja.zeros(3, 2, requires_grad=True), ja.randn(3, 2), ja.randn(4, 3, requires_grad=True)
    p.untyped_storage().resize_(0)
    out = ja.aot.aot_function(fn, "interpret", partition_fn=PARTITIONS[partition])(p, shard, x)
    if partition == "partition":
        p.untyped_storage().resize_(shard.nbytes)
        with ja.no_grad():
            p.copy_(shard)
    out.backward()
    w, y = shard.jax(), x.detach().jax()
    wanted = jax.grad(lambda w, y: jnp.tanh(y @ w).sum(), (0, 1))(w, y)
    assert_equal([p.grad.jax(), x.grad.jax()], wanted)


def test_compilers_that_return_a_graph_or_a_function_of_a_list():
    seen = []

    def of_a_list(jaxpr, avals):
        def run(args):
            seen.append(len(args))
            return jax.extend.core.jaxpr_as_fun(jaxpr)(*args)

        run._boxed_call = True
        return run

    as_it_is = lambda jaxpr, avals: jaxpr
    for forward, backward in [
        (of_a_list, as_it_is),
        (ja.aot.make_boxed_compiler(as_it_is), ja.aot.make_boxed_compiler(of_a_list)),
        (lambda jaxpr, avals: ja.aot.make_boxed_func(jax.extend.core.jaxpr_as_fun(jaxpr)), of_a_list),
    ]:
        x = ja.ones(3, requires_grad=True)
        ja.aot.aot_function(lambda x, y: (x.sin() * y).sum(), forward, backward)(x, ja.full((3,), 2.0)).backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(1), rtol=1e-6)
    assert len(seen) == 3


def test_names_of_a_module_are_those_of_its_state_dict():
    class Model(ja.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = ja.nn.Sequential(ja.nn.Linear(3, 3), ja.nn.Linear(3, 3))
            self.layers[1].weight = self.layers[0].weight
            self.register_buffer("steps", ja.zeros(()))

        def forward(self, tokens):
            self.steps.add_(1)
            return (self.layers(tokens).sum(),)

    _, signature = ja.aot.aot_export_module(Model(), (ja.ones(2, 3),), trace_joint=True, output_loss_index=0)
    assert signature.parameters == ["layers.0.weight", "layers.0.bias", "layers.1.bias"]
    assert (signature.buffers, signature.user_inputs) == (["steps"], ["tokens"])
