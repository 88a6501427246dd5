"""aot_export_module and aot_export_joint_simple: graphs on values, and what their inputs and outputs are."""

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import _trees as pytree
from jaxaot import errors
from jaxaot.ir.sequence import sequence_rows, sequence_table
from jaxaot.ir.walk import forward_index, is_backward

F = ja.nn.functional
export = ja.aot.aot_export_module
export_simple = ja.aot.aot_export_joint_simple
as_function = jax.extend.core.jaxpr_as_fun


class Conv:
    def __init__(self, n_in, n_out, size):
        self.weight = (ja.randn(n_out, n_in, size, size) / 5).requires_grad_()
        self.bias = ja.zeros(n_out, requires_grad=True)

    def __call__(self, x):
        return F.conv2d(x, self.weight, self.bias)


class BatchNorm:
    def __init__(self, n):
        self.weight, self.bias = ja.ones(n, requires_grad=True), ja.zeros(n, requires_grad=True)
        self.running_mean, self.running_var = ja.zeros(n), ja.ones(n)
        self.num_batches_tracked = ja.tensor(0)

    def __call__(self, x):
        self.num_batches_tracked.add_(1)
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, True, 0.1)


class ConvNormRelu:
    """The model of `test_aot_export_module_joint`."""

    def __init__(self):
        self.conv, self.norm = Conv(1, 3, 1), BatchNorm(3)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        return x.sum(), x.detach()


def outputs_of(graph, *inputs):
    """Returns the outputs of a graph by name."""
    return dict(zip(graph.output_names, graph(*(inputs or graph.example_inputs)), strict=True))


def check(fn, args, *, losses=None, kwargs=None, runs_backward=False):
    """Exports a function; its graph must do to values what the function then does to tensors.

    Returns:
      The graph and its signature.
    """
    graph, signature = export(fn, args, trace_joint=losses is not None, output_loss_index=losses, kwargs=kwargs)
    assert len(graph.input_names) == len(graph.jaxpr.in_avals) == len(set(graph.input_names))
    assert len(graph.output_names) == len(graph.jaxpr.out_avals) == len(set(graph.output_names))
    tensors = [t for t in graph.example_inputs if isinstance(t, ja.Tensor)]
    before = [t._version for t in tensors]
    results = outputs_of(graph)
    assert [t._version for t in tensors] == before
    by_name = dict(zip(graph.input_names, graph.example_inputs, strict=True))
    gradients = {}
    if losses is not None:
        for t in {id(t): t for t in tensors if t.requires_grad}.values():  # where it is now, before it is written
            t.register_hook(lambda g, t=t: gradients.update({id(t): g.numpy()}))
    with ja.set_grad_enabled(losses is not None or runs_backward):
        result = fn(*args, **(kwargs or {}))
    leaves = pytree.leaves(result, lambda x: x is None)
    assert all(leaves[i] == value for i, value in signature.constant_outputs.items())
    variable = [leaf for i, leaf in enumerate(leaves) if i not in signature.constant_outputs]
    for name, tensor in zip(signature.user_outputs, variable, strict=True):
        close(results[name], tensor)
    mutated = signature.parameters_to_mutate | signature.buffers_to_mutate | signature.user_inputs_to_mutate
    for name, target in mutated.items():
        close(results[name], by_name[target])
    for target, name in signature.gradients_to_set.items():
        close(results[name], by_name[target].grad)
    if losses is not None:
        ja.autograd.backward([leaves[i] for i in ([losses] if isinstance(losses, int) else losses)])
        backward = signature.backward_signature
        named = backward.gradients_to_parameters | backward.gradients_to_user_inputs
        assert set(gradients) <= {id(by_name[target]) for target in named.values()}
        for name, target in named.items():
            close(results[name], gradients.get(id(by_name[target]), np.zeros(results[name].shape)))
    return graph, signature


