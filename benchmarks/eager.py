"""Eager operations: jaxaot against PyTorch eager and un-jitted jnp.

    python -m benchmarks.eager

Pointwise ops and a matmul, in-place writes of a slice into bases of 1 KB, 1 MB and 64 MB (a write should cost the
slice, whatever the size of the base), assignment by index, a chain of ten ops, a network of ten layers, convolutions
and pooling, forward and backward. jnp has no writes in place: its contestant returns a new array, as a JAX user would
write it. Then first calls, each with a size that was not seen before; and, because jaxaot has small kernels compiled by
XLA's older emitters, which takes less time, what `jax.jit` of a dozen ops takes by these and by the newer ones.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import Result, arguments, find_torch, measure, report
from jaxaot.backend.cpu.options import compiling_quickly

BASES = (("1 KB", 256), ("1 MB", 2**18), ("64 MB", 2**24))


def pointwise(torch: Any, n_rounds: int) -> list[Result]:
    """Times `x + y`, `x.add_(1)` and `x.exp()` of 64 elements."""
    x, y = ja.ones(64), ja.ones(64)
    jx, jy = jnp.ones(64), jnp.ones(64)
    a, b, left, right = ja.ones(32, 32), ja.ones(32, 32), jnp.ones((32, 32)), jnp.ones((32, 32))
    cases = {
        "x + y": {"jnp": lambda: jx + jy, "jaxaot": lambda: x + y},
        "x.exp()": {"jnp": lambda: jnp.exp(jx), "jaxaot": lambda: x.exp()},
        "x.add_(1)": {"jnp": lambda: jx + 1, "jaxaot": lambda: x.add_(1)},
        "x + 0.5 (a number)": {"jnp": lambda: jx + 0.5, "jaxaot": lambda: x + 0.5},
        "x[3] (a view)": {"jnp": lambda: jx[3], "jaxaot": lambda: x[3]},
        "a @ b, 32 by 32": {"jnp": lambda: left @ right, "jaxaot": lambda: a @ b},
    }
    if torch is not None:
        tx, ty = torch.ones(64), torch.ones(64)
        cases["x + y"]["torch"] = lambda: tx + ty
        cases["x.exp()"]["torch"] = lambda: tx.exp()
        cases["x.add_(1)"]["torch"] = lambda: tx.add_(1)
        cases["x + 0.5 (a number)"]["torch"] = lambda: tx + 0.5
        cases["x[3] (a view)"]["torch"] = lambda: tx[3]
        ta, tb = torch.ones(32, 32), torch.ones(32, 32)
        cases["a @ b, 32 by 32"]["torch"] = lambda: ta @ tb
    return [measure(case, contestants, "jnp", n_rounds=n_rounds) for case, contestants in cases.items()]


def writes(torch: Any, n_rounds: int) -> list[Result]:
    """Times writes of 64 elements into the middle of bases of several sizes."""
    results = []
    for label, n in BASES:
        base, row, array, update = ja.zeros(n), ja.ones(64), jnp.zeros(n), jnp.ones(64)
        window = base[64:128]

        def add_to_slice(window=window, base=base):
            window.add_(1.0)
            return base

        def assign(base=base, row=row):
            base[64:128] = row
            return base

        add = {"jnp": lambda a=array: a.at[64:128].add(1.0), "jaxaot": add_to_slice}
        put = {"jnp": lambda a=array, u=update: a.at[64:128].set(u), "jaxaot": assign}
        if torch is not None:
            their_base, their_row = torch.zeros(n), torch.ones(64)

            def assign_theirs(their_base=their_base, their_row=their_row):
                their_base[64:128] = their_row

            add["torch"] = lambda window=their_base[64:128]: window.add_(1.0)
            put["torch"] = assign_theirs
        results.append(measure(f"x[64:128].add_(1), x of {label}", add, "jnp", n_rounds=n_rounds))
        results.append(measure(f"x[64:128] = y, x of {label}", put, "jnp", n_rounds=n_rounds))
    return results


def chain(x: Any) -> Any:
    """Returns the sum after ten ops that every contestant has as methods."""
    for _ in range(3):
        x = (x * 1.5 + 0.5).tanh()
    return x.sum()


def jnp_chain(x: Any) -> Any:
    """Returns the same with jnp's spelling."""
    for _ in range(3):
        x = jnp.tanh(x * 1.5 + 0.5)
    return x.sum()


def backward(torch: Any, n_rounds: int) -> Result:
    """Times a chain of ten ops, forward and backward."""
    x, array = ja.ones(64, requires_grad=True), jnp.ones(64)

    def ours():
        x.grad = None
        chain(x).backward()
        return x.grad

    contestants = {"jnp (jax.grad, not jitted)": lambda: jax.grad(jnp_chain)(array), "jaxaot": ours}
    if torch is not None:
        their_x = torch.ones(64, requires_grad=True)

        def theirs():
            their_x.grad = None
            chain(their_x).backward()

        contestants["torch"] = theirs
    return measure("ten ops, forward and backward", contestants, "jnp (jax.grad, not jitted)", n_rounds=n_rounds)


