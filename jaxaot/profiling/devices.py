"""Devices that are not there, to compile for: their compilers run without them.

The compiler for TPUs comes with `jaxaot[tpu-plan]`, that for NVIDIA's GPUs with `jaxaot[gpu-plan]`. Nothing can be run
on such a device. They are experimental in JAX: another version may refuse a kind.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os
from collections.abc import Sequence
from typing import Any

import jax
from jax.experimental import topologies

from jaxaot.errors import ArgumentError, CompilerError, MissingExtraError

_TPUS = {"v4": "v4-8", "v5e": "v5litepod-4", "v5p": "v5p-8", "v6e": "v6e-4", "tpu7x": "tpu7x-8"}
"""For each kind of TPU a type of machine that has it."""

_PLANES, _CUBES = {4: "2x2", 8: "2x4", 16: "4x4"}, {4: "2x2x1", 8: "2x2x2", 16: "2x2x4"}
"""For numbers of chips how they are connected, in a plane or in three dimensions."""

_GPU_FLAGS = "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"


@dataclasses.dataclass(frozen=True)
class _Gpu:
    """What a GPU says of itself; see `GpuDeviceInfoProto` in XLA."""

    name: str
    n_cores: int
    compute: tuple[int, int]
    bandwidth: int
    memory: int
    l2_cache: int
    clock_ghz: float
    shared_per_core: int
    shared_per_block: int

    @property
    def text(self) -> str:
        """The configuration that XLA reads."""
        return f"""
gpu_device_info {{
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: {self.shared_per_core} threads_per_core_limit: 2048 core_count: {self.n_cores}
  fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: {self.bandwidth} l2_cache_size: {self.l2_cache} clock_rate_ghz: {self.clock_ghz}
  device_memory_size: {self.memory} shared_memory_per_block_optin: {self.shared_per_block}
  cuda_compute_capability {{ major: {self.compute[0]} minor: {self.compute[1]} }}
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 5 }}
device_description_str: "{self.name}"
"""


_GPUS = {
    "a100": _Gpu(
        "NVIDIA A100-SXM4-80GB", 108, (8, 0), 2_039_000_000_000, 84_974_239_744, 41_943_040, 1.41, 167_936, 166_912
    ),
    "h100": _Gpu(
        "NVIDIA H100 80GB HBM3", 132, (9, 0), 3_352_320_000_000, 84_978_434_048, 52_428_800, 1.98, 233_472, 232_448
    ),
    "h200": _Gpu(
        "NVIDIA H200", 132, (9, 0), 4_916_736_000_000, 150_000_000_000, 62_914_560, 1.98, 233_472, 232_448
    ),
}  # fmt: skip

KINDS = (*_TPUS, *_GPUS)
"""The devices that programs are compiled for."""


def absent_device(kind: str) -> Any:
    """Returns a device that is not there, to compile for.

    Args:
      kind: One of `KINDS`.

    Raises:
      ArgumentError: If there is none of that name.
      MissingExtraError: If its compiler is not installed.
      CompilerError: If its compiler refuses it.
    """
    return absent_devices(kind, 1)[0]


def absent_devices(kind: str, n: int) -> Sequence[Any]:
    """Returns devices that are not there and are connected, to compile for.

    Args:
      kind: One of `KINDS`.
      n: How many.

    Raises:
      ArgumentError: If there is none of that name, or not as many.
      MissingExtraError: If its compiler is not installed.
      CompilerError: If its compiler refuses it.
    """
    if kind not in KINDS:
        raise ArgumentError(f"There is no device {kind!r} to compile for. There are: {', '.join(KINDS)}.")
    package, extra = ("libtpu", "tpu-plan") if kind in _TPUS else ("jax_cuda12_plugin", "gpu-plan")
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(
            f'The compiler for {kind} is not installed. Install it with `pip install "jaxaot[{extra}]"`; it runs '
            f"without the device. `ja.estimate.profile(fn, *args, target={kind!r})` estimates from shapes, without it."
        )
    if kind in _TPUS and n > 1 and n not in _PLANES:
        raise ArgumentError(
            f"{kind} comes in groups of {', '.join(map(str, _PLANES))}, and the mesh of the arguments has {n} devices. "
            "Place them on a mesh of as many, which may be a `jax.sharding.AbstractMesh`."
        )
    try:
        return _devices(kind, n)
    except (jax.errors.JaxRuntimeError, RuntimeError, ValueError, NotImplementedError) as error:
        raise CompilerError(
            f"The compiler for {kind} that is installed does not take it: {str(error).splitlines()[0]}"
        ) from error


@functools.cache
def _devices(kind: str, n: int) -> Sequence[Any]:
    if kind in _GPUS:
        if "xla_gpu_autotune_level" not in os.environ.get("XLA_FLAGS", ""):
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_GPU_FLAGS}"  # no device to tune on
        gpu = _GPUS[kind].text
        return topologies.get_topology_desc(kind, platform="cuda", target_config=gpu, topology=f"1x1x{n}").devices
    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
    os.environ.setdefault("TPU_ACCELERATOR_TYPE", _TPUS[kind])
    shapes = _PLANES if kind in ("v5e", "v6e") else _CUBES
    found = topologies.get_topology_desc(f"{kind}:{shapes[max(4, n)]}", platform="tpu")
    return found.devices