def close(got, wanted):
    wanted = wanted.detach().numpy() if isinstance(wanted, ja.Tensor) else np.asarray(wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


# -- the signature -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_conv_norm_relu_with_gradients():
    model, x = ConvNormRelu(), ja.randn(2, 1, 3, 3)
    graph, s = check_module(model, (x,), 0)
    assert s.parameters == ["conv.weight", "conv.bias", "norm.weight", "norm.bias"]
    assert s.buffers == ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert list(graph.input_names) == [*s.parameters, *s.buffers, "x"] and s.user_inputs == ["x"]
    assert s.inputs_to_parameters == {name: name for name in s.parameters}
    assert s.inputs_to_buffers == {name: name for name in s.buffers}
    assert s.user_outputs == ["loss", "output1"]
    assert s.buffers_to_mutate == {f"new({name})": name for name in s.buffers}
    assert s.parameters_to_mutate == s.user_inputs_to_mutate == {}
    assert s.backward_signature.gradients_to_parameters == {f"grad({name})": name for name in s.parameters}
    assert s.backward_signature.gradients_to_user_inputs == {}
    assert s.backward_signature.loss_output == "loss"  # PyTorch names a running statistic here
    assert list(graph.output_names) == [
        *(f"new({name})" for name in s.buffers), "loss", "output1", *(f"grad({name})" for name in s.parameters),
    ]  # fmt: skip
    assert s.input_tokens == s.output_tokens == s.random_inputs == []
    assert jax.tree.unflatten(s.out_spec, s.user_outputs) == ("loss", "output1")
    assert jax.tree.unflatten(s.in_spec, s.user_inputs) == (("x",), {})
    inference, s = export(model, (x,), trace_joint=False)
    assert len(inference.output_names) == 5 and s.backward_signature is None


def check_module(model, args, loss):
    """Exports a module with a loss, and compares the graph with an eager step of the module."""
    graph, s = export(model, args, trace_joint=True, output_loss_index=loss)
    results = outputs_of(graph)
    out = model.forward(*args)
    out[loss].backward()
    by_name = dict(zip(graph.input_names, graph.example_inputs, strict=True))
    for name, target in s.backward_signature.gradients_to_parameters.items():
        close(results[name], by_name[target].grad)
    for name, target in s.buffers_to_mutate.items():
        close(results[name], by_name[target])
    for name, tensor in zip(s.user_outputs, out, strict=True):
        close(results[name], tensor)
    return graph, s


def test_names_come_from_the_printed_graph():
    graph, _s = export(ConvNormRelu(), (ja.randn(2, 1, 3, 3),), trace_joint=True, output_loss_index=0)
    text = str(graph)
    first, last = text.splitlines()[0], text.splitlines()[-1]
    assert all(f"{name}: " in first for name in graph.input_names)
    assert all(f"{name}=" in last for name in graph.output_names)
    assert "stop_gradient" not in text and "custom_jvp" not in text


@pytest.mark.slow
def test_every_backward_equation_names_its_forward_equation():
    """The residual model of `test_aot_sequence_nr`."""

    class Model:
        def __init__(self):
            self.conv, self.norm = Conv(16, 16, 1), BatchNorm(16)
            self.weight, self.bias = (ja.randn(1, 64) / 8).requires_grad_(), ja.zeros(1, requires_grad=True)

        def forward(self, x):
            residual = x
            x = F.relu(self.norm(self.conv(x))) + residual
            x = F.linear(x.flatten(1), self.weight, self.bias)
            return ((x.squeeze() - 1).abs().mean(),)

    graph, _ = check_module(Model(), (ja.randn(2, 16, 2, 2, requires_grad=True),), 0)
    eqns = [eqn for eqn in graph.jaxpr.eqns if is_backward(eqn)]
    assert len(eqns) > 10 and all(forward_index(eqn) is not None for eqn in eqns)
    conv = [forward_index(e) for e in graph.jaxpr.eqns if e.primitive.name == "conv_general_dilated"]
    assert len(conv) == 3 and len(set(conv)) == 1  # the convolution, and its gradients for input and weight
    rows = sequence_rows(graph)
    forward, backward = ([row for row in rows if row.is_backward == late] for late in (False, True))
    operations = [
        row.source
        for row, before in zip(forward, [None, *forward], strict=False)
        if row.source != (before and before.source)
    ]
    assert [name for name in operations if name] == [
        "conv2d", "add", "batch_norm", "relu", "add", "linear", "sub", "abs", "mean",
    ]  # fmt: skip
    numbers = [row.number for row in backward]
    assert numbers == sorted(numbers, reverse=True) and set(numbers) <= {row.number for row in forward}
    sources = {row.number: row.source for row in forward}
    assert all(row.source == sources[row.number] for row in backward)
    assert {row.source for row in backward if row.source} == {"conv2d", "batch_norm", "relu", "linear", "abs", "mean"}
    passed = [row.number for row in forward if row.source in ("add", "sub")]
    assert len(passed) >= 3 and not set(passed) & set(numbers), "they pass the gradient on"
    again, _ = check_module(Model(), (ja.randn(2, 16, 2, 2, requires_grad=True),), 0)
    assert sequence_table(sequence_rows(again)) == sequence_table(rows)


@pytest.mark.oracle
@pytest.mark.parametrize("trace_joint", [False, True])
def test_the_signature_is_that_of_pytorch(trace_joint):
    import torch
    from torch._functorch.aot_autograd import aot_export_module

    class Theirs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = torch.nn.Conv2d(1, 3, 1), torch.nn.BatchNorm2d(3)

        def forward(self, x):
            x = torch.nn.functional.relu(self.norm(self.conv(x)))
            return x.sum(), x.detach()

    torch.manual_seed(0)
    theirs, ours = Theirs(), ConvNormRelu()
    for name in ("weight", "bias"):
        with ja.no_grad():
            getattr(ours.conv, name).copy_(ja.tensor(getattr(theirs.conv, name).detach().numpy()))
    x = np.random.default_rng(0).normal(size=(2, 1, 3, 3)).astype(np.float32)
    options = {"trace_joint": trace_joint, **({"output_loss_index": 0} if trace_joint else {})}
    their_graph, their_signature = aot_export_module(theirs, (torch.tensor(x),), **options)
    graph, signature = export(ours, (ja.tensor(x),), **options)
    for field in ("parameters", "buffers"):
        assert getattr(signature, field) == getattr(their_signature, field)
    for field in ("user_inputs", "user_outputs", "parameters_to_mutate", "user_inputs_to_mutate"):
        assert len(getattr(signature, field)) == len(getattr(their_signature, field)), field
    for field in ("inputs_to_parameters", "inputs_to_buffers", "buffers_to_mutate"):
        assert list(getattr(signature, field).values()) == list(getattr(their_signature, field).values()), field
    if trace_joint:
        mine, their_backward = signature.backward_signature, their_signature.backward_signature
        assert list(mine.gradients_to_parameters.values()) == list(their_backward.gradients_to_parameters.values())
        assert their_backward.loss_output == next(iter(their_signature.buffers_to_mutate))  # the wrong one
    state = [*theirs.parameters(), *theirs.buffers()]
    their_outputs = their_graph(*(t.detach().clone() for t in state), torch.tensor(x))
    for got, wanted in zip(graph(*graph.example_inputs), their_outputs, strict=True):
        # gradients of a convolution before a batch norm are zero but for rounding
        np.testing.assert_allclose(got, wanted.detach().numpy(), rtol=1e-4, atol=5e-3)


# -- mutation and aliasing ---------------------------------------------------------------------------------------------


def test_a_user_input_is_written():
    """`test_aot_export_forward_mutation_no_buffer_mut`."""
    _, s = check(lambda x: (x.add_(1), x * 2)[1], (ja.ones(3),))
    assert s.user_inputs_to_mutate == {"new(x)": "x"} and s.user_outputs == ["output0"]
    _, s = check(lambda x: x.add_(1), (ja.ones(3),))
    assert s.user_inputs_to_mutate == {"new(x)": "x"} and s.user_outputs == ["output0"]


def test_inputs_and_buffers_are_written():
    """`test_aot_export_forward_mutation_multiple_mut`."""
    foo = ja.ones(6, 4)

    def fn(x, y):
        y.add_(4)
        foo.add_(5)
        return x.cos().sum() + y.sin().sum() + foo.sin().sum(), y

    graph, s = check(fn, (ja.ones(6, 4), ja.ones(6, 4)))
    assert s.buffers == ["foo"] and s.buffers_to_mutate == {"new(foo)": "foo"}
    assert s.user_inputs_to_mutate == {"new(y)": "y"}
    assert list(graph.output_names) == ["new(foo)", "new(y)", "output0", "output1"]


def test_feeding_the_new_buffer_back_is_the_second_call():
    """`test_aot_export_predispatch_buffer_mutation_metadata`."""

    class Foo:
        def __init__(self):
            self.foo = ja.zeros(2, 2)

        def forward(self, x):
            self.foo.add_(4)
            return x.sum() + self.foo.sum()

    foo, x = Foo(), ja.ones(2, 2)
    graph, _s = export(foo, (x,), trace_joint=False)
    new, first = graph(*graph.example_inputs)
    _, second = graph(new, x)
    assert [first, second] == [foo.forward(x).item(), foo.forward(x).item()]


def test_metadata_of_an_input_changes():
    """PyTorch: "Found an input that received a metadata mutation"."""
    _, s = check(lambda x: (x.t_(), x.mul_(2))[1], (ja.arange(6.0).view(2, 3).clone(),))
    assert s.user_inputs_to_mutate == {"new(x)": "x"}
    _, s = check(lambda x: (x.t_(), x.t_(), x + 1)[2], (ja.ones(2, 3),))
    assert s.user_inputs_to_mutate == {}
    check(lambda x: x.unsqueeze_(0).sum(), (ja.ones(2, 3),))
    check(lambda x, y: (x.set_(y), x.add_(1))[1], (ja.ones(3), ja.arange(2.0)))


@pytest.mark.slow
def test_inputs_that_share_memory():
    """PyTorch: "Encountered aliased inputs that are mutated"."""
    base = ja.arange(8.0)
    _, s = check(lambda a, b: (a.mul_(2), a + b)[1], (base[:3], base[1:4]))
    assert s.user_inputs_to_mutate == {"new(a)": "a", "new(b)": "b"}
    grid = ja.arange(12.0).view(3, 4)
    check(lambda a, b: (a[0].mul_(2), a.t() @ b)[1], (grid[:, 1:3], grid.t()[1:]))
    check(lambda a, b: (b.zero_(), a * 1)[1], (grid[::2], grid.view(-1)))
    w = ja.ones(3, requires_grad=True)
    shared = ja.ones(3)
    check(lambda a, b: (b.mul_(3), (a * w).sum())[1], (shared, shared.detach()), losses=0)


def test_one_tensor_passed_twice():
    """PyTorch: "Encountered duplicated inputs that are mutated"."""
    x = ja.ones(3)
    _graph, s = check(lambda a, b: (a.mul_(2), a + b)[1], (x, x))
    assert s.user_inputs == ["a", "b"] and s.user_inputs_to_mutate == {"new(a)": "a"}


@pytest.mark.parametrize("sharing", ["one tensor", "one memory"])
def test_arguments_that_share_memory_are_inputs_each(sharing):
    base = ja.ones(4, requires_grad=True)
    args = (base[:2], base[1:3]) if sharing == "one memory" else (base[:2],) * 2
    ones, twos = ja.ones(2), ja.full((2,), 2.0)
    graph, _ = export(lambda a, b: (a * b,), args, trace_joint=False)
    assert graph(ones, twos)[0].tolist() == [2, 2]
    assert all(got is arg for got, arg in zip(graph.example_inputs, args, strict=True))
    graph, s = export(lambda a, b: (a * b.sin()).sum(), args, trace_joint=True, output_loss_index=0)
    assert list(s.backward_signature.gradients_to_user_inputs.values()) == ["a", "b"]
    loss, *gradients = graph(3 * ones, twos)
    close(loss, 6 * np.sin(2))
    close(gradients[0], [np.sin(2)] * 2)
    close(gradients[1], [3 * np.cos(2)] * 2)
    simple = export_simple(lambda a, b: a * b, args, trace_joint=False)
    assert simple(ones, twos).tolist() == [2, 2]


def test_a_parameter_that_is_passed_is_an_input_of_its_own():
    class Scale:
        def __init__(self):
            self.weight = ja.ones(2, requires_grad=True)

        def forward(self, x):
            return (x * self.weight.sin()).sum()

    module = Scale()
    graph, s = export(module, (module.weight,), trace_joint=True, output_loss_index=0)
    assert s.parameters == ["weight"] and s.user_inputs == ["x"]
    loss, of_weight, of_x = graph(ja.full((2,), 2.0), ja.full((2,), 3.0))
    close(loss, 6 * np.sin(2))
    close(of_weight, [3 * np.cos(2)] * 2)
    close(of_x, [np.sin(2)] * 2)


@pytest.mark.parametrize("result", [object(), {1, 2}], ids=["an object", "a set"])
def test_outputs_of_unknown_types_are_refused(result):
    for trace_joint in (False, True):
        w = ja.ones(2, requires_grad=True)
        with pytest.raises(ja.errors.ExportError, match=r"output 1 is of type.*register_pytree_node"):
            export(
                lambda x: (x.sum(), result), (w,), trace_joint=trace_joint, output_loss_index=0 if trace_joint else None
            )
    with pytest.raises(ja.errors.ExportError, match="output 1 is of type"):
        export_simple(lambda x: (x.sum(), result), (ja.ones(2),), trace_joint=False)


@pytest.mark.slow
def test_branches_and_random_numbers():
    def fn(x):
        return (ja.cond(x.sum() > 3, lambda x: x.cos() + w, lambda x: x.sin(), [x]),)

    w = ja.ones(2, 2)
    for x in (ja.ones(2, 2), ja.zeros(2, 2)):
        check(fn, (x,))
    x = ja.ones(2, 2, requires_grad=True)
    check(lambda x: ja.cond(x.sum() > 3, lambda x: x.cos().sum(), lambda x: x.sin().sum(), [x]), (x,), losses=0)
    drawn = lambda x: (ja.cond(x.sum() > 3, lambda x: x + ja.randn(2, 2), lambda x: x, [x]),)
    graph, s = export(drawn, (ja.ones(2, 2),), trace_joint=False)
    assert s.random_inputs == ["seed0", "offset0"]
    ja.manual_seed(3)
    graph, s = export(drawn, (ja.ones(2, 2),), trace_joint=False)
    close(graph(*graph.example_inputs)[0], drawn(ja.ones(2, 2))[0].numpy())


def test_outputs_that_share_memory():
    x = ja.arange(4.0)
    check(lambda a: (a.view(2, 2), a[1:], a, a * 1), (x,))
    check(lambda a: (lambda y: (y, y.view(2, 2), y[::2].mul_(3)))(a * 2), (x,))
    w = ja.ones(4, requires_grad=True)
    check(lambda a: (w[1], w.view(2, 2), a), (x,), losses=0)


@pytest.mark.slow
def test_inputs_that_are_views_and_expanded():
    w = ja.ones(2, requires_grad=True)
    x = ja.arange(24.0).view(2, 3, 4)
    for view in (x[1], x.permute(2, 0, 1), x[:, ::2, 1:], x[0, 0].expand(2, 4), x.diagonal(), x.transpose(0, 1)[1:]):
        check(lambda a: (a.sin() * w.sum()).sum(), (view,), losses=0)
        check(lambda a: a.cos(), (view,))
    check(lambda a: (a.t()[1:] * 2).sum(), (ja.randn(3, 3).t().requires_grad_(),), losses=0)


def test_a_parameter_is_written():
    """PyTorch: "Found a graph input that requires gradients, and received a mutation"."""
    w = ja.tensor([1.0, 2.0], requires_grad=True)
    _, s = check(lambda x: (w.mul_(2), w * x)[1], (ja.ones(2),))
    assert s.parameters_to_mutate == {"new(w)": "w"}

    def hidden(x):
        y = (w * w).sum()
        with ja.no_grad():
            w.mul_(2)
        return y + (w * x).sum()

    graph, s = export(hidden, (ja.ones(2),), trace_joint=True, output_loss_index=0)
    results, x = outputs_of(graph), ja.ones(2)
    hidden(x).backward()
    close(results["grad(w)"], w.grad)
    close(results["new(w)"], w)


def test_an_input_that_requires_grad_is_written():
    w = ja.tensor([1.0, 2.0], requires_grad=True)

    def fn(a):
        y = (a * a).sum()
        a.mul_(3)
        return y + (a * w).sum()

    inner = ja.ones(2, requires_grad=True)
    _, s = check(fn, (inner * 2,), losses=0)
    assert s.user_inputs_to_mutate == {"new(a)": "a"}
    assert set(s.backward_signature.gradients_to_user_inputs.values()) == {"a"}


# -- losses ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_several_losses_and_other_outputs():
    """PyTorch: "Found an output of the forward that requires gradients, that was not the scalar loss"."""
    w = ja.tensor([1.0, 2.0], requires_grad=True)
    _, s = check(lambda x: (w * x, (w * x).sum()), (ja.ones(2),), losses=1)
    assert s.user_outputs == ["output0", "loss"] and s.backward_signature.loss_output == "loss"
    _, s = check(lambda x: ((w * x).sum(), x, w.prod().view(1)), (ja.full((2,), 3.0),), losses=[0, 2])
    assert s.backward_signature.loss_output == ["loss", "loss_1"]
    check(lambda x: {"a": x * 2, "loss": (w * x).sum()}, (ja.ones(2),), losses=1)
    check(lambda x: (w * x).sum(), (ja.ones(2),), losses=-1)


def test_a_parameter_without_a_gradient_gets_zeros():
    """PyTorch: "Found a parameter that did not receive a gradient"."""

    class Half:
        def __init__(self):
            self.used, self.unused = ja.ones(2, requires_grad=True), ja.ones(3, requires_grad=True)

        def forward(self, x):
            return ((self.used * x).sum(),)

    graph, _ = export(Half(), (ja.ones(2),), trace_joint=True, output_loss_index=0)
    assert outputs_of(graph)["grad(unused)"].tolist() == [0, 0, 0]


@pytest.mark.slow
def test_complex_gradients_are_in_pytorchs_convention():
    w = ja.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    check(lambda x: (w * w * x).abs().sum(), (ja.ones(2),), losses=0)


@pytest.mark.parametrize(
    ("options", "fn", "words"),
    [
        ({}, lambda x, w: (x * w).sum(), "specify which \\(index\\) output is the loss with output_loss_index"),
        ({"output_loss_index": 3}, lambda x, w: (x * w).sum(), "is 3, but the function returns 1 values"),
        ({"output_loss_index": []}, lambda x, w: (x * w).sum(), "or several, not \\[\\]"),
        ({"output_loss_index": [0, 0]}, lambda x, w: (x * w).sum(), "or several, not \\[0, 0\\]"),
        ({"output_loss_index": 0}, lambda x, w: x.sum(), "it does not require gradients"),
        ({"output_loss_index": 0}, lambda x, w: x * w, "to be a scalar, but it has shape \\[2\\]"),
        ({"output_loss_index": 0}, lambda x, w: (1, x), "either a tensor or a list/tuple of tensors"),
        ({"output_loss_index": 0}, lambda x, w: (w * (1 + 1j)).sum(), "but it is complex"),
    ],
)
def test_outputs_that_cannot_be_the_loss(options, fn, words):
    with pytest.raises(errors.LossError, match=words):
        export(fn, (ja.ones(2), ja.ones(2, requires_grad=True)), trace_joint=True, **options)


# -- functions ---------------------------------------------------------------------------------------------------------


def test_an_optimizer_step_in_the_graph():
    w = ja.tensor([1.0, 2.0], requires_grad=True)
    momentum, n_steps = ja.zeros(2), ja.tensor(0)

    def step(x):
        loss = ((x * w) ** 2).sum()
        loss.backward()
        with ja.no_grad():
            momentum.mul_(0.9).add_(w.grad)
            w.sub_(0.1 * momentum)
        w.grad = None
        n_steps.add_(1)
        return loss.detach()

    x = ja.ones(2)
    graph, s = export(step, (x,), trace_joint=False)
    assert s.parameters == ["w"] and sorted(s.buffers) == ["momentum", "n_steps"] and s.gradients_to_set == {"w": None}
    state = dict(zip(graph.input_names, graph.example_inputs, strict=True))
    losses = []
    for _ in range(3):  # the graph alone trains
        results = outputs_of(graph, *state.values())
        state |= {target: results[name] for name, target in (s.parameters_to_mutate | s.buffers_to_mutate).items()}
        losses.append(results["output0"])
    close(losses, [step(x).item() for _ in range(3)])
    close(state["w"], w)
    close(state["momentum"], momentum)


def test_gradients_that_a_function_leaves():
    w = ja.tensor([1.0, 2.0], requires_grad=True)

    def fn(x):
        loss = (x * w).sum()
        loss.backward()
        return loss.detach()

    graph, s = check(fn, (ja.ones(2),), runs_backward=True)
    assert s.gradients_to_set == {"w": "w.grad"} and list(graph.output_names) == ["output0", "w.grad"]
    graph, s = check(fn, (ja.ones(2),), runs_backward=True)  # now there is a gradient to add to
    assert s.buffers == ["w.grad"] and s.buffers_to_mutate == {"new(w.grad)": "w.grad"}
    assert w.grad.tolist() == [2, 2]


def test_random_numbers_have_inputs():
    """PyTorch: "Functionalized RNG is not currently supported in the aot_export workflow"."""
    w = ja.ones(64, requires_grad=True)
    fn = lambda x: (F.dropout(x * w) * F.dropout(x)).sum()
    ja.manual_seed(3)
    graph, s = export(fn, (ja.ones(64),), trace_joint=True, output_loss_index=0)
    assert s.random_inputs == list(graph.input_names[-2:]) == ["seed0", "offset0"] and s.n_draws == [2]
    results = outputs_of(graph)
    loss = fn(ja.ones(64))
    loss.backward()
    close(results["loss"], loss)
    close(results["grad(w)"], w.grad)
    *inputs, seed, offset = graph.example_inputs
    assert outputs_of(graph, *inputs, seed, offset + 2)["loss"] != results["loss"]


def test_arguments_in_containers_keywords_and_constants():
    def fn(batch, scale, *rest, mode, bias=None):
        return {"y": batch["x"] * scale + rest[0] + bias, "mode": mode, "n": 3}

    args = ({"x": ja.ones(2)}, 2.0, ja.ones(2))
    graph, s = check(fn, args, kwargs={"mode": "train", "bias": ja.ones(2)})
    assert s.user_inputs == ["batch['x']", "scale", "rest[0]", "bias"]
    assert s.user_outputs == ["output0"] and sorted(map(str, s.constant_outputs.values())) == ["3", "train"]
    check(lambda x: x + jnp.ones(2), (jnp.ones(2),))
    graph, _ = export(lambda x: x + ja.ones(2), (jax.ShapeDtypeStruct((2,), jnp.float32),), trace_joint=False)
    assert graph(jnp.ones(2))[0].tolist() == [2, 2]


def test_export_of_compiled_functions_and_objects_called():
    w = ja.ones(2, requires_grad=True)
    check(ja.compile(lambda x: (w * x).sum()), (ja.ones(2),), losses=0)
    check(ja.aot.aot_function(lambda x: (w * x).sum(), "interpret"), (ja.ones(2),), losses=0)


def test_ties_are_one_input():
    class Tied:
        def __init__(self):
            self.a = ja.ones(2, requires_grad=True)
            self.b = self.a

        def forward(self, x):
            return ((self.a * x * self.b).sum(),)

    _graph, s = check_module(Tied(), (ja.full((2,), 3.0),), 0)
    assert s.parameters == ["a"]


def test_decompositions():
    w = ja.ones(2, requires_grad=True)
    graph, _ = export(
        lambda x: (x * w).tanh().sum(),
        (ja.ones(2),),
        trace_joint=True,
        output_loss_index=0,
        decompositions={"tanh": lambda x, **_: 1 - 2 / (jnp.exp(2 * x) + 1)},
    )
    assert "tanh" not in str(graph)
    close(outputs_of(graph)["loss"], 2 * np.tanh(1))


@pytest.mark.slow
def test_the_graph_serves_jax():
    model, x = ConvNormRelu(), ja.randn(2, 1, 3, 3)
    graph, _ = export(model, (x,), trace_joint=False)
    flat = [t.detach().jax() for t in graph.example_inputs]
    jitted = jax.jit(lambda *args: graph(*args))(*flat)
    for got, wanted in zip(jitted, graph(*flat), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    gradient = jax.grad(lambda w: graph(w, *flat[1:])[3])(flat[0])  # it is as differentiable as it looks
    model.forward(x)[0].backward()
    close(gradient, model.conv.weight.grad)
    exported = jax.export.export(jax.jit(lambda *args: graph(*args)))(*flat)
    np.testing.assert_allclose(exported.call(*flat)[3], jitted[3], rtol=1e-5)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_what_has_no_value_is_refused():
    def resizes(x):
        x.untyped_storage().resize_(0)

    x = ja.ones(3)
    with pytest.raises(errors.ExportError, match=r"the storage of `.*` is resized"):
        export(resizes, (x,), trace_joint=False)
    assert x.tolist() == [1, 1, 1]
    resizes(x)
    with pytest.raises(errors.ExportError, match="holds no bytes"):
        export(lambda x: x.untyped_storage().resize_(12) and 1, (x,), trace_joint=False)
    with pytest.raises(errors.ExportError, match="more than once"):
        export(lambda x: x * 2, (ja.arange(4.0).as_strided((2, 3), (1, 1)),), trace_joint=False)
    leaf = ja.ones(1).expand(3).requires_grad_()
    with pytest.raises(errors.ExportError, match="expanded and requires grad"):
        export(lambda x: x.sum(), (leaf,), trace_joint=True, output_loss_index=0)


def test_options_without_a_meaning_here():
    fn = lambda x: x.sum()
    for trace_joint, words in ((True, "not supported when trace_joint is True"), (False, "every stage is at hand")):
        with pytest.raises(errors.OptionError, match=words):
            export(fn, (ja.ones(2),), trace_joint=trace_joint, pre_dispatch=True)
    with pytest.raises(errors.OptionError, match="one graph for each size"):
        export(fn, (ja.ones(2),), trace_joint=False, dynamic_shapes={"x": {0: "n"}})


def test_a_failed_export_changes_nothing():
    w = ja.ones(2, requires_grad=True)

    def fn(x):
        x.add_(1)
        w.grad = ja.ones(2)
        return w * x

    x = ja.ones(2)
    with pytest.raises(errors.LossError):
        export(fn, (x,), trace_joint=True, output_loss_index=0)
    assert x.tolist() == [1, 1] and x._version == 0 and w.grad is None and ja.is_grad_enabled()


def test_a_graph_is_called_with_what_it_was_exported_for():
    graph, _ = export(lambda x: x * 2, (ja.ones(2),), trace_joint=False)
    with pytest.raises(errors.SignatureMismatchError, match=r"traced for \(float32\[2\]\): argument 0 is float32"):
        graph(ja.ones(3))
    with pytest.raises(errors.SignatureMismatchError):
        graph()


# -- aot_export_joint_simple -------------------------------------------------------------------------------------------


def test_simple_export_keeps_the_calling_convention():
    """`test_aot_export_simplified_basic`."""
    fn = lambda x, y: (x * y, y * y.detach())
    x, y = ja.randn(3, requires_grad=True), ja.randn(3, requires_grad=True)
    graph = export_simple(fn, (x, y), trace_joint=False)
    for got, wanted in zip(graph(x, y), fn(x, y), strict=True):
        close(got, wanted)
    joint = export_simple(fn, [x, y], trace_joint=True)
    cts = [ja.randn(3), ja.randn(3)]
    wanted = ja.autograd.grad(fn(x, y), [x, y], cts)
    outputs, gradients = joint([x, y], cts)
    assert len(outputs) == 2
    forward, backward = ja.aot.default_partition(joint, num_fwd_outputs=2)
    first, second, *saved = as_function(forward)(x.detach().jax(), y.detach().jax())
    close(first, x * y)
    close(second, y * y)
    for got in (gradients, as_function(backward)(*saved, *(ct.jax() for ct in cts))):
        for g, w in zip(got, wanted, strict=True):
            close(g, w)


def test_simple_export_opens_calls_or_keeps_them():
    fn = lambda x, y: (jax.nn.silu(x.jax()) @ y.jax(),)
    x, y = ja.randn(2, 3), ja.randn(3, 2)
    names = lambda graph: [eqn.primitive.name for eqn in graph.jaxpr.eqns]
    opened = export_simple(fn, (x, y), trace_joint=False)
    kept = export_simple(fn, (x, y), trace_joint=False, decompositions={})
    table = {"logistic": lambda x, **_: 1 / (1 + jnp.exp(-x))}
    replaced = export_simple(fn, (x, y), trace_joint=False, decompositions=table)
    assert names(opened) == ["logistic", "mul", "dot_general"] and names(kept) == ["jit", "dot_general"]
    assert "logistic" not in names(replaced)
    for graph in (opened, kept, replaced):
        close(graph(x, y)[0], fn(x, y)[0])
    w = ja.randn(3, 2, requires_grad=True)
    joint = export_simple(lambda x, w: (x @ w,), (x, w), trace_joint=True, decompositions={})
    _outputs, gradients = joint([x, w], [jnp.ones((2, 2))])
    assert gradients[0] is None
    close(gradients[1], x.numpy().T @ np.ones((2, 2)))


def test_simple_export_takes_containers_aliases_and_constants():
    """PyTorch refuses all three."""
    outside = ja.arange(2.0)
    fn = lambda d: [d["x"] + outside, {"view": d["x"].view(1, 2)}, 7]
    graph = export_simple(fn, ({"x": ja.ones(2)},), trace_joint=False)
    total, view, seven = graph({"x": ja.ones(2)})
    assert total.tolist() == [1, 2] and view["view"].tolist() == [[1, 1]] and seven == 7
    outside.add_(10)
    assert graph({"x": ja.ones(2)})[0].tolist() == [1, 2]
    x = ja.ones(2, requires_grad=True)
    joint = export_simple(lambda x: (x.view(1, 2), x * outside), (x,), trace_joint=True)
    _, (gradient,) = joint([x], [jnp.full((1, 2), 3.0), jnp.ones(2)])
    assert gradient.tolist() == [13, 14]


def test_branches_of_cond_from_simple_exports():
    """What higher-order operators use it for."""
    x = ja.tensor([0.5, 1.0], requires_grad=True)
    branches = [lambda x: (x.sin(),), lambda x: (x * x,)]
    parts = [ja.aot.default_partition(export_simple(f, (x,), trace_joint=True)) for f in branches]

    @jax.custom_vjp
    def cond(p, x):
        return jax.lax.cond(p, *(lambda x, f=f: as_function(f)(x)[0] for f, _ in parts), x)

    def forward(p, x):
        return cond(p, x), (p, x)

    def backward(saved, ct):
        p, x = saved
        run = lambda f, b: lambda x: as_function(b)(*as_function(f)(x)[1:], ct)[0]
        return None, jax.lax.cond(p, *(run(f, b) for f, b in parts), x)

    cond.defvjp(forward, backward)
    for p, wanted in ((True, np.cos([0.5, 1.0])), (False, [1.0, 2.0])):
        gradient = jax.jit(jax.grad(lambda x, p=p: cond(p, x).sum()))(x.detach().jax())
        assert np.allclose(gradient, wanted)


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: (x.add_(1),), "does not support input mutations"),
        (lambda x: (x.t_(),), "does not support input mutations"),
        (lambda x: (F.dropout(x),), "random numbers are drawn"),
    ],
)
def test_simple_export_refuses_what_changes_the_convention(fn, words):
    with pytest.raises(errors.ExportError, match=words):
        export_simple(fn, (ja.ones(2, 2),), trace_joint=False)


