"""What programs ask of GPUs before they use one (`torch.cuda`): the GPUs that JAX has, on most machines none.

Nothing has to be asked or moved: arrays live on JAX's default device, the first accelerator if there is one.
"""

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import jax as _jax

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.cuda import amp as amp
from jaxaot.facade.memory.devices import device as _device
from jaxaot.facade.memory.devices import device_of as _device_of
from jaxaot.facade.memory.devices import find_device as _find_device
from jaxaot.facade.memory.generator import default_generator as _generator


class OutOfMemoryError(RuntimeError):
    """What PyTorch raises where the memory of a GPU does not suffice; JAX raises `jax.errors.JaxRuntimeError`."""


def _gpus() -> list[_Any]:
    return [one for one in _jax.local_devices() if one.platform in ("gpu", "rocm")]


def _gpu(device: object = None) -> _Any:
    """Returns the jax device of a number or name; by default the GPU in use.

    Raises:
      TensorTypeError: If JAX has no GPU, or not this one.
    """
    if device is None:
        default = _jax.config.jax_default_device
        return default if default in _gpus() else _find_device("cuda")
    return _find_device(f"cuda:{device}" if isinstance(device, int) else device)


def is_available() -> bool:
    """Returns whether JAX has a GPU of NVIDIA or AMD."""
    return bool(_gpus())


def device_count() -> int:
    """Returns how many GPUs of NVIDIA or AMD JAX has."""
    return len(_gpus())


def is_initialized() -> bool:
    """Returns whether JAX has a GPU: it finds them when it starts."""
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Returns whether there is a GPU, which computes in bfloat16; as in PyTorch, CPUs, which do too, do not count."""
    del including_emulation
    return is_available()


def init() -> None:
    """Does nothing where JAX has a GPU.

    Raises:
      TensorTypeError: If it has none.
    """
    _gpu()


def current_device() -> int:
    """Returns the number of the GPU on which tensors are made.

    Raises:
      TensorTypeError: If JAX has none.
    """
    return _gpus().index(_gpu())


def set_device(device: _Any) -> None:
    """Has tensors made on a GPU that say no device of their own.

    Args:
      device: Its number or name.

    Raises:
      TensorTypeError: If there is no such GPU.
    """
    _jax.config.update("jax_default_device", _gpu(device))


def device(device: _Any) -> _device:
    """Returns a GPU by its number or name, `with ja.cuda.device(1):`; None and -1 are the one in use.

    Raises:
      TensorTypeError: If there is no such GPU.
    """
    return _device_of(_gpu(None if device == -1 else device))


def get_device_name(device: _Any = None) -> str:
    """Returns what a GPU is called.

    Raises:
      TensorTypeError: If there is no such GPU.
    """
    return _gpu(device).device_kind


def get_device_capability(device: _Any = None) -> tuple[int, int]:
    """Returns the compute capability of a GPU, `(9, 0)`.

    Raises:
      TensorTypeError: If there is no such GPU.
    """
    major, _, minor = str(_gpu(device).compute_capability).partition(".")
    return int(major), int(minor or 0)


def manual_seed(seed: int) -> None:
    """Seeds the numbers drawn on GPUs, which are those of `ja.manual_seed`; does nothing where JAX has no GPU."""
    if is_available():
        _generator.manual_seed(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Seeds the numbers drawn on GPUs with one that nobody knows; does nothing where JAX has no GPU."""
    if is_available():
        _generator.seed()


seed_all = seed


def synchronize(device: object = None) -> None:
    """Waits until all that was begun is computed, on any device: read a clock after it."""
    del device
    _jax.block_until_ready(_jax.live_arrays())
    _jax.effects_barrier()


def empty_cache() -> None:
    """Does nothing: JAX gives memory back to its own pool, see `XLA_PYTHON_CLIENT_ALLOCATOR`."""


ipc_collect = empty_cache


def get_rng_state_all() -> list[_Any]:
    """Returns the state of what draws numbers on GPUs, one for all; an empty list where JAX has none."""
    return [_generator.get_state()] if is_available() else []


def set_rng_state_all(new_states: _Sequence[_Any]) -> None:
    """Sets the state of what draws numbers on GPUs to what `get_rng_state_all` returned."""
    for state in new_states[:1]:
        _generator.set_state(state)


def memory_stats(device: _Any = None) -> dict[str, int]:
    """Returns what JAX says of the memory of a GPU; an empty dict where it has none."""
    return dict(_gpu(device).memory_stats() or {}) if is_available() else {}


def _bytes(name: str, what: str) -> _Callable[..., int]:
    def stat(device: _Any = None) -> int:
        return int(memory_stats(device).get(name, 0))

    stat.__doc__ = f"Returns {what}, in bytes; 0 where JAX has no GPU."
    return stat


memory_allocated = _bytes("bytes_in_use", "what arrays take on a GPU now")
max_memory_allocated = _bytes("peak_bytes_in_use", "the most that arrays took on a GPU since the process began")
memory_reserved = _bytes("pool_bytes", "what JAX holds of the memory of a GPU now")
max_memory_reserved = _bytes("peak_pool_bytes", "the most that JAX held of the memory of a GPU")


def reset_peak_memory_stats(device: object = None) -> None:
    """Does nothing: JAX counts the most that was in use since the process began."""
    del device


reset_max_memory_allocated = reset_peak_memory_stats


def mem_get_info(device: _Any = None) -> tuple[int, int]:
    """Returns how many bytes of a GPU are free for JAX, and how many it may use.

    Raises:
      TensorTypeError: If there is no such GPU.
    """
    stats = _gpu(device).memory_stats() or {}
    most = int(stats.get("bytes_limit", 0))
    return most - int(stats.get("bytes_in_use", 0)), most


_show_only_public(globals(), ("amp",))
