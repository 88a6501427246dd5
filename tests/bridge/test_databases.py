"""PyTorch's own tables of modules and optimizers, by which it tests them, on JAX and on the CPU."""

import copy

import jax
import pytest

import jaxaot as ja
from tests.seeds import chunks

torch = pytest.importorskip("torch")
from torch.utils import _pytree as trees  # noqa: E402

from tests.bridge.test_names import difference  # noqa: E402

pytestmark = pytest.mark.oracle
DRAW = "Dropout", "RReLU", "Fractional"
N_MODULES, N_OPTIMIZERS = 120, 20


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        torch.manual_seed(0)
        yield


def leaves(value):
    """Returns a copy in which tensors are leaves."""
    fresh = lambda x: x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x
    return trees.tree_map(fresh, value)


def gradients(module, args, kwargs):
    """Returns what a module returns, and the gradients of its inputs and parameters."""
    result = module(*args, **kwargs)
    parts = [x for x in trees.tree_leaves(result) if isinstance(x, torch.Tensor) and x.requires_grad]
    if parts:
        sum(x.abs().sum() if x.is_complex() else (x * x).sum() for x in parts).backward()
    given = [x for x in trees.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    return result, [x.grad for x in (*given, *module.parameters())], list(module.buffers())


def wrong_of_module(info):
    """Returns in words what is wrong with a module of PyTorch's table."""
    dtype, found = torch.float64 if torch.float64 in info.dtypes else torch.float32, []
    for training in (True, False):
        more = {"device": "cpu", "dtype": dtype, "requires_grad": True, "training": training}
        for sample in info.module_inputs_func(info, **more)[:4]:
            made, given = sample.constructor_input, sample.forward_input
            module = info.module_cls(*made.args, **made.kwargs).to(dtype).train(training)
            moved, here, there = (
                copy.deepcopy(module),
                leaves((given.args, given.kwargs)),
                leaves((given.args, given.kwargs)),
            )
            try:
                expected = gradients(module, *there)
            except (RuntimeError, ValueError):  # what PyTorch refuses is another test's
                continue
            if "Lazy" in info.name:  # shapes come from a first call
                moved(*leaves(given.args))
                module.zero_grad(), moved.load_state_dict(module.state_dict())
            with ja.torch.scope():
                got = gradients(ja.torch.move(moved), *ja.torch.to_jax(here))
            wrong = difference(got, expected, info.name.startswith(tuple(f"nn.{name}" for name in DRAW)), 1e-5)
            found.append(f"{info.name} {sample.desc} {'training' if training else ''}: {wrong}" if wrong else "")
    return [what for what in dict.fromkeys(found) if what]


@pytest.mark.parametrize("start", chunks(30, N_MODULES, 0))
def test_modules_of_pytorchs_table_are_pytorchs(start):
    from torch.testing._internal.common_modules import module_db

    assert len(module_db) <= N_MODULES
    found = [what for info in module_db[start : start + 30] for what in wrong_of_module(info)]
    assert not found, "\n".join(found)


def network(of):
    has_bias = of is not getattr(torch.optim, "Muon", None)  # it takes matrices alone
    layers = torch.nn.Linear(3, 4, has_bias), torch.nn.Tanh(), torch.nn.Linear(4, 1, has_bias)
    return torch.nn.Sequential(*layers).double()


def steps(info, module, x, kwargs):
    optimizer = info.optim_cls(module.parameters(), **kwargs)

    def closure():
        optimizer.zero_grad()
        loss = module(x).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        closure()
        optimizer.step(closure) if info.step_requires_closure else optimizer.step()
    return list(module.parameters())


def wrong_of_optimizer(info):
    """Returns in words what is wrong with an optimizer of PyTorch's table, by all options that it is tested with."""
    found = []
    for sample in info.optim_inputs_func(device="cpu"):
        module, x = network(info.optim_cls), torch.randn(5, 3).double()
        moved = ja.torch.move(copy.deepcopy(module))
        if sample.kwargs.get("fused"):  # a kernel of the CPU's
            continue
        expected = steps(info, module, x, copy.deepcopy(sample.kwargs))
        got = steps(info, moved, ja.torch.to_jax(x), ja.torch.to_jax(copy.deepcopy(sample.kwargs)))
        wrong = difference(got, expected, tolerance=1e-8)
        found += [f"{info.optim_cls.__name__} {sample.desc}: {wrong}"] if wrong else []
    return found


@pytest.mark.parametrize("start", chunks(1, N_OPTIMIZERS, 2))
def test_optimizers_of_pytorchs_table_are_pytorchs(start):
    from torch.testing._internal.common_optimizers import optim_db

    assert len(optim_db) <= N_OPTIMIZERS
    infos = [info for info in optim_db if info.optim_cls is not torch.optim.SparseAdam]  # of sparse gradients
    assert not [what for info in infos[start : start + 1] for what in wrong_of_optimizer(info)]
