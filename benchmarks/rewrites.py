"""Losses, pooling, sorts, random numbers and so on that autodiff or JAX write badly: `ja.jit`, `jax.jit` and PyTorch.

    python -m benchmarks.rewrites

A case is a value and its gradient, or a value alone where there is none. PyTorch comes after all others: its threads
slow them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import arguments, find_torch, measure, report


@dataclasses.dataclass(frozen=True)
class Case:
    """What is computed.

    Attributes:
      name: What it is called in the table.
      of_jax: The function.
      of_torch: The same for tensors of PyTorch; images have features first.
      shape: The shape of its first argument, of normal numbers.
      n_classes: If not zero, there is a second argument: for each row one of these.
      has_gradient: Whether its gradient is computed as well.
      has_images: Whether the argument is a batch of images.
    """

    name: str
    of_jax: Callable[..., Any]
    of_torch: Callable[..., Any]
    shape: tuple[int, ...]
    n_classes: int = 0
    has_gradient: bool = True
    has_images: bool = False


def cross_entropy(n: int, n_classes: int) -> Case:
    """Returns the mean cross entropy of `n` rows."""

    def of_jax(x: Any, y: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], -1).mean()

    def of_torch(x: Any, y: Any) -> Any:
        return find_torch().nn.functional.cross_entropy(x, y)

    return Case(f"cross entropy, {n_classes:,} classes, {n} rows", of_jax, of_torch, (n, n_classes), n_classes)


def pool(kind: str, shape: tuple[int, ...], window: int, stride: int, padding: int) -> Case:
    """Returns pooling of images, features last in JAX."""
    sizes, strides = (1, window, window, 1), (1, stride, stride, 1)
    around = ((0, 0), (padding,) * 2, (padding,) * 2, (0, 0))

    def of_jax(x: Any) -> Any:
        if kind == "max":
            return jax.lax.reduce_window(x, -np.inf, jax.lax.max, sizes, strides, around)
        return jax.lax.reduce_window(x, 0.0, jax.lax.add, sizes, strides, around) / window**2

    def of_torch(x: Any) -> Any:
        functional = find_torch().nn.functional
        fn = functional.max_pool2d if kind == "max" else functional.avg_pool2d
        return fn(x, window, stride, padding)

    size = " by ".join(map(str, shape[1:3]))
    name = f"{kind} pooling {window} by {window}, stride {stride}, of {size}, {shape[3]} features"
    return Case(name, of_jax, of_torch, shape, has_images=True)


def softmax(n: int, size: int) -> Case:
    """Returns squares of a softmax of `n` rows, which is written by hand, without `stop_gradient`."""

    def of_jax(x: Any) -> Any:
        powers = jnp.exp(x - x.max(-1, keepdims=True))
        return (powers / powers.sum(-1, keepdims=True)) ** 2

    def of_torch(x: Any) -> Any:
        powers = (x - x.amax(-1, keepdim=True)).exp()
        return (powers / powers.sum(-1, keepdim=True)) ** 2

    return Case(f"softmax by hand, {n:,} rows of {size:,}", of_jax, of_torch, (n, size))


def random_key(x: Any) -> Any:
    """Returns a key that depends on an array, so that nothing is computed when compiling."""
    return jax.random.wrap_key_data(jax.lax.bitcast_convert_type(x.ravel()[:2], jnp.uint32))


def dropout(n: int, size: int) -> Case:
    """Returns dropout of a tenth of `n` rows."""

    def of_jax(x: Any) -> Any:
        return jnp.where(jax.random.bernoulli(random_key(x), 0.9, x.shape), x / 0.9, 0.0)

    return Case(
        f"dropout, {n:,} rows of {size}", of_jax, lambda x: find_torch().nn.functional.dropout(x, 0.1), (n, size)
    )


def draw(kind: str, n: int, size: int) -> Case:
    """Returns `n` rows of random numbers."""
    fn = {"uniform": jax.random.uniform, "normal": jax.random.normal}[kind]
    torch_name = {"uniform": "rand_like", "normal": "randn_like"}[kind]
    of_torch = lambda x: getattr(find_torch(), torch_name)(x)
    return Case(
        f"{kind} numbers, {n:,} rows of {size}", lambda x: fn(random_key(x), x.shape), of_torch, (n, size), 0, False
    )


CASES = (
    *(cross_entropy(1024, n) for n in (256, 4096, 32000)),
    *(softmax(4096, n) for n in (128, 1024)),
    Case("softmax, 1 by 8 by 256 by 256", jax.nn.softmax, lambda x: x.softmax(-1), (1, 8, 256, 256)),
    *(pool(kind, (16, 32, 32, 64), *sizes) for kind in ("max", "avg") for sizes in ((2, 2, 0), (3, 2, 1), (3, 1, 1))),
    pool("max", (16, 112, 112, 16), 3, 2, 1),
    Case("sort of rows of 4,096", jnp.sort, lambda x: x.sort(-1)[0], (256, 4096), has_gradient=False),
    Case("sort of rows of 4,096, with its gradient", jnp.sort, lambda x: x.sort(-1)[0], (256, 4096)),
    Case("argsort of rows of 4,096", jnp.argsort, lambda x: x.argsort(-1), (256, 4096), has_gradient=False),
    Case("median of rows of 4,096", lambda x: jnp.median(x, -1), lambda x: x.median(-1)[0], (256, 4096), 0, False),
    Case(
        "gradient of weights of 8 columns, 8,192 rows",
        lambda x: x.T @ x[:, :8],
        lambda x: x.T @ x[:, :8],
        (8192, 512),
        0,
        False,
    ),
    Case("sine, 1,024 rows of 1,024", jnp.sin, lambda x: x.sin(), (1024, 1024)),
    draw("uniform", 1024, 512),
    draw("normal", 1024, 512),
    dropout(1024, 512),
)


def with_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function to the value of `fn` and the gradient of the sum of that, for its first argument."""

    def run(x: Any, *rest: Any) -> Any:
        y, pull = jax.vjp(lambda x: fn(x, *rest), x)
        return y, pull(jnp.ones_like(y))

    return run


