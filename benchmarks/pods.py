"""A budget beside policies of `jax.checkpoint` on eight devices that need not be there: compiled alone, never run.

    pip install "jaxaot[tpu-plan]"
    python -m benchmarks.pods                           for eight chips of v5e
    python -m benchmarks.pods --on cpu                  for eight virtual devices of this machine
    python -m benchmarks.pods --only "FSDP, scanned"    rows whose names contain a text

A row is a step of training with AdamW of 4 layers under one jit, laid over a mesh by its arguments and by where the
residual stream is asked to lie. Bytes are the temporary memory of one device by `memory_analysis`. FLOPs are those of
the products of its program with the rounds of loops counted, see `hlo_flops.py`. A star marks a policy of
`jax.checkpoint` that is below one of ours in bytes and FLOPs.

The row "Llama-like, FSDP, scanned" on cpu, JAX 0.12.0.1: JAX 60.5 MiB at 7.65 GFLOP; `jax.checkpoint` of layers that
saves nothing 19.2 at 9.53, dots 35.5 at 7.65, dots with no batch dims 30.2 at 7.92; `ja.remat` of layers 16.5 at 9.53;
`ja.value_and_grad` by default 36.0 at 7.65, within 0.3 33.1 at 7.78, 0.2 28.3 at 8.46, 0.1 23.1 at 9.26.
"""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxaot as ja
from benchmarks.hlo_flops import hlo_flops
from jaxaot._util import format_bytes
from jaxaot.profiling.devices import absent_devices

N_LAYERS, ROWS, BUDGETS = 4, 8, (0.3, 0.2, 0.1)
_UP, _DOWN = ("query", "key", "value", "gate", "up"), ("out", "down")


class Layout(NamedTuple):
    """How a step lies over a mesh.

    Attributes:
      shape: How many devices the axes "data" and "model" of the mesh have.
      inner: Along which axis a weight is divided where it meets the residual stream.
      outer: Along which it is divided where it meets heads and hidden values.
    """

    shape: tuple[int, int]
    inner: str | None = None
    outer: str | None = None


LAYOUTS = {
    "data parallel": Layout((8, 1)),
    "FSDP": Layout((8, 1), "data"),
    "tensor parallel": Layout((2, 4), None, "model"),
    "FSDP and tensor parallel": Layout((2, 4), "data", "model"),
}


class Size(NamedTuple):
    """How large a model is."""

    width: int = 512
    length: int = 1024
    n_classes: int = 8192
    n_heads: int = 8
    dtype: Any = jnp.bfloat16


SIZES = {"cpu": Size(256, 256, 1024, 4, jnp.float32), "v5e": Size()}


def _normal(x: jax.Array, scale: jax.Array) -> jax.Array:
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt((y**2).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def block(x: Any, w: Any, n_heads: int, is_causal: bool) -> Any:
    """Returns a layer of a transformer, Llama-like, or of a ViT where it looks both ways."""
    heads = lambda name: (_normal(x, w["scale"]) @ w[name]).reshape(*x.shape[:2], n_heads, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", heads("query"), heads("key")).astype(jnp.float32) * n_heads**-0.5
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1).astype(x.dtype), heads("value"))
    x = x + mixed.reshape(x.shape) @ w["out"]
    y = _normal(x, w["scale"])
    return x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]


class Row(NamedTuple):
    """A model, how it lies, and whether its layers are a scan."""

    layout: str
    is_scanned: bool
    is_causal: bool = True

    @property
    def name(self) -> str:
        """What it is called."""
        model = "Llama-like" if self.is_causal else "ViT"
        return f"{model}, {self.layout}, {'scanned' if self.is_scanned else 'written out'}"

    def mesh(self, kind: str) -> Mesh:
        """Returns its mesh of devices of a kind."""
        devices = jax.devices()[:8] if kind == "cpu" else absent_devices(kind, 8)
        shape = LAYOUTS[self.layout].shape
        return Mesh(np.array(devices).reshape(shape), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def types(self, size: Size, mesh: Mesh) -> tuple[Any, Any]:
        """Returns the types of parameters and tokens."""
        layout, (width, inner) = LAYOUTS[self.layout], (size.width, 4 * size.width)

        def typed(shape: tuple[int, ...], *spec: str | None, dtype: Any = size.dtype, n: int = 0) -> Any:
            stacked = ((n, *shape), (None, *spec)) if n else (shape, spec)
            return jax.ShapeDtypeStruct(stacked[0], dtype, sharding=NamedSharding(mesh, P(*stacked[1])))

        def layer(n: int = 0) -> dict[str, Any]:
            sizes = {"gate": inner, "up": inner, "down": inner}
            found = {name: typed((width, sizes.get(name, width)), layout.inner, layout.outer, n=n) for name in _UP}
            found |= {name: typed((sizes.get(name, width), width), layout.outer, layout.inner, n=n) for name in _DOWN}
            return {**found, "scale": typed((width,), None, n=n)}

        layers = layer(N_LAYERS) if self.is_scanned else [layer() for _ in range(N_LAYERS)]
        table = typed((size.n_classes, width), None, layout.inner)
        head = typed((width, size.n_classes), layout.inner, layout.outer)
        tokens = typed((ROWS, size.length + 1), "data", dtype=jnp.int32)
        return {"table": table, "head": head, "scale": typed((width,), None), "layers": layers}, tokens

    def loss(self, size: Size, mesh: Mesh, wrap: Callable[[Any], Any]) -> Callable[..., Any]:
        """Returns its loss, with something around each layer."""
        layer = wrap(functools.partial(block, n_heads=size.n_heads, is_causal=self.is_causal))

        def loss(params: Any, tokens: Any) -> Any:
            x = jax.lax.with_sharding_constraint(params["table"][tokens[:, :-1]], NamedSharding(mesh, P("data")))
            if self.is_scanned:
                x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, params["layers"])
            else:
                for w in params["layers"]:
                    x = layer(x, w)
            scores = jax.nn.log_softmax((_normal(x, params["scale"]) @ params["head"]).astype(jnp.float32))
            return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()

        return loss


