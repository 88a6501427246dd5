"""What a compiled call costs beyond its computation: `ja.compile` of one op against `jax.jit` of the same op.

    python -m benchmarks.dispatch

With 1, 10, 100 and 500 tensor arguments of 8 elements, of which one is computed with, or written in place. `jax.jit`
returns the new value where `ja.compile` writes it; it donates the argument where the baseline's name says so. Where
they are installed, `torch.compile` and torchax run the same on tensors of theirs. With flax nnx modules of 24 and 144
parameters the same for `model(x)`, without and with a statistic that each call writes: against `jax.jit` of the same
layers on a plain tree of arrays, and `nnx.jit` of the same module.
"""

from __future__ import annotations

import datetime
import importlib.util
import shutil
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

import jaxaot as ja
from benchmarks.runner import Result, arguments, find_torch, measure, report

SIZES = (1, 10, 100, 500)


def torch_backends() -> tuple[str, ...]:
    """Returns the backends of `torch.compile` that can run here."""
    if find_torch() is None:
        return ()
    return ("aot_eager", "inductor") if shutil.which("g++") or shutil.which("clang++") else ("aot_eager",)


def with_torch(make: Callable[[Any], Callable[..., Any]], contestants: dict[str, Any], n_arguments: int) -> None:
    """Adds `torch.compile` and torchax to the contestants.

    Args:
      make: Takes a compiler of functions on tensors, and returns what is called in each turn.
      contestants: Gets them.
      n_arguments: With very many, PyTorch's compilers take minutes, and are left out.
    """
    torch = find_torch()
    if torch is None or n_arguments > 100:
        return
    for backend in torch_backends():
        torch._dynamo.reset()
        contestants[f"torch.compile, {backend}"] = make(
            lambda fn, b=backend: torch.compile(fn, backend=b, dynamic=False)
        )


def torchax_compile() -> Callable[..., Any] | None:
    """Returns torchax's compiler, if it is installed."""
    if importlib.util.find_spec("torchax") is None:
        return None
    torchax = importlib.import_module("torchax")
    torchax.enable_globally()
    return torchax.interop.jax_jit


def doing_nothing(n_rounds: int) -> Result:
    """Times a function that returns its argument."""
    array = jnp.ones(8)
    tensor = ja.interop.from_jax(array)
    ours, theirs = ja.compile(lambda x: x), jax.jit(lambda x: x)
    contestants: dict[str, Any] = {"jax.jit": lambda: theirs(array), "ja.compile": lambda: ours(tensor)}
    torch = find_torch()
    if torch is not None:
        x = torch.ones(8)

        def make(compiler):
            fn = compiler(lambda x: x)
            return lambda: fn(x)

        with_torch(make, contestants, 1)
    return measure("nothing", contestants, "jax.jit", n_rounds=n_rounds)


def reading(n_arguments: int, n_rounds: int, *, with_grad: bool = False) -> Result:
    """Times `x + 1` of the first of several arguments, which all require grad if asked to."""
    arrays = [jnp.full(8, float(i)) for i in range(n_arguments)]
    tensors = [ja.tensor([float(i)] * 8, requires_grad=with_grad) for i in range(n_arguments)]

    def fn(first, *rest):
        return first + 1.0

    ours, theirs = ja.compile(fn), jax.jit(fn, keep_unused=True)
    contestants: dict[str, Any] = {"jax.jit": lambda: theirs(*arrays), "ja.compile": lambda: ours(*tensors)}
    torch = find_torch()
    if torch is not None:
        given = [torch.full((8,), float(i), requires_grad=with_grad) for i in range(n_arguments)]

        def make(compiler):
            compiled = compiler(fn)
            return lambda: compiled(*given)

        with_torch(make, contestants, n_arguments)
        jit = torchax_compile()
        if jit is not None and not with_grad and n_arguments <= 100:
            there = [tensor.to("jax") for tensor in given]
            compiled = jit(fn)
            contestants["torchax"] = lambda: compiled(*there)
    title = f"x + 1, {n_arguments} arguments" + (" that require grad" if with_grad else "")
    return measure(title, contestants, "jax.jit", n_rounds=n_rounds)


