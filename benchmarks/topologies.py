"""What a gradient takes on devices that are not there: compiled for a TPU and a GPU, by their compilers alone.

    pip install "jax[tpu]"                                                    the compiler for TPUs
    pip install --no-deps jax-cuda12-plugin jax-cuda12-pjrt                   the compiler for GPUs
    python -m benchmarks.topologies

A GPT of 8 layers, 384 wide, batch 8, in bfloat16: loss and gradient in one program, and forward and backward apart.
The bytes are those of `memory_analysis`; nothing is run, so there are no times.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.extend.core import jaxpr_as_fun
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from rich.console import Console
from rich.table import Table

import jaxaot as ja
from benchmarks import models
from benchmarks.models import Model
from jaxaot._util import format_bytes
from jaxaot.passes.prepare import prepare_backward

H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 3352320000000 l2_cache_size: 52428800
  clock_rate_ghz: 1.98 device_memory_size: 84978434048 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 minor: 0 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 5 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""

DEVICES = ("v5e", "h100")

_GPU_FLAGS = "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"


def device(kind: str) -> Any:
    """Returns a device of a kind, `"v5e"` or `"h100"`, to compile for; None where its compiler is not installed."""
    if kind == "h100":
        if importlib.util.find_spec("jax_cuda12_plugin") is None:
            return None
        if "xla_gpu_autotune_level" not in os.environ.get("XLA_FLAGS", ""):
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_GPU_FLAGS}"  # no device to tune on
        found = topologies.get_topology_desc("h100", platform="cuda", target_config=H100, topology="1x1x1")
    else:
        if importlib.util.find_spec("libtpu") is None:
            return None
        os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
        os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-4")
        found = topologies.get_topology_desc("v5e:2x2", platform="tpu")
    return found.devices[0]


def placed(tree: Any, on: Any) -> Any:
    """Returns the types of a tree of arrays, as if the arrays lay on a device."""
    sharding = NamedSharding(Mesh(np.array([on]), ("x",)), PartitionSpec())
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), tree)


def halved(tree: Any) -> Any:
    """Returns the types of a tree of arrays with floats in bfloat16."""
    half = lambda x: jnp.bfloat16 if jnp.issubdtype(x.dtype, jnp.floating) else x.dtype
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, half(x)), tree)


def compiled(fn: Any, args: Any) -> Any:
    """Returns a function of types, compiled for where these lie."""
    return jax.jit(fn).lower(*args).compile()


def temporary_bytes(fn: Any, args: Any) -> int:
    """Returns the temporary memory of a function of types."""
    return compiled(fn, args).memory_analysis().temp_size_in_bytes


def gradients(model: Model, checkpointed: Model) -> dict[str, Any]:
    """Returns functions for loss and gradient in one program, by name."""
    found = {
        "jax.value_and_grad": jax.value_and_grad(model.loss),
        "jax.checkpoint of each block, dots_saveable": jax.value_and_grad(checkpointed.loss),
    }
    budgets = {"min_cut": None, "within 0.3": 0.3, "within 0.1": 0.1, "fit:640MiB": "fit:640MiB"}
    for name, budget in budgets.items():
        found[f"jaxaot, {name}"] = ja.value_and_grad(model.loss, memory_budget=budget)
    return found


def apart(model: Model, types: Any, on: Any) -> dict[str, tuple[int, int]]:
    """Returns what is kept between forward and backward, and the temporary memory of the latter, in bytes, by name."""
    joint = ja.trace(model.loss, *types).joint()
    found = {}
    for name, options in (
        ("save_all", {"policy": "save_all"}),
        ("min_cut", {"policy": "min_cut"}),
        ("within 0.1", {"memory_budget": 0.1}),
    ):
        parts = joint.partition(**options)
        backward = prepare_backward(parts.backward, len(parts.plan.residuals))
        found[name] = parts.plan.extra_bytes, temporary_bytes(jaxpr_as_fun(backward), placed(backward.in_avals, on))
    return found


def main() -> None:
    """Prints a table for each device whose compiler is installed."""
    size = {"n_layers": 8, "width": 384, "n_heads": 6, "length": 512, "batch": 8, "vocabulary": 4096}
    model = models.gpt(**size)
    dots = jax.checkpoint_policies.dots_saveable
    checkpointed = models.gpt(**size, wrap=lambda block: jax.checkpoint(block, policy=dots))
    types = halved((model.parameters, *model.data))
    for kind in DEVICES:
        on = device(kind)
        if on is None:
            print(f"The compiler for {kind} is not installed.")
            continue
        with ja.config(costs=kind):
            table = Table(title=f"{model.name}, 384 wide, compiled for a {on.device_kind}", title_justify="left")
            for column in ("one program", "temporary memory"):
                table.add_column(column, justify="left" if column == "one program" else "right")
            for name, fn in gradients(model, checkpointed).items():
                table.add_row(name, format_bytes(temporary_bytes(fn, placed(types, on))))
            Console(width=120).print(table)
            table = Table("forward and backward apart", "kept between", "temporary memory of the backward")
            for name, sizes in apart(model, types, on).items():
                table.add_row(f"jaxaot, {name}", *map(format_bytes, sizes))
            Console(width=120).print(table)


if __name__ == "__main__":
    main()