def ways(row: Row, size: Size, mesh: Mesh) -> Iterator[tuple[str, Any]]:
    """Yields loss and gradient of a row, by what is saved: first what JAX has, then ours."""
    policies, same = jax.checkpoint_policies, lambda layer: layer
    yield "JAX", jax.value_and_grad(row.loss(size, mesh, same))
    for name in ("nothing_saveable", "dots_saveable", "dots_with_no_batch_dims_saveable"):
        wrap = functools.partial(jax.checkpoint, policy=getattr(policies, name))
        yield f"jax.checkpoint, {name}", jax.value_and_grad(row.loss(size, mesh, wrap))
    yield "ja.remat of layers", jax.value_and_grad(row.loss(size, mesh, ja.remat))
    for budget in (None, *BUDGETS):
        take = ja.value_and_grad(row.loss(size, mesh, same), memory_budget=budget)
        yield f"ja.value_and_grad, {budget or 'default'}", take


def _adamw(p: Any, m: Any, v: Any, g: Any) -> tuple[Any, Any, Any]:
    g = g.astype(jnp.float32)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return (p - 1e-3 * (m / (jnp.sqrt(v) + 1e-8) + 0.01 * p)).astype(p.dtype), m, v


def taken(row: Row, kind: str) -> Iterator[tuple[str, int, int]]:
    """Yields temporary bytes and FLOPs of one device for each way of a row."""
    size, mesh = SIZES.get(kind, Size()), row.mesh(kind)
    params, tokens = row.types(size, mesh)
    wide = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, jnp.float32, sharding=p.sharding), params)
    lie = jax.tree.map(lambda p: p.sharding, params)
    for name, take in ways(row, size, mesh):

        def step(p: Any, m: Any, v: Any, tokens: Any, take: Any = take) -> Any:
            loss, gradients = take(p, tokens)
            new = map(_adamw, *map(jax.tree.leaves, (p, m, v, gradients)))
            return loss, *(jax.tree.unflatten(jax.tree.structure(p), part) for part in zip(*new, strict=True))

        jitted = ja.jit(step, donate_argnums=(0, 1, 2), out_shardings=(None, lie, lie, lie))
        compiled = jitted.lower(params, wide, wide, tokens).compile()
        yield name, compiled.memory_analysis().temp_size_in_bytes, hlo_flops(compiled.as_text())


def rows() -> Iterator[Row]:
    """Yields the rows."""
    for is_scanned in (True, False):
        for layout in LAYOUTS:
            yield Row(layout, is_scanned)
    yield Row("FSDP", True, is_causal=False)


def main() -> None:
    """Prints a table for each row."""
    parser = argparse.ArgumentParser(description="Budgets beside policies of jax.checkpoint.")
    parser.add_argument("--on", default="v5e", help="cpu, or a device that need not be there")
    parser.add_argument("--only", default="", help="rows whose names contain this")
    asked = parser.parse_args()
    if asked.on == "cpu":
        jax.config.update("jax_num_cpu_devices", 8)
    os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-8")
    for row in rows():
        if asked.only not in row.name:
            continue
        print(f"{row.name}, on {asked.on}", flush=True)
        found = list(taken(row, asked.on))
        ours = [(n_bytes, flops) for name, n_bytes, flops in found if name.startswith("ja.")]
        for name, n_bytes, flops in found:
            is_below = name.startswith("jax.") and any(n_bytes < b and flops < f for b, f in ours)
            star = " *" if is_below else ""
            print(f"  {name:46}{format_bytes(n_bytes):>12}{flops / 1e9:9.2f} GFLOP{star}", flush=True)


if __name__ == "__main__":
    main()