def test_simple_export_says_what_is_changed_in_the_words_of_pytorch():
    x, p = ja.ones(2, 2), ja.ones(2, 2, requires_grad=True)
    for fn, args, words in (
        (lambda x: (x.t_() * 2,), (x,), "Found an input that received a metadata mutation: `args"),
        (lambda p: (p.mul_(2),), (p,), "Found a graph input that requires gradients, and received a mutation: `args"),
        (lambda x, y: (x.mul_(2) + y,), (x, x), "Encountered duplicated inputs that are mutated in the graph: `args"),
        (lambda x, y: (x.mul_(2) + y.sum(),), (x, x.view(-1)), "Encountered aliased inputs that are mutated: `args"),
    ):
        with pytest.raises(errors.ExportError, match=words):
            export_simple(fn, args, trace_joint=False)


def test_simple_export_refuses_gradients_of_the_outside():
    w = ja.ones(2, requires_grad=True)
    with pytest.raises(errors.ExportError, match="`w` requires grad and is no argument"):
        export_simple(lambda x: (x * w,), (ja.ones(2),), trace_joint=True)
    assert export_simple(lambda x: (x * w,), (ja.ones(2),), trace_joint=False)(ja.ones(2))[0].tolist() == [1, 1]
    with pytest.raises(errors.ExportError, match="single list/tuple"):
        export_simple(lambda x: x, ja.ones(2), trace_joint=False)
    with pytest.raises(errors.NotDifferentiableError):
        export_simple(lambda x: (x * 2,), (ja.ones(2),), trace_joint=True)


