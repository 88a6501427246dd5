"""The functions of the op table by `ja.jit` and by `jax.jit`: do the passes lose on any of them?

    python -m benchmarks.op_table

Each op is given large arrays of the first shapes that it takes, its forward and its gradient are traced, and the passes
are run. What they leave as it is needs no timing; the rest is timed in turns, as `benchmarks.random_models` does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxaot.ops.register_rows  # noqa: F401  # which fills the table
from benchmarks.random_models import compare, options_of
from jaxaot.backend.cpu.kernels.lowered_cse import lowered_cse
from jaxaot.backend.cpu.memory.sequential import can_be_cut
from jaxaot.backend.cpu.tune import is_worth_tuning, tune
from jaxaot.errors import AutogradError
from jaxaot.ir.rewrite import inline
from jaxaot.ir.walk import aval_bytes
from jaxaot.ops.schema import REQUIRED
from jaxaot.ops.table import rows
from jaxaot.passes.dce import dce
from jaxaot.passes.pipeline import lowered_passes

SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((64, 128, 128),),
    ((512, 512),),
    ((16, 32, 32, 32), (32, 32, 3, 3), (32,)),
    ((16, 32, 1024), (32, 32, 3), (32,)),
    ((4, 16, 16, 32, 32), (16, 16, 3, 3, 3), (16,)),
    ((512,), (512, 512), (512,)),
    ((64, 128), (64, 128, 128), (64, 128)),
    ((128, 64), (8, 128, 64), (8, 64, 64)),
    ((1024, 512), (512, 512), (512,)),
    ((64, 128, 128), (128,), (128,)),
    ((16, 32, 64, 64), (32,), (32,)),
    ((512, 512), (512,)),
    ((512,), (512, 512)),
    ((1 << 18,),),
)
"""Shapes of the tensors of an op, in order; the last one is for all that follow."""

MAX_BYTES = 1 << 30
"""What results may have: an outer product of two arrays of a quarter of a million elements would have 256 GiB."""

SLOW = ("bilinear", "cholesky_solve", "ctc_loss_of_lengths", "householder_product", "orgqr", "ormqr")
"""Ops that take seconds or minutes by `jax.jit` as well, on these shapes."""

BY_NAME: dict[str, Any] = {
    "dim": 1, "kernel_size": 2, "output_size": 8, "normalized_shape": (128,), "pad": (1, 1), "training": True,
    "eps": 1e-5,
}  # fmt: skip
"""What is passed for a parameter of a name."""

DEGREES = "n"
"""The parameter that takes degrees of polynomials: whole numbers, of which most are not 0."""

BY_TYPE: dict[str, Any] = {"int": 2, "float": 0.5, "bool": False, "Scalar": 0.5, "str": "mean"}
"""What is passed for another one without a default, by its type."""


def operands(spec: Any, shapes: Sequence[tuple[int, ...]], dtype: Any) -> tuple[list[Any], list[Any]] | None:
    """Returns dynamic and static arguments of an op; None if it is not known what one may be."""
    rng, left = np.random.default_rng(0), list(shapes)

    def array() -> Any:
        shape = left.pop(0) if len(left) > 1 else left[0]
        drawn = rng.uniform(0.1, 0.9, shape)
        return jnp.asarray(drawn if np.issubdtype(dtype, np.floating) else drawn * 4, dtype)

    dynamic, static = [], []
    for parameter in spec.schema.parameters:
        if parameter.type == "Tensor" and (parameter.default is None or parameter.is_optional):
            value: Any = None
        elif parameter.type == "Tensor":
            value = [array(), array()] if parameter.is_list else array()
            if parameter.name == DEGREES:
                value = jnp.floor(value * 10)
        elif parameter.name in BY_NAME and (parameter.default is REQUIRED or parameter.name == "training"):
            value = BY_NAME[parameter.name]
        elif parameter.default is not REQUIRED:
            value = parameter.default
        elif parameter.is_optional:
            value = None
        elif parameter.type in BY_TYPE:
            value = (BY_TYPE[parameter.type],) if parameter.is_list else BY_TYPE[parameter.type]
        else:
            return None
        (dynamic if parameter.is_dynamic else static).append(value)
    return dynamic, static


def functions_of(spec: Any) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Yields the forward of an op and its gradient, with arrays that it takes; nothing if none of the shapes fit."""
    for dtype in (np.float32, np.int32, np.bool_):
        for shapes in SHAPES:
            found = operands(spec, shapes, dtype)
            if found is None:
                return
            leaves, tree = jax.tree.flatten(found[0])
            arrays = [leaf for leaf in leaves if isinstance(leaf, jax.Array)]
            run = functools.partial(_run, spec, leaves, tree, found[1])
            try:
                results = jax.eval_shape(run, *arrays)
            except (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError, ZeroDivisionError):
                continue  # it does not take these
            if sum(map(aval_bytes, results)) > MAX_BYTES:
                continue  # it takes them one with another
            yield f"{spec.name} {'×'.join(map(str, shapes[0]))}", run, arrays
            if dtype is np.float32 and spec.is_differentiable and any(np.issubdtype(r.dtype, dtype) for r in results):
                total = lambda *arrays: sum((r**2).sum() for r in run(*arrays) if jnp.issubdtype(r.dtype, jnp.floating))
                gradient = jax.grad(total, tuple(range(len(arrays))))
                try:
                    jax.eval_shape(gradient, *arrays)
                except (TypeError, ValueError, NotImplementedError, AutogradError):
                    return  # it has none
                yield f"gradient of {spec.name} {'×'.join(map(str, shapes[0]))}", gradient, arrays
            return


def _run(spec: Any, leaves: Sequence[Any], tree: Any, static: Sequence[Any], *arrays: Any) -> list[Any]:
    given = iter(arrays)
    filled = [next(given) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
    key = jax.random.PRNGKey(0) if spec.is_random else None
    return [r for r in spec.evaluate(jax.tree.unflatten(tree, filled), static, key) if r is not None]


def is_rewritten(fn: Callable[..., Any], arrays: Sequence[Any]) -> bool:
    """Returns whether the passes change the graph of a function, more than XLA would by itself, or cut it."""
    opened = inline(jax.make_jaxpr(fn)(*arrays), also_custom=True)
    if not is_worth_tuning(opened):
        return False
    tuned = tune(opened, lowered_passes(None, "cpu"))
    cleaned = [str(dce(lowered_cse(graph))) for graph in (opened, tuned.jaxpr)]
    return cleaned[0] != cleaned[1] or tuned.n_by_eigen > 0 or can_be_cut(tuned.jaxpr)


def main() -> None:
    """Prints the table."""
    parser = options_of(__doc__)
    parser.add_argument("--without", nargs="*", default=SLOW, metavar="OP", help="ops that are not timed")
    parser.add_argument("--only", nargs="*", metavar="OP", help="ops that are timed; all if left out")
    options = parser.parse_args()
    timed = [spec for spec in rows() if not options.only or spec.name in options.only]
    known = [case for spec in timed if spec.name not in options.without for case in functions_of(spec)]
    rewritten = [case for case in known if is_rewritten(*case[1:])]
    print(f"{len(known)} functions of {len(timed)} ops, of which the passes rewrite {len(rewritten)}", flush=True)
    compare("Functions of the op table", rewritten, options)


if __name__ == "__main__":
    main()
