"""PyTorch's modules on JAX: what they compute, keep and refuse is what PyTorch does on the CPU."""

import ast
import copy
import pickle
import subprocess
import sys
import types

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        torch.manual_seed(0)
        yield


def network():
    layers = torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.GELU(), torch.nn.Linear(4, 1)
    return torch.nn.Sequential(*layers).double()


def pair(make=network):
    """Returns a module on JAX, and the same one in PyTorch."""
    module = make()
    return ja.torch.move(copy.deepcopy(module)), module


def equal(found, expected, tolerance=1e-10):
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(ja.torch.to_torch(here).detach(), there.detach(), tolerance, tolerance)


def batch():
    x = torch.randn(5, 3).double()
    return ja.torch.to_jax(x), x


OPTIMIZERS = (
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "Adagrad", "Adadelta"
)  # fmt: skip


@each("name", OPTIMIZERS)
def test_steps_of_an_optimizer_are_pytorchs(name):
    moved, module = pair()
    x, y = batch()
    steppers = [getattr(torch.optim, name)(m.parameters(), lr=0.01) for m in (moved, module)]
    for _ in range(3):
        for model, optimizer, data in zip((moved, module), steppers, (x, y), strict=True):
            optimizer.zero_grad()
            loss = model(data).square().mean()
            loss.backward()
            optimizer.step()
    equal(moved.parameters(), module.parameters())


def test_a_whole_step_is_one_program_and_counts_on():
    moved, module = pair()
    x, y = batch()
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.01) for m in (moved, module)]
    compiling = []

    def train(model, optimizer, data):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    @ja.compile(memory_budget="1MiB", fullgraph=True)
    def step(data):
        compiling.append(torch.compiler.is_compiling())
        return train(moved, optimizers[0], data)

    for _ in range(5):
        equal([step(x)], [train(module, optimizers[1], y)])
    equal(moved.parameters(), module.parameters())
    assert step.cache_info().currsize == 2 and step.cache_info().hits == 3  # with no state yet, and with it
    assert all(compiling) and not torch.compiler.is_compiling()


def test_a_program_is_one_for_the_modes_of_pytorch():
    moved, module = pair()
    x, y = batch()
    forward = ja.compile(moved)
    with torch.no_grad():
        assert not forward(x).requires_grad
    out = forward(x)
    out.sum().backward()
    module(y).sum().backward()
    equal([p.grad for p in moved.parameters()], [p.grad for p in module.parameters()])


LOAD = """
import sys
sys.modules["torch"] = None
import jax, jaxaot as ja
jax.config.update("jax_enable_x64", True)
forward = ja.load(sys.argv[1])
print(forward(ja.ones(2, 3, dtype=ja.float64)).tolist())
"""


@each("is_compiled", (False, True))
def test_an_exported_module_is_called_where_there_is_no_pytorch(is_compiled, tmp_path):
    moved, module = pair()
    file, x = str(tmp_path / "forward.jaxaot"), torch.ones(2, 3).double()
    ja.export(ja.compile(moved) if is_compiled else moved, ja.torch.to_jax(x)).save(file)
    ran = subprocess.run([sys.executable, "-c", LOAD, file], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(ast.literal_eval(ran.stdout), module(x).tolist())


def test_a_step_has_reports_budgets_and_one_program_for_sizes_of_a_bucket():
    moved, module = pair()
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.01) for m in (moved, module)]

    def train(model, optimizer, data):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    step = ja.compile(lambda x: train(moved, optimizers[0], x), memory_budget=0.5)
    for n in (9, 10, 11, 12, 9):
        x = torch.randn(n, 3).double()
        equal([step(ja.torch.to_jax(x))], [train(module, optimizers[1], x)])
    equal(moved.parameters(), module.parameters())
    assert step.n_programs_made <= 4
    assert "['exp_avg'].__wrapped__: float64[4,3], written" in str(step.explain())
    assert ja.estimate.pareto(lambda x: moved(x).sum(), ja.torch.to_jax(x)).points


def test_modules_are_copied_pickled_and_loaded():
    moved, module = pair()
    copied = copy.deepcopy(moved)
    assert isinstance(copied[0].weight, torch.nn.Parameter) and copied[0].weight is not moved[0].weight
    loaded = pickle.loads(pickle.dumps(moved))
    assert type(loaded[0].weight) is torch.nn.Parameter
    equal(moved.parameters(), loaded.parameters())
    with torch.no_grad():
        module[0].weight.add_(1)
    moved.load_state_dict(module.state_dict())
    equal(moved.state_dict().values(), module.state_dict().values())
    assert moved.float()[0].weight.dtype is torch.float32 and moved[0].weight.grad is None


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y, 2 * y

    @staticmethod
    def backward(ctx, g, h):
        x, _ = ctx.saved_tensors
        return (g + 2 * h) * 3 * x * x