def test_a_graph_and_its_signature_are_saved(tmp_path):
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.BatchNorm1d(4), ja.nn.Dropout(0.5))
    fn = lambda x: (model(x).sum(), "kind", model(x))
    graph, signature = ja.aot.aot_export_module(fn, (ja.randn(5, 3),), trace_joint=True, output_loss_index=0)
    graph.save(tmp_path / "graph.jaxaot", signature)
    loaded, again = ja.load(tmp_path / "graph.jaxaot")
    assert again == signature
    assert (loaded.input_names, loaded.output_names) == (graph.input_names, graph.output_names)
    for one, other in zip(graph(*graph.example_inputs), loaded(*loaded.example_inputs), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    with pytest.raises(ja.errors.SignatureMismatchError):
        loaded(*loaded.example_inputs[1:])


def test_a_graph_that_is_called_like_its_function_is_saved(tmp_path):
    fn = lambda pair, n: {"sum": (pair[0] + pair[1]) * n, "none": None}
    given = ([ja.ones(2), ja.ones(2)], 2.0)
    graph = ja.aot.aot_export_joint_simple(fn, given, trace_joint=False)
    graph.save(tmp_path / "graph.jaxaot")
    result = ja.load(tmp_path / "graph.jaxaot")(*given)
    assert result["none"] is None
    np.testing.assert_array_equal(result["sum"], [4, 4])
