"""Modules: attributes, names, hooks, states; in compiled functions, functional calls and checkpoints."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each
from tests.seeds import seeds

nn = ja.nn


class Net(nn.Module):
    scale = 2.0

    def __init__(self, n=3):
        super().__init__()
        self.first = nn.Linear(n, 4)
        self.rows = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.named = nn.ModuleDict({"act": nn.Tanh(), "drop": nn.Dropout(0.5)})
        self.gain = nn.Parameter(ja.ones(4))
        self.register_buffer("count", ja.tensor(0))
        self.register_buffer("hidden", ja.zeros(4), persistent=False)
        self.depth = 2

    def forward(self, x):
        x = self.first(x)
        for row in self.rows[: self.depth]:
            x = self.named["act"](row(x)) * self.scale
        if self.training:
            self.count.add_(1)
            self.hidden = x.detach().mean(0)
        return x * self.gain


def made(seed=0):
    ja.manual_seed(seed)
    return Net()


X = np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)


# -- names -------------------------------------------------------------------------------------------------------------


def test_names_lead_to_parameters_buffers_and_modules():
    net = made()
    names = ["gain", "first.weight", "first.bias", "rows.0.weight", "rows.0.bias", "rows.1.weight", "rows.1.bias"]
    assert [name for name, _ in net.named_parameters()] == names
    assert list(net.state_dict()) == ["gain", "count", *names[1:]]
    assert [name for name, _ in net.named_buffers()] == ["count", "hidden"]
    assert [name for name, _ in net.named_children()] == ["first", "rows", "named"]
    assert net.get_parameter("rows.1.bias") is net.rows[1].bias and net.get_submodule("named.act") is net.named["act"]
    assert net.get_buffer("count") is net.count
    assert {"gain", "first", "count"} <= set(dir(net))
    net.rows[0].weight = net.rows[1].weight  # tied
    assert len(list(net.parameters())) == 6 and len(list(net.named_parameters(remove_duplicate=False))) == 7
    with pytest.raises(ja.errors.MissingNameError, match="no attribute `nothing`"):
        net.get_submodule("rows.nothing")


def test_attributes_are_registered_by_what_they_hold():
    net = made()
    weight = net.first.weight
    assert isinstance(weight, nn.Parameter) and not isinstance(weight.detach(), nn.Parameter)
    assert not isinstance(weight * 2, nn.Parameter) and not isinstance(ja.ones(1), (nn.Parameter, nn.Buffer))
    assert repr(nn.Parameter(ja.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    net.extra = nn.Buffer(ja.ones(2), persistent=False)
    assert "extra" in dict(net.named_buffers()) and "extra" not in net.state_dict()
    net.first.bias = None
    assert "first.bias" not in net.state_dict() and net(ja.tensor(X)).shape == (2, 4)
    del net.gain
    net.gain = nn.Identity()
    assert "gain" not in dict(net.named_parameters()) and "gain" in dict(net.named_children())
    del net.gain, net.count
    assert not hasattr(net, "gain") and not hasattr(net, "count")


@each(
    ("use", "words"),
    [
        (lambda net: setattr(net, "gain", ja.ones(4)), "cannot assign 'Tensor' as parameter"),
        (lambda net: setattr(net, "first", 3), "cannot assign 'int' as child module"),
        (lambda net: setattr(net, "count", 3), "cannot assign 'int' as buffer"),
        (lambda net: net.register_buffer("a.b", ja.ones(1)), 'can\'t contain "."'),
        (lambda net: net.register_buffer("", ja.ones(1)), "can't be empty string"),
        (lambda net: net.register_buffer("gain", ja.ones(1)), "attribute 'gain' already exists"),
        (lambda net: net.register_parameter("w", ja.ones(1)), "ja.nn.Parameter or None"),
        (lambda net: net.register_parameter("w", nn.Parameter(ja.ones(1)) * 2), "ja.nn.Parameter or None"),
        (lambda net: net.add_module("m", ja.ones(1)), "is not a Module subclass"),
        (lambda net: net.train("yes"), "training mode is expected to be boolean"),
        (lambda net: net.cuda(), "Leave it out"),
        (lambda net: net.wieght, "no attribute 'wieght'"),
        (lambda net: nn.Module()(1), 'missing the required "forward"'),
        (lambda net: net.rows(1), "should not be called"),
        (lambda net: net.rows[2], "out of range"),
        (lambda net: net.to(ja.int32), "only accepts floating point"),
        (lambda net: nn.Linear(2, 3).load_state_dict([]), "to be dict-like"),
        (lambda net: nn.ParameterList([3]), "is no parameter"),
        (lambda net: nn.Conv2d(3, 4, 1, groups=2), "in_channels must be divisible by groups"),
        (lambda net: nn.Dropout(2), "between 0 and 1"),
        (lambda net: nn.BatchNorm2d(3)(ja.ones(2, 3)), "expected 4D input"),
        (lambda net: nn.LSTM(3, 4)(ja.ones(2, 2, 5)), "must be equal to input_size"),
        (lambda net: nn.parallel.DistributedDataParallel(net), "fully_shard"),
        (lambda net: nn.Linaer(2, 3), "Did you mean: 'Linear'"),
        (lambda net: nn.utils.prune, "multiplies by a mask"),
    ],
)
def test_bad_uses_say_what_to_write(use, words):
    net = made()
    before = list(net.state_dict())
    with pytest.raises(ja.errors.JaxaotError) as caught:
        use(net)
    assert words in str(caught.value)
    assert list(net.state_dict()) == before and net(ja.tensor(X)).shape == (2, 4)


def test_a_module_without_init_says_so():
    class Bare(nn.Module):
        def __init__(self):
            self.w = nn.Parameter(ja.ones(1))

    with pytest.raises(AttributeError, match=r"Begin the `__init__` of Bare with `super\(\).__init__\(\)`"):
        Bare()


def test_containers_behave_as_lists_and_dicts():
    row = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))
    assert row.a is row[0] and len(row[:1]) == 1 and list(row.state_dict()) == ["a.weight", "a.bias"]
    row.append(nn.Linear(3, 1))
    assert row(ja.ones(4, 2)).shape == (4, 1)
    several = nn.Sequential(nn.ReLU(), nn.Tanh())
    several.insert(1, nn.Sigmoid())
    del several[0]
    assert [type(m).__name__ for m in several] == ["Sigmoid", "Tanh"] and [n for n, _ in several.named_children()] == [
        "0",
        "1",
    ]
    assert len(several + several) == 4 and len(several * 3) == 6 and type(several.pop(1)) is nn.Tanh
    rows = nn.ModuleList([nn.ReLU()])
    rows += [nn.Tanh()]
    rows.insert(0, nn.GELU())
    rows[1] = nn.SiLU()
    assert [type(m).__name__ for m in rows] == ["GELU", "SiLU", "Tanh"] and type(rows[-1]) is nn.Tanh
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Tanh()
    assert list(named) == ["a", "b"] and "a" in named and type(named.pop("a")) is nn.ReLU and len(named) == 1
    values = nn.ParameterList([ja.ones(2), nn.Parameter(ja.zeros(1))])
    values.append(ja.ones(3))
    assert (
        len(values) == 3
        and all(isinstance(v, nn.Parameter) for v in values)
        and list(values.state_dict()) == ["0", "1", "2"]
    )
    assert repr(values).splitlines()[1] == "    (0): Parameter containing: [ja.float32 of size 2]"
    by_name = nn.ParameterDict({"a": ja.ones(2)})
    by_name["b"] = ja.ones(1)
    assert list(by_name.state_dict()) == ["a", "b"] and by_name.get("c") is None and "a" in by_name


# -- state -------------------------------------------------------------------------------------------------------------


def test_a_state_that_does_not_fit_is_refused_whole():
    net, other = made(0), made(1)
    state = other.state_dict()
    del state["gain"]
    state["first.weight"] = ja.ones(2, 2)
    state["rows.7.weight"] = ja.ones(1)
    before = {name: value.tolist() for name, value in net.state_dict().items()}
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    for words in (
        "size mismatch for first.weight",
        'Missing key(s) in state_dict: "gain"',
        'Unexpected key(s) in state_dict: "rows.7.weight"',
    ):
        assert words in str(caught.value)
    assert {name: value.tolist() for name, value in net.state_dict().items()} == before
    del state["first.weight"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["gain", "first.weight"] and found.unexpected_keys == ["rows.7.weight"]
    assert net.rows[1].bias.tolist() == other.rows[1].bias.tolist()


def test_a_state_is_assigned_with_its_dtype():
    net = nn.Linear(2, 2)
    old = net.weight
    net.load_state_dict({"weight": ja.ones(2, 2, dtype=ja.bfloat16), "bias": np.zeros(2, np.float32)}, assign=True)
    assert net.weight is not old and net.weight.dtype == ja.bfloat16 and net.weight.requires_grad
    assert isinstance(net.bias, nn.Parameter)


def test_a_state_dict_shows_the_memory_of_the_module():
    net = made()
    state = net.state_dict()
    with ja.no_grad():
        net.gain.fill_(5)
    assert state["gain"].tolist() == [5] * 4 and not state["gain"].requires_grad
    assert net.state_dict(keep_vars=True)["gain"] is net.gain
    assert next(iter(net.state_dict(prefix="net."))) == "net.gain"


def test_extra_state_and_hooks_of_states():
    class Extra(nn.Linear):
        def get_extra_state(self):
            return {"version": 3}

        def set_extra_state(self, state):
            self.loaded = state

    net, other, seen = Extra(1, 1), Extra(1, 1), []
    net.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(more=ja.ones(1)))
    other.register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: state.pop(prefix + "more"))
    other.register_load_state_dict_post_hook(lambda module, found: seen.append(found))
    other.load_state_dict(net.state_dict())
    assert other.loaded == {"version": 3} and len(seen) == 1


def test_a_module_is_copied_and_pickled():
    net = made().eval()
    net.register_forward_hook(print_nothing)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.first.weight is not net.first.weight and isinstance(other.first.weight, nn.Parameter)
        assert other(ja.tensor(X)).tolist() == net(ja.tensor(X)).tolist() and not other.training
        assert other.first.weight.requires_grad


def print_nothing(module, args, output):
    return None


def test_modules_are_moved_and_converted_in_place():
    net = made()
    weight = net.first.weight
    assert net.to(ja.bfloat16) is net and net.first.weight is weight
    assert weight.dtype == ja.bfloat16 and net.count.dtype == ja.tensor(0).dtype and net.hidden.dtype == ja.bfloat16
    assert net.float().gain.dtype == ja.float32 and net.half().gain.dtype == ja.float16
    net.float().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.requires_grad_().to("cpu")
    net(ja.tensor(X)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert weight.grad.abs().sum() == 0
    net.zero_grad()
    assert weight.grad is None
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen[-1] == "Net" and seen.count("Linear") == 3
    assert not net.eval().named["drop"].training and net.train().rows[1].training


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_forward_hooks_see_and_change_arguments_and_outputs():
    net, seen = nn.Linear(2, 2), []
    handles = [
        net.register_forward_pre_hook(lambda module, args: (args[0] * 2,)),
        net.register_forward_hook(lambda module, args, output: output + 1),
        net.register_forward_hook(lambda module, args, kwargs, output: seen.append(kwargs), with_kwargs=True),
        net.register_forward_pre_hook(lambda module, args: seen.append("first"), prepend=True),
    ]
    x = ja.ones(1, 2)
    expected = (nn.functional.linear(x * 2, net.weight, net.bias) + 1).tolist()
    assert net(x).tolist() == expected and seen == ["first", {}]
    for handle in handles:
        handle.remove()
    assert net(x).tolist() != expected
    failed = nn.Linear(2, 2)
    failed.register_forward_hook(lambda module, args, output: seen.append("always"), always_call=True)
    with pytest.raises(RuntimeError):
        failed(ja.ones(1, 3))
    assert seen[-1] == "always"


def backward_hooks(library):
    """Returns what backward hooks see, and the gradients with which they leave a module."""
    layer, seen = library.nn.Bilinear(2, 2, 1), []
    with library.no_grad():
        layer.weight.copy_(library.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        layer.bias.fill_(1.0)
    show = lambda values: [None if v is None else v.tolist() for v in values]
    scaled = lambda gradient: None if gradient is None else gradient * 10
    layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    layer.register_full_backward_hook(lambda module, before, after: seen.append([show(before), show(after)]))
    layer.register_full_backward_hook(lambda module, before, after: (scaled(before[0]), before[1]))
    x, y = library.ones(1, 2).requires_grad_(), library.tensor([[2.0, 3.0]]).requires_grad_()
    for grads in ((x, y), (y,)):
        given = [t if t is grads[0] or len(grads) == 2 else t.detach() for t in (x, y)]
        layer(*given).sum().backward()
    return seen, x.grad.tolist(), y.grad.tolist(), layer.weight.grad.tolist()


@pytest.mark.slow
def test_backward_hooks_see_and_change_gradients():
    seen, of_x, of_y, _ = backward_hooks(ja)
    assert seen[0] == [[[[16.0, 36.0]], [[8.0, 12.0]]], [[[2.0]]]]
    assert of_x == [[160.0, 360.0]]
    assert of_y == [[16.0, 24.0]]


@pytest.mark.oracle
def test_backward_hooks_see_what_those_of_pytorch_see():
    torch = pytest.importorskip("torch")
    assert backward_hooks(ja) == backward_hooks(torch)
    layer = lambda library: library.nn.Linear(2, 1)
    for given in ((True,), (False,)):
        found = []
        for library in (ja, torch):
            net, seen = layer(library), []
            with library.no_grad():
                net.weight.fill_(2.0)
                net.bias.fill_(0.5)
            show = lambda values: [None if v is None else v.tolist() for v in values]
            net.register_full_backward_hook(lambda m, a, b, seen=seen, show=show: seen.append([show(a), show(b)]))
            x = library.ones(3, 2).requires_grad_(given[0])
            net(x).square().sum().backward()
            found.append((seen, None if x.grad is None else x.grad.tolist(), net.weight.grad.tolist()))
        assert found[0] == found[1]


# -- compiled, functional, checkpointed --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_compiled_module_writes_buffers_and_guards_what_it_reads():
    net, eager = made(), made()
    net.named["drop"].p = eager.named["drop"].p = 0.0
    step = ja.compile(net)
    for _ in range(3):
        np.testing.assert_allclose(step(ja.tensor(X)).tolist(), eager(ja.tensor(X)).tolist(), rtol=1e-5)
    assert net.count.item() == 3 and step.cache_info().misses == 1
    np.testing.assert_allclose(net.hidden.tolist(), eager.hidden.tolist(), rtol=1e-5)
    for change in (lambda n: n.eval(), lambda n: setattr(n, "depth", 1), lambda n: setattr(n, "scale", 3.0)):
        change(net), change(eager)
        np.testing.assert_allclose(step(ja.tensor(X)).tolist(), eager(ja.tensor(X)).tolist(), rtol=1e-5)
    assert step.cache_info().misses == 4
    net.train(), net.eval()
    net.unread = 3
    step(ja.tensor(X))
    assert step.cache_info().misses == 4 and net.count.item() == 3


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.register_forward_hook(lambda module, args, output: output * 3),
        lambda net: setattr(net.rows[0], "weight", nn.Parameter(ja.ones(4, 4))),
        lambda net: setattr(net.named, "act", None) or net.named.update({"act": nn.ReLU()}),
        lambda net: net.first.load_state_dict({"weight": ja.ones(4, 3), "bias": ja.ones(4)}),
        lambda net: setattr(net, "first", nn.Linear(3, 4, bias=False)),
        lambda net: net.rows.__setitem__(1, nn.Identity()),
        lambda net: net.first.requires_grad_(False),
    ],
    ids=["hook", "parameter", "module", "load", "layer", "item", "frozen"],
)
def test_a_change_of_a_module_is_seen_by_a_compiled_call(change):
    net = made()
    step = ja.compile(lambda x: net(x).sum())
    step(ja.tensor(X)).backward()
    change(net)
    net.zero_grad()
    loss = step(ja.tensor(X))
    loss.backward()
    found = {name: None if p.grad is None else p.grad.tolist() for name, p in net.named_parameters()}
    net.zero_grad()
    expected = net(ja.tensor(X)).sum()
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for name, p in net.named_parameters():
        if p.grad is None:
            assert found[name] is None
        else:
            np.testing.assert_allclose(found[name], p.grad.tolist(), rtol=1e-4, atol=1e-6)


def test_a_compiled_hook_on_gradients_runs():
    net = nn.Linear(3, 2)
    net.register_full_backward_hook(lambda module, before, after: (before[0] * 2,))
    x = ja.tensor(X).requires_grad_()

    def step(x):
        net(x).sum().backward()

    ja.compile(step)(x)
    np.testing.assert_allclose(x.grad.tolist(), 2 * np.tile(net.weight.detach().numpy().sum(0), (2, 1)), rtol=1e-5)


@pytest.mark.slow
def test_a_functional_call_takes_other_parameters_and_buffers():
    net = made().eval()
    state = {name: value.detach().clone() * 2 for name, value in net.named_parameters()}
    state |= {name: value.clone() for name, value in net.named_buffers()}
    loss = lambda state, x: ja.func.functional_call(net, state, (x,)).sum()
    other = copy.deepcopy(net)
    with ja.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(state[name])
    expected = other(ja.tensor(X)).sum()
    expected.backward()
    slopes = ja.func.grad(lambda params: loss({**state, **params}, ja.tensor(X)))(
        {name: state[name] for name, _ in net.named_parameters()}
    )
    for name, parameter in other.named_parameters():
        np.testing.assert_allclose(slopes[name].tolist(), parameter.grad.tolist(), rtol=1e-4, atol=1e-5)
    assert net.count.item() == 0
    compiled = ja.compile(loss)
    assert compiled(state, ja.tensor(X)).item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_stack_of_modules_is_called_at_once():
    nets = [nn.Linear(3, 2), nn.Linear(3, 2)]
    params, buffers = ja.func.stack_module_state(nets)
    call = lambda params, buffers, x: ja.func.functional_call(nets[0], (params, buffers), (x,))
    found = ja.func.vmap(call, in_dims=(0, 0, None))(params, buffers, ja.tensor(X))
    np.testing.assert_allclose(found.tolist(), [net(ja.tensor(X)).tolist() for net in nets], rtol=1e-5)


def test_a_checkpointed_module_has_the_same_gradients():
    net, x = made(), ja.tensor(X).requires_grad_()
    net(x).square().sum().backward()
    expected = [p.grad.tolist() for p in net.parameters()]
    net.zero_grad()
    step = ja.compile(lambda x: ja.utils.checkpoint.checkpoint(net, x).square().sum())
    for call in (lambda: ja.utils.checkpoint.checkpoint(net, x, use_reentrant=False).square().sum(), lambda: step(x)):
        call().backward()
        for p, gradient in zip(net.parameters(), expected, strict=True):
            np.testing.assert_allclose(p.grad.tolist(), gradient, rtol=1e-4, atol=1e-6)
        net.zero_grad()


def random_net(rng, depth=0):
    """Returns a random module from (batch, 4) to (batch, 4)."""
    kind = rng.integers(0, 9 if depth < 3 else 5)
    if kind < 5:
        return [
            lambda: nn.Linear(4, 4, bias=bool(rng.integers(2))),
            lambda: nn.BatchNorm1d(4, momentum=[0.1, None][rng.integers(2)], affine=bool(rng.integers(2))),
            lambda: nn.LayerNorm(4),
            lambda: [nn.Tanh(), nn.GELU(), nn.Softplus(), nn.Identity()][rng.integers(4)],
            lambda: nn.GroupNorm(2, 4),
        ][kind]()
    children = [random_net(rng, depth + 1) for _ in range(rng.integers(1, 4))]
    return nn.Sequential(*children) if kind < 7 else Residual(children)


class Residual(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", seeds(60, 2))
def test_random_modules_train_compiled_as_eagerly(seed):
    rng = np.random.default_rng(seed)
    ja.manual_seed(seed)
    net = nn.Sequential(random_net(rng), nn.Linear(4, 4), random_net(rng))
    nets = [net, copy.deepcopy(net)]
    losses, calls = [], []
    for n, model in enumerate(nets):
        # by the default eps, rounding of a gradient that is zero would decide where a bias before a BatchNorm goes
        optimizer = ja.optim.Adam(model.parameters(), lr=0.01, eps=1e-3)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        call = ja.compile(step) if n else step
        calls.append(call)
        batches = [np.random.default_rng(i).normal(size=(5, 4)).astype(np.float32) for i in range(4)]
        losses.append([call(ja.tensor(x)).item() for x in batches])
    np.testing.assert_allclose(*losses, rtol=2e-3, atol=1e-5)
    assert calls[1].cache_info().misses == 1, calls[1].explain_recompiles()
    for one, other in zip(*(model.state_dict().values() for model in nets), strict=True):
        np.testing.assert_allclose(one.tolist(), other.tolist(), rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("name", ["Conv2d", "ConvTranspose1d", "BatchNorm1d", "MaxPool2d", "AdaptiveAvgPool1d"])
def test_missing_and_further_arguments_are_those_of_the_class_that_was_called(name):
    cls = getattr(nn, name)
    with pytest.raises(TypeError, match=rf"{name}\.__init__\(\) missing .* required positional argument"):
        cls()
    with pytest.raises(TypeError, match=rf"{name}\.__init__\(\) takes "):
        cls(*range(30))


def test_a_compiled_module_runs_programs_with_its_hooks_and_its_copies_do_not():
    net, called = nn.Sequential(nn.Linear(3, 2), nn.ReLU()), []
    wanted = net(ja.tensor(X))
    net.register_forward_hook(lambda *given: called.append(1))
    net.compile(fullgraph=True)
    for _ in range(2):
        got = net(ja.tensor(X))
    got.sum().backward()
    assert len(called) == 2 and list(net.state_dict()) == ["0.weight", "0.bias"]
    assert net[0].weight.grad.shape == (2, 3) and "CompiledBackward" in repr(got)
    for other in (copy.deepcopy(net), copy.copy(net)):
        assert np.allclose(other(ja.tensor(X)).detach(), wanted.detach(), atol=1e-6)
        assert "CompiledBackward" not in repr(other(ja.tensor(X)))


def test_a_module_loads_and_saves_its_own_state_its_own_way():
    class Old(nn.Linear):
        def get_extra_state(self):
            return {"kept": 3}

        def set_extra_state(self, state):
            self.extra = state

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[f"{prefix}w"] = destination.pop(f"{prefix}weight")

        def _load_from_state_dict(self, state_dict, prefix, *others):
            state_dict[f"{prefix}weight"] = state_dict.pop(f"{prefix}w")
            super()._load_from_state_dict(state_dict, prefix, *others)

    net, seen = nn.Sequential(Old(2, 2)), []
    state = net.state_dict()
    assert set(state) == {"0.w", "0.bias", "0._extra_state"}
    net[0]._register_load_state_dict_pre_hook(lambda state, prefix, *others: seen.append(prefix))
    net.load_state_dict({**state, "0.w": ja.full((2, 2), 7.0)})
    assert net[0].weight.tolist() == [[7, 7], [7, 7]] and net[0].extra == {"kept": 3} and seen == ["0."]
    lists = [], [], []
    net[0]._load_from_state_dict({"w": ja.zeros(2, 2)}, "", {}, True, *lists)
    assert net[0].weight.tolist() == [[0, 0], [0, 0]] and lists[0] == ["bias", "_extra_state"]
    with pytest.raises(NotImplementedError, match="should never be called"):
        nn.Linear(1, 1).get_extra_state()


def test_names_of_older_scripts_lead_to_the_same():
    from jaxaot.nn.modules.utils import _pair

    from jaxaot.nn.modules import batchnorm, conv, loss

    assert isinstance(nn.BatchNorm2d(1), batchnorm._BatchNorm) and isinstance(nn.Conv1d(1, 1, 1), conv._ConvNd)
    assert isinstance(nn.MSELoss(), loss._Loss) and _pair(3) == (3, 3) and _pair([1, 2]) == (1, 2)
    with pytest.warns(FutureWarning, match="in favor of `nn.init.constant_`"):
        assert nn.init.constant(ja.empty(2), 3.0).tolist() == [3, 3]
    layer = nn.utils.skip_init(nn.Linear, 2, 3, bias=False)
    assert layer.weight.shape == (3, 2) and layer.weight.device.type == "cpu"


@pytest.mark.slow
def test_modules_for_many_devices_are_as_the_plain_ones():
    plain = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2))
    x = ja.tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2))
    wanted = copy.deepcopy(plain)(x)
    net = nn.DataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(plain), device_ids=[0])
    assert type(net.module[1]) is nn.SyncBatchNorm and np.allclose(net(x).detach(), wanted.detach(), atol=1e-6)
    assert "module.1.running_mean" in net.state_dict()