def writing(n_arguments: int, n_rounds: int, *, all_of_them: bool = False) -> Result:
    """Times `x.add_(1)` of the first of several arguments, or of all of them."""
    arrays = [jnp.full(8, float(i)) for i in range(n_arguments)]
    tensors = [ja.tensor([float(i)] * 8) for i in range(n_arguments)]
    n_written = n_arguments if all_of_them else 1

    def write(*xs):
        for x in xs[:n_written]:
            x.add_(1.0)

    def add(*xs):
        return [x + 1.0 for x in xs[:n_written]]

    ours = ja.compile(write)
    kept = jax.jit(add, keep_unused=True)
    donated = jax.jit(add, keep_unused=True, donate_argnums=tuple(range(n_written)))
    held = [[jnp.zeros(8) for _ in range(n_written)] for _ in range(2)]

    def call_kept():
        held[0] = kept(*held[0], *arrays[n_written:])
        return held[0]

    def call_donated():
        held[1] = donated(*held[1], *arrays[n_written:])
        return held[1]

    def call_ours():
        ours(*tensors)
        return tensors[0]

    contestants: dict[str, Any] = {"jax.jit": call_kept, "jax.jit, donated": call_donated, "ja.compile": call_ours}
    torch = find_torch()
    if torch is not None:
        given = [torch.full((8,), float(i)) for i in range(n_arguments)]

        def make(compiler):
            compiled = compiler(write)
            return lambda: compiled(*given)

        with_torch(make, contestants, n_arguments)
    title = f"x.add_(1), {'all of ' if all_of_them else ''}{n_arguments} arguments"
    return measure(title, contestants, "jax.jit", n_rounds=n_rounds)


def training(n_rounds: int) -> Result:
    """Times `(x * w).sum()` and its gradient: a compiled call with a backward, against one `jax.jit` of both."""
    x, w = jnp.ones(8), jnp.ones(8)
    theirs = jax.jit(jax.value_and_grad(lambda w, x: (x * w).sum()))
    forward = jax.jit(lambda w, x: ((x * w).sum(), x))
    backward = jax.jit(lambda x, ct: x * ct)
    one = jnp.ones(())

    def fn(x, w):
        return (x * w).sum()

    ours = ja.compile(fn)
    x_tensor, w_tensor = ja.interop.from_jax(x), ja.tensor([1.0] * 8, requires_grad=True)

    def call_split():
        _, residual = forward(w, x)
        return backward(residual, one)

    def call_ours():
        w_tensor.grad = None
        ours(x_tensor, w_tensor).backward()
        return w_tensor.grad

    contestants: dict[str, Any] = {
        "jax.jit": lambda: theirs(w, x)[1],
        "jax.jit, forward and backward apart": call_split,
        "ja.compile + backward()": call_ours,
    }
    torch = find_torch()
    if torch is not None:
        given, weight = torch.ones(8), torch.ones(8, requires_grad=True)

        def make(compiler):
            compiled = compiler(fn)

            def call():
                weight.grad = None
                compiled(given, weight).backward()
                return weight.grad

            return call

        with_torch(make, contestants, 1)
    return measure("forward and backward, 2 arguments", contestants, "jax.jit", n_rounds=n_rounds)


class Layers(nnx.Module):
    """Linear layers of 8 features, and how often they were called."""

    def __init__(self, n_layers: int, counts: bool):
        self.layers = nnx.List([nnx.Linear(8, 8, rngs=nnx.Rngs(i)) for i in range(n_layers)])
        self.n_calls = nnx.BatchStat(jnp.zeros(()))
        self.counts = counts

    def __call__(self, x: jax.Array) -> jax.Array:
        if self.counts:
            self.n_calls[...] += 1
        for layer in self.layers:
            x = layer(x)
        return x