def graph_of(case: Case) -> tuple[Callable[..., Any], list[Any]]:
    """Returns the function of a case, with its gradient if it has one, and its arguments."""
    rng = np.random.default_rng(0)
    args = [jnp.asarray(rng.normal(size=case.shape), "float32")]
    if case.n_classes:
        args.append(jnp.asarray(rng.integers(0, case.n_classes, case.shape[0])))
    return with_gradient(case.of_jax) if case.has_gradient else case.of_jax, args


def of_jax(case: Case, jit: Callable[..., Any]) -> Callable[[], Any]:
    """Returns a call under `jax.jit`, or what is called like it."""
    fn, args = graph_of(case)
    run = jit(fn)
    return lambda: jax.block_until_ready(run(*args))


def of_torch(case: Case) -> Callable[[], Any]:
    """Returns the same call in PyTorch."""
    torch = find_torch()
    batch, *others = case.shape
    if case.has_images:
        others = [others[-1], *others[:-1]]
    x = torch.randn(batch, *others, requires_grad=case.has_gradient)
    rest = [torch.randint(case.n_classes, (batch,))] if case.n_classes else []

    def run() -> Any:
        y = case.of_torch(x, *rest)
        return torch.autograd.grad(y, x, torch.ones_like(y)) if case.has_gradient else y

    return run


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    results = []
    for case in CASES:
        contestants = {"jax.jit": of_jax(case, jax.jit), "ja.jit": of_jax(case, ja.jit)}
        results.append(measure(case.name, contestants, "jax.jit", n_rounds=options.rounds))
    if find_torch() is not None:
        for i, case in enumerate(CASES):
            timings = measure(case.name, {"torch": of_torch(case)}, "torch", n_rounds=options.rounds).timings
            results[i] = dataclasses.replace(results[i], timings=(*results[i].timings, *timings))
    report("Losses, softmax, pooling, sorting and random numbers", results, options)


if __name__ == "__main__":
    main()
