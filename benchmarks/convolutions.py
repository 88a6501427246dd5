"""Convolutions and their gradients by `ja.jit`, by `jax.jit` and by PyTorch.

    python -m benchmarks.convolutions

Layers that are common in networks, in single precision; JAX has features last, PyTorch what is faster of the two. A
case is a forward and the gradients of image and kernel. PyTorch comes after all others: its threads slow them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot as ja
from benchmarks.runner import Result, arguments, find_torch, measure, report


@dataclasses.dataclass(frozen=True)
class Layer:
    """A convolution of images of `size` along each of `n_axes`, whose options are those of PyTorch."""

    name: str
    batch: int
    size: int
    features: int
    results: int
    window: int
    padding: int = 0
    stride: int = 1
    groups: int = 1
    is_transposed: bool = False
    n_axes: int = 2


LAYERS = (
    Layer("stem, 3 by 3 of 3 features", 16, 32, 3, 32, 3, 1),
    Layer("stem, 3 by 3, 64 by 64", 16, 64, 3, 64, 3, 1),
    Layer("stem, 7 by 7, stride 2, 64 by 64", 16, 64, 3, 64, 7, 3, 2),
    Layer("3 by 3, 32 features", 16, 32, 32, 32, 3, 1),
    Layer("3 by 3, 64 features", 16, 32, 64, 64, 3, 1),
    Layer("3 by 3, 128 features", 16, 16, 128, 128, 3, 1),
    Layer("3 by 3, 256 features", 16, 8, 256, 256, 3, 1),
    Layer("3 by 3, no padding", 16, 32, 64, 64, 3),
    Layer("3 by 3, stride 2", 16, 32, 64, 64, 3, 1, 2),
    Layer("1 by 1", 16, 32, 64, 64, 1),
    Layer("depthwise, 3 by 3", 16, 32, 64, 64, 3, 1, groups=64),
    Layer("8 groups, 3 by 3", 16, 16, 64, 64, 3, 1, groups=8),
    Layer("patches, 8 by 8", 8, 64, 3, 128, 8, stride=8),
    Layer("transposed, 2 by 2, stride 2", 16, 16, 64, 64, 2, stride=2, is_transposed=True),
    Layer("volumes, 3 by 3 by 3", 2, 16, 16, 32, 3, 1, n_axes=3),
)


def of_jax(layer: Layer) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a function that computes result and gradients, and its arguments."""
    n = layer.n_axes
    space = "DHW"[-n:]
    numbers = (f"N{space}C", f"{space}IO", f"N{space}C")

    def convolve(x: Any, k: Any) -> Any:
        if layer.is_transposed:
            return jax.lax.conv_transpose(x, k, (layer.stride,) * n, "VALID", dimension_numbers=numbers)
        padding = ((layer.padding,) * 2,) * n
        return jax.lax.conv_general_dilated(
            x, k, (layer.stride,) * n, padding, dimension_numbers=numbers, feature_group_count=layer.groups
        )

    rng = np.random.default_rng(0)
    x = rng.normal(size=(layer.batch, *(layer.size,) * n, layer.features))
    k = rng.normal(size=(*(layer.window,) * n, layer.features // layer.groups, layer.results))
    x, k = jnp.asarray(x, "float32"), jnp.asarray(k, "float32")
    g = jnp.asarray(rng.normal(size=jax.eval_shape(convolve, x, k).shape), "float32")

    def run(x: Any, k: Any, g: Any) -> Any:
        y, pull = jax.vjp(convolve, x, k)
        return y, pull(g)

    return run, (x, k, g)


def of_torch(layer: Layer) -> list[Callable[[], Any]]:
    """Returns functions that do the same in PyTorch, with features first and last."""
    torch = find_torch()
    n = layer.n_axes
    functional = torch.nn.functional
    fn = functional.conv_transpose2d if layer.is_transposed else functional.conv2d if n == 2 else functional.conv3d
    x = torch.randn(layer.batch, layer.features, *(layer.size,) * n)
    inner = layer.results if layer.is_transposed else layer.features // layer.groups
    outer = layer.features if layer.is_transposed else layer.results
    k = torch.randn(outer, inner, *(layer.window,) * n, requires_grad=True)

    def run(x: Any, k: Any) -> Any:
        y = fn(x, k, None, layer.stride, layer.padding, groups=layer.groups)
        return y, torch.autograd.grad(y, (x, k), torch.ones_like(y))

    formats = torch.contiguous_format, torch.channels_last if n == 2 else torch.channels_last_3d
    copies = [(t.detach().contiguous(memory_format=f).requires_grad_() for t in (x, k)) for f in formats]
    return [functools.partial(run, *pair) for pair in copies]


def main() -> None:
    """Prints the table."""
    options = arguments(__doc__).parse_args()
    results = []
    for layer in LAYERS:
        fn, args = of_jax(layer)
        runs = {"jax.jit": jax.jit(fn), "ja.jit": ja.jit(fn)}
        contestants = {name: functools.partial(_finished, run, args) for name, run in runs.items()}
        results.append(measure(layer.name, contestants, "jax.jit", n_rounds=options.rounds))
    if find_torch() is not None:
        results = [_with_torch(result, layer, options.rounds) for result, layer in zip(results, LAYERS, strict=True)]
    report("Convolutions with their gradients", results, options)


def _finished(run: Callable[..., Any], args: Any) -> Any:
    return jax.block_until_ready(run(*args))


def _with_torch(result: Result, layer: Layer, n_rounds: int) -> Result:
    """Returns a result with the time of PyTorch, in the layout in which it is faster."""
    first, last = of_torch(layer)
    both = measure(layer.name, {"first": first, "last": last}, "first", n_rounds=n_rounds).timings
    fastest = min(both, key=lambda timing: min(timing.rounds))
    return dataclasses.replace(result, timings=(*result.timings, dataclasses.replace(fastest, name="torch")))


if __name__ == "__main__":
    main()