def layers(torch: Any, n_rounds: int) -> Result:
    """Times ten layers of matmul and tanh, forward and backward."""
    x, weights = ja.randn(8, 32), [ja.randn(32, 32, requires_grad=True) for _ in range(10)]
    array, arrays = x.jax(), [w.jax() for w in weights]

    def loss(h: Any, parameters: Any) -> Any:
        for w in parameters:
            h = (h @ w).tanh()
        return h.sum()

    def jnp_loss(parameters: Any) -> Any:
        h = array
        for w in parameters:
            h = jnp.tanh(h @ w)
        return h.sum()

    def ours() -> None:
        for w in weights:
            w.grad = None
        loss(x, weights).backward()

    contestants = {"jnp (jax.grad, not jitted)": lambda: jax.grad(jnp_loss)(arrays), "jaxaot": ours}
    if torch is not None:
        their_x, their_weights = torch.randn(8, 32), [torch.randn(32, 32, requires_grad=True) for _ in range(10)]

        def theirs() -> None:
            for w in their_weights:
                w.grad = None
            loss(their_x, their_weights).backward()

        contestants["torch"] = theirs
    return measure("ten layers, forward and backward", contestants, "jnp (jax.grad, not jitted)", n_rounds=n_rounds)


IMAGES, WEIGHTS, DEPTHWISE = (8, 32, 32, 32), (32, 32, 3, 3), (32, 1, 3, 3)


def jnp_images(name: str, x: Any, w: Any) -> Any:
    """Returns the sum of what a case of `images` computes, by `jax.lax`."""
    if name == "max_pool2d":
        return jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "VALID").sum()
    groups = IMAGES[1] // w.shape[1]
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=groups).sum()


def images(torch: Any, n_rounds: int) -> list[Result]:
    """Times convolutions and pooling of eight images, with their gradients."""
    results = []
    for name, weights in (("conv2d", WEIGHTS), ("conv2d, depthwise", DEPTHWISE), ("max_pool2d", WEIGHTS)):
        arrays = [np.random.default_rng(0).standard_normal(shape, np.float32) for shape in (IMAGES, weights)]

        def step(lib: Any, x: Any, w: Any, name: str = name) -> Any:
            fns = lib.nn.functional
            x.grad = w.grad = None
            y = fns.max_pool2d(x, 3, 2) if name == "max_pool2d" else fns.conv2d(x, w, None, 1, 1, 1, 32 // w.shape[1])
            y.sum().backward()
            return x.grad

        ours, theirs = [lib and [lib.from_numpy(a).requires_grad_() for a in arrays] for lib in (ja, torch)]
        given = [jnp.asarray(a) for a in arrays]
        fn = jax.grad(lambda x, w, name=name: jnp_images(name, x, w), (0, 1) if name != "max_pool2d" else (0,))
        contestants = {
            "jnp (jax.grad, not jitted)": lambda fn=fn, given=given: fn(*given)[0],
            "jaxaot": lambda ours=ours, step=step: step(ja, *ours),
        }
        if torch is not None:
            contestants["torch"] = lambda theirs=theirs, step=step: step(torch, *theirs)
        case = f"{name}, forward and backward"
        results.append(measure(case, contestants, "jnp (jax.grad, not jitted)", n_rounds=n_rounds))
    return results


def first_calls(torch: Any, n_rounds: int) -> Result:
    """Times the first call of an op for a size, compilation and all."""
    sizes = [itertools.count(64) for _ in range(3)]
    new = [lambda count=count: np.ones((next(count), 8), np.float32) for count in sizes]
    contestants = {
        "jnp": lambda: jax.nn.softmax(jnp.asarray(new[0]()), -1),
        "jaxaot": lambda: ja.from_numpy(new[1]()).softmax(-1),
    }
    if torch is not None:
        contestants["torch"] = lambda: torch.from_numpy(new[2]()).softmax(-1)
    return measure("x.softmax(-1), called first", contestants, "jnp", n_rounds=n_rounds, max_calls=4)


KERNELS = (
    lambda x: x + x * 2, jnp.exp, jnp.tanh, jnp.log, lambda x: x.sum(0), lambda x: x.max(1), jax.nn.softmax,
    lambda x: x.var(1), lambda x: jnp.cumsum(x, 1), lambda x: jnp.pad(x, 2), lambda x: jnp.where(x > 1, x, 0),
    lambda x: x.T + 0,
)  # fmt: skip


def emitters(n_rounds: int) -> list[Result]:
    """Times a dozen kernels by XLA's newer emitters and by its older ones."""
    results = []
    for side in (8, 32, 64):
        x = jnp.linspace(0.5, 1.5, side * side).reshape(side, side)
        contestants: dict[str, Any] = {}
        for name, options in (("newer", None), ("older", compiling_quickly())):
            run = [jax.jit(fn, compiler_options=options) for fn in KERNELS]
            contestants[name] = lambda run=run, x=x: [kernel(x) for kernel in run]
        results.append(measure(f"12 kernels of {side} by {side}", contestants, "newer", n_rounds=n_rounds))
    return results


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    torch = find_torch()
    results = [*pointwise(torch, options.rounds), *writes(torch, options.rounds), backward(torch, options.rounds)]
    results += [
        layers(torch, options.rounds),
        *images(torch, options.rounds),
        first_calls(torch, options.rounds),
        *emitters(options.rounds),
    ]
    report("Eager operations", results, options)


if __name__ == "__main__":
    main()