def gradients(x):
    y, z = Cube.apply(x.sin())
    (first,) = torch.autograd.grad((y * z).sum(), x, create_graph=True)
    return [y, first, *torch.autograd.grad(first.sum(), x)]


def checkpointed(x, use_reentrant):
    fn = lambda t: Cube.apply(t.cos())[0].sum()
    torch.utils.checkpoint.checkpoint(fn, x, use_reentrant=use_reentrant).backward()
    return [x.grad]


def hooked(x):
    seen = []
    layer = torch.nn.Tanh()
    layer.register_full_backward_hook(lambda module, into, out: seen.append(into[0] + out[0]))
    y = x * 2
    y.register_hook(lambda g: g * 3)
    layer(y).sum().backward()
    return [x.grad, *seen]


def packed(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        y = x.exp() * x
    y.sum().backward()
    return [x.grad]


def written(x):
    y = x * 1
    y[1:].mul_(y[:-1].clone())
    y.view(-1)[0] = 3.0
    y.sum().backward()
    return [y, x.grad]


def recurrent(x):
    torch.manual_seed(1)
    found = []
    for cls in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        layer = cls(3, 2, num_layers=2, bidirectional=True, batch_first=True).double()
        layer = ja.torch.move(layer) if isinstance(x, ja.torch.Tensor) else layer
        out = layer(x.reshape(1, -1, 3))[0]
        out.sum().backward()
        found += [out, *(p.grad for p in layer.parameters())]
    return found


def attention(x):
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).double()
    layer = ja.torch.move(layer) if isinstance(x, ja.torch.Tensor) else layer
    out = layer(x.reshape(1, 3, 4))
    out.square().sum().backward()
    return [out, x.grad, torch.nn.utils.clip_grad_norm_(layer.parameters(), 0.1)]


def by_autocast(x):
    y = x.float() if x.dtype is torch.float64 else x
    with torch.autocast("xla" if isinstance(x, ja.torch.Tensor) else "cpu", dtype=torch.bfloat16):
        return [(y.reshape(3, 4) @ y.reshape(4, 3)).float()]


PROGRAMS = {
    "gradients": gradients,
    "reentrant": lambda x: checkpointed(x, True),
    "recomputed": lambda x: checkpointed(x, False),
    "hooked": hooked, "packed": packed, "written": written, "recurrent": recurrent, "attention": attention,
}  # fmt: skip


@each("name", PROGRAMS)
def test_a_program_gives_what_pytorch_gives(name):
    values = torch.linspace(-1, 1, 12, dtype=torch.float64)
    x, y = ja.torch.to_jax(values).requires_grad_(), values.clone().requires_grad_()
    equal(PROGRAMS[name](x), PROGRAMS[name](y), 1e-8)


def test_autocast_is_read():
    values = torch.linspace(-1, 1, 12)
    equal(by_autocast(ja.torch.to_jax(values)), by_autocast(values), 1e-2)


def test_seeds_are_pytorchs():
    x, found = ja.torch.to_jax(torch.ones(64)), []
    for _ in range(2):
        torch.manual_seed(3)
        found.append(ja.torch.to_torch(torch.nn.functional.dropout(x)))
        found.append(ja.torch.to_torch(torch.rand_like(x)))
    assert found[0].equal(found[2]) and found[1].equal(found[3]) and not found[0].equal(found[1])


def test_tensors_of_pytorch_are_refused_or_are_one_number():
    x, foreign = ja.torch.to_jax(torch.ones(3)), torch.ones(3)
    assert (x + torch.tensor(1.0)).tolist() == [2, 2, 2]
    with pytest.raises(ja.errors.ForeignTensorError, match="Expected all tensors to be on the same device"):
        x + foreign
    with pytest.raises(ja.errors.ForeignTensorError, match="writes to a tensor of PyTorch's own"):
        torch.tensor(1.0).add_(x)
    with pytest.raises(ja.errors.ForeignTensorError, match="constant of the program"):
        ja.compile(lambda: x + torch.Tensor.sum(foreign), fullgraph=True)()
    foreign.copy_(x)
    x.copy_(foreign)
    assert type(x.cpu()) is torch.Tensor


def test_gradients_cross_over():
    values = torch.ones(3, requires_grad=True)
    with ja.torch.scope():
        x = (values * 2).to(ja.torch.device())
    (x * x).cpu().sum().backward()
    assert values.grad.tolist() == [8, 8, 8]


def test_dtypes_of_64_bits_are_needed():
    with jax.enable_x64(False), pytest.raises(ja.errors.DtypeError, match="jax_enable_x64"):
        ja.torch.to_jax(torch.ones(3))