def module(n_parameters: int, counts: bool, n_rounds: int) -> Result:
    """Times a module of linear layers, each with two parameters."""
    ours, theirs = (Layers(n_parameters // 2, counts) for _ in range(2))
    tree = [{"kernel": layer.kernel[...], "bias": layer.bias[...]} for layer in ours.layers]
    held = [jnp.zeros(())]
    x = jnp.ones((1, 8))

    def apply(tree, x):
        for layer in tree:
            x = x @ layer["kernel"] + layer["bias"]
        return x

    plain = jax.jit(apply)
    counting = jax.jit(lambda tree, n_calls, x: (apply(tree, x), n_calls + 1))

    def call_counting():
        out, held[0] = counting(tree, held[0], x)
        return out

    compiled, nnx_jit = ja.compile(lambda model, x: model(x)), nnx.jit(lambda model, x: model(x))
    contestants = {
        "jax.jit, plain tree": call_counting if counts else lambda: plain(tree, x),
        "ja.compile": lambda: compiled(ours, x),
        "nnx.jit": lambda: nnx_jit(theirs, x),
    }
    name = f"nnx module, {n_parameters} parameters" + (", one statistic written" if counts else "")
    return measure(name, contestants, "jax.jit, plain tree", n_rounds=n_rounds)


def python_state(n_rounds: int) -> Result:
    """Times what a call does to Python's objects: the same function, which also writes attributes and counts."""
    contestants: dict[str, Any] = {}

    def add(name: str, change: Callable[[Any, Any], None]) -> None:
        state = SimpleNamespace(n=0, last=ja.zeros(8), flag=False)

        @ja.compile
        def fn(x: Any) -> Any:
            change(state, x)
            return x + 1.0

        x = ja.ones(8)
        contestants[name] = lambda: fn(x)

    def count(state: Any, x: Any) -> None:
        state.n += 1

    def schedule(state: Any, x: Any) -> None:
        state.n += 1
        state.last = x * (0.1 * min(state.n / 1000, 1.0) / (1 - 0.9**state.n))

    add("nothing", lambda state, x: None)
    add("a flag", lambda state, x: setattr(state, "flag", True))
    add("a tensor", lambda state, x: setattr(state, "last", x))
    add("a counter", count)
    add("a counter, a schedule and a tensor", schedule)
    return measure("x + 1, and of Python's state is written", contestants, "nothing", n_rounds=n_rounds)


def python_reads(n_rounds: int) -> Result:
    """Times what a call looks at of Python, 100 things of a kind: a hundredth of what is more is the cost of one."""
    contestants: dict[str, Any] = {}
    x = ja.ones(8)

    def add(name: str, make: Callable[[int], Any], read: Callable[[Any], Any], n: int = 100) -> None:
        state = [SimpleNamespace(held=make(i)) for i in range(n)]

        @ja.compile
        def fn(x: Any) -> Any:
            for one in state:
                read(one)
            return x + 1.0

        contestants[name] = lambda: fn(x)

    add("nothing", float, lambda one: one, 0)
    add("objects, a number of each", float, lambda one: one.held)
    add("objects, a string of each", str, lambda one: one.held)
    add("objects, a tensor of each", lambda i: ja.ones(2), lambda one: one.held)
    add("objects, a list of 10 numbers of each", lambda i: list(range(10)), lambda one: one.held[0])
    add("objects, an array of NumPy of each", lambda i: np.ones(4), lambda one: one.held)
    add("objects, a duration of each", lambda i: datetime.timedelta(i), lambda one: one.held)
    return measure("x + 1, and of Python's state is read", contestants, "nothing", n_rounds=n_rounds)


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    rounds = options.rounds
    results = [doing_nothing(rounds)]
    results += [reading(n, rounds) for n in SIZES]
    results += [reading(n, rounds, with_grad=True) for n in (1, 100)]
    results += [writing(n, rounds) for n in SIZES]
    results += [writing(n, rounds, all_of_them=True) for n in (10, 100, 500)]
    results.append(training(rounds))
    results += [module(n, counts, rounds) for counts in (False, True) for n in (24, 144)]
    results += [python_state(rounds), python_reads(rounds)]
    report("Overhead of a compiled call", results, options)


if __name__ == "__main__":
    main()
