"""Random programs under nested `autocast` agree with PyTorch: dtypes, values and gradients; eagerly and compiled."""

import contextlib
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import jaxaot as ja  # noqa: E402
from tests.seeds import seeds  # noqa: E402

pytestmark = pytest.mark.oracle

SHAPE = (4, 4)

UNARY = ("relu", "tanh", "exp", "neg", "sum_rows", "softmax", "float", "bfloat16", "detach", "prod_rows", "trace")
BINARY = ("add", "mul", "mm", "matmul", "linear", "cat", "stack", "mse", "l1", "einsum", "where")
WRITES = ("add_", "mul_", "addmm_", "copy_")


def written(rng):
    """Returns a program: steps in order, those of a context in a list of their own."""

    def block(depth, n):
        steps = []
        for _ in range(n):
            kind = rng.random()
            if kind < 0.25 and depth < 3:
                options = {
                    "dtype": rng.choice(["bfloat16", "bfloat16", "float16"]),
                    "enabled": rng.random() < 0.75,
                    "cache_enabled": rng.choice([None, True, False]),
                }
                steps.append(("context", options, block(depth + 1, rng.randint(1, 4))))
            elif kind < 0.32 and depth < 3:
                steps.append(("no_grad", None, block(depth + 1, rng.randint(1, 2))))
            elif kind < 0.42:
                steps.append(("write", rng.choice(WRITES), [rng.random() for _ in range(3)]))
            elif kind < 0.65:
                steps.append(("op", rng.choice(UNARY), [rng.random()]))
            else:
                steps.append(("op", rng.choice(BINARY), [rng.random() for _ in range(3)]))
        return steps

    return [("context", {"dtype": "bfloat16", "enabled": True, "cache_enabled": None}, block(1, 4)), *block(0, 4)]


def applied(m, name, a, b):
    """Returns the result of an op in either library, always 4 by 4."""
    f = m.nn.functional
    square = lambda t: t.reshape(()).expand(SHAPE)
    return {
        "relu": lambda: a.relu(), "tanh": lambda: a.tanh(), "exp": lambda: (a.tanh()).exp(), "neg": lambda: -a,
        "sum_rows": lambda: a.sum(0).expand(SHAPE), "softmax": lambda: f.softmax(a, 1), "float": lambda: a.float(),
        "bfloat16": lambda: a.bfloat16(), "detach": lambda: a.detach(),
        "prod_rows": lambda: a.tanh().prod(0).expand(SHAPE),
        "trace": lambda: square(m.Tensor.trace(a)), "add": lambda: a + b, "mul": lambda: a.tanh() * b,
        "mm": lambda: m.mm(a, b).tanh(), "matmul": lambda: (a @ b).tanh(),
        "linear": lambda: f.linear(a, b, b[0]).tanh(), "cat": lambda: m.cat([a[:2], b[2:]]),
        "stack": lambda: m.stack([a, b])[1], "mse": lambda: square(f.mse_loss(a, b)),
        "l1": lambda: square(f.l1_loss(a, b)), "einsum": lambda: m.einsum("ij,kj->ik", a, b).tanh(),
        "where": lambda: m.where(m.ones(SHAPE, dtype=m.bool), a, b),
    }[name]()  # fmt: skip


def run(m, autocast, program, leaves, log):
    """Runs a program and returns the sum of what it made."""
    values = list(leaves)

    def pick(number):
        return values[int(number * len(values))]

    def go(steps):
        for kind, what, rest in steps:
            if kind == "context":
                with autocast(what):
                    go(rest)
            elif kind == "no_grad":
                with m.no_grad():
                    go(rest)
            elif kind == "op":
                with refused(log):
                    a = pick(rest[0])
                    values.append(applied(m, what, a, pick(rest[1]) if len(rest) > 1 else a))
                    log.append(str(values[-1].dtype).removeprefix("torch."))
            else:
                with refused(log):
                    made = pick(rest[0]).clone()
                    if what == "addmm_":
                        made.addmm_(
                            *(pick(number).to(made.dtype) for number in rest[1:])
                        )  # ours takes any dtype to add to
                    else:
                        getattr(made, what)(pick(rest[1]))
                    values.append(made)
                    log.append(str(made.dtype).removeprefix("torch."))

    go(program)
    made = [v.float() for v in values[len(leaves) :]]
    return sum((v.tanh() * (i + 1) for i, v in enumerate(made)), leaves[0] * 1).sum(), made


@contextlib.contextmanager
def refused(log):
    """What one library refuses, the other does: the step is left out."""
    try:
        yield
    except (RuntimeError, TypeError, ValueError, ja.errors.JaxaotError):
        log.append("refused")


def by_torch(program, arrays):
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    autocast = lambda o: torch.autocast("cpu", **{**o, "dtype": getattr(torch, o["dtype"])})
    log = []
    loss, made = run(torch, autocast, program, leaves, log)
    loss.backward()
    grads = [leaf.grad for leaf in leaves]
    return log, [v.detach().numpy() for v in made], [None if g is None else g.numpy() for g in grads]


def by_ours(program, arrays, is_compiled, backward_mode):
    leaves = [ja.tensor(a, requires_grad=True) for a in arrays]
    autocast = lambda o: ja.autocast("cpu", **{**o, "dtype": getattr(ja, o["dtype"])})
    log = []
    fn = lambda leaves: run(ja, autocast, program, leaves, log)
    loss, made = (ja.compile(fn) if is_compiled else fn)(leaves)
    with backward_mode:
        loss.backward()
    assert not ja.is_autocast_enabled()
    return log, [v.detach().numpy() for v in made], [None if t.grad is None else t.grad.numpy() for t in leaves]


@pytest.mark.parametrize("seed", seeds(24, 8))
def test_a_program(seed):
    rng = random.Random(seed)
    program = written(rng)
    arrays = [np.random.default_rng(seed + i).normal(size=SHAPE).astype(np.float32) for i in range(3)]
    log, values, grads = by_torch(program, arrays)
    for is_compiled in (False, True):
        ours = by_ours(program, arrays, is_compiled, ja.autocast() if seed % 2 else contextlib.nullcontext())
        assert ours[0] == log
        for got, expected in zip(ours[1], values, strict=True):
            np.testing.assert_allclose(got, expected, rtol=5e-2, atol=8e-2)
        for got, expected in zip(ours[2], grads, strict=True):
            assert (got is None) == (expected is None)
            if got is not None:
                scale = max(1.0, np.abs(expected).max())
                np.testing.assert_allclose(got / scale, expected / scale, atol=6e-2)