def test_factories_are_on_jax_in_a_scope_and_in_a_forward():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x + torch.arange(3, device=x.device) + torch.ones(3)

    with ja.torch.scope():
        assert type(torch.zeros(2)) is type(torch.tensor([1, 2])) is ja.torch.Tensor
        assert type(torch.zeros(2, device="cpu")) is torch.Tensor
    assert ja.torch.move(Model())(ja.torch.to_jax(torch.zeros(3))).tolist() == [1, 2, 3]
    assert type(torch.zeros(2)) is torch.Tensor


def refuses(call):
    try:
        found = call()
    except Exception:
        return True
    return type(found) is not torch.Tensor


def test_no_method_of_the_class_in_c_writes_to_the_shell_or_returns_a_tensor_of_pytorch():
    x = ja.torch.to_jax(torch.ones(2, 2))
    silent = []
    for name in vars(torch._C.TensorBase):
        if name in {"__init__", "__new__", "_make_subclass", "_make_wrapper_subclass", "_dtensor__new__"}:
            continue
        for args in ((), (1,), (x,), ((2, 2),), (torch.ones(2, 2),)):
            y = ja.torch.to_jax(torch.ones(2, 2))
            member = getattr(type(y), name)
            call = (lambda y=y, name=name: getattr(y, name)) if not callable(member) else None
            if not refuses(call or (lambda y=y, name=name, args=args: getattr(y, name)(*args))):
                silent.append((name, len(args)))
    assert {name for name, _ in silent} <= {"cpu", "to", "type", "type_as"}  # whose argument is of PyTorch


def test_the_process_is_as_it_was():
    ja.torch.move(torch.nn.Linear(1, 1))
    assert isinstance(torch.autograd.Function.apply, types.MethodType | types.BuiltinMethodType)
    assert not torch.compiler.is_compiling() and torch._C._get_privateuse1_backend_name() == "privateuseone"
    y = torch.ones(2, requires_grad=True)
    Cube.apply(y)[0].sum().backward()
    assert y.grad.tolist() == [3, 3]


MADE_ON_THE_DEVICE = {
    "zeros": lambda **on: torch.zeros(2, 3, **on),
    "full": lambda **on: torch.full((2,), 7.0, **on),
    "arange": lambda **on: torch.arange(1, 9, 2, **on),
    "tensor": lambda **on: torch.tensor([1, 2.5], **on),
    "number": lambda **on: torch.tensor(3.0, **on),
    "to": lambda **on: torch.arange(3.0).to(**on),
    "linspace": lambda **on: torch.linspace(0, 1, 3, **on),
}


@each("name", MADE_ON_THE_DEVICE)
def test_the_device_is_named_in_a_scope_alone(name):
    make = MADE_ON_THE_DEVICE[name]
    with pytest.raises(ja.errors.NoCounterpartError, match="scope"):
        make(device=ja.torch.device())
    with ja.torch.scope():
        found = make(device=ja.torch.device())
        assert torch.equal(ja.torch.to_torch(found), make(device="cpu"))


def test_an_optimizer_reads_the_state_of_pytorchs():
    modules = [torch.nn.Linear(2, 3) for _ in range(2)]
    modules[0].load_state_dict(modules[1].state_dict())
    ja.torch.move(modules[0])
    x = torch.arange(4.0).reshape(2, 2)
    optimizers = [torch.optim.AdamW(module.parameters(), lr=0.1) for module in modules]

    def step(i):
        optimizers[i].zero_grad()
        (modules[i](x if i else ja.torch.to_jax(x)) ** 2).sum().backward()
        optimizers[i].step()

    step(1)
    modules[0].load_state_dict(modules[1].state_dict())
    with ja.torch.scope():
        optimizers[0].load_state_dict(copy.deepcopy(optimizers[1].state_dict()))
    step(0), step(1)
    assert torch.allclose(ja.torch.to_torch(modules[0].weight).detach(), modules[1].weight, atol=1e-6)
    optimizers[1].load_state_dict(ja.torch.to_torch(optimizers[0].state_dict()))
    optimizers[0].load_state_dict(copy.deepcopy(optimizers[0].state_dict()))
    step(0), step(1)
    assert torch.allclose(ja.torch.to_torch(modules[0].weight).detach(), modules[1].weight, atol=1e-6)


def test_operators_of_aten_are_the_functions_of_their_names():
    x, aten = torch.arange(12.0).reshape(3, 4), torch.ops.aten
    for f in (
        lambda x: aten.slice(x, 1, 1, None, 2), lambda x: aten.slice.Tensor(x, -1, 0, -1), lambda x: aten.add(x, x),
        lambda x: aten.add.Tensor(x, x, alpha=2), lambda x: aten.sum.dim_IntList(x, [1], True), lambda x: aten.clone(x),
    ):  # fmt: skip
        assert torch.equal(ja.torch.to_torch(f(ja.torch.to_jax(x))), f(x))
