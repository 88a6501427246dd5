"""The accelerator that JAX uses, whatever it is (`torch.accelerator`); `is_available()` is False on CPUs alone."""

import jax as _jax

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.cuda import empty_cache as empty_cache
from jaxaot.cuda import synchronize as synchronize
from jaxaot.errors import TensorTypeError as _TensorTypeError
from jaxaot.facade.memory.devices import device as _device
from jaxaot.facade.memory.devices import device_of as _device_of


def is_available() -> bool:
    """Returns whether JAX uses an accelerator."""
    return _jax.default_backend() != "cpu"


def device_count() -> int:
    """Returns how many accelerators of the kind in use this process has."""
    return _jax.local_device_count() if is_available() else 0


def current_accelerator(check_available: bool = False) -> _device | None:
    """Returns the kind of accelerator that JAX uses, as its first device; None if it uses CPUs."""
    del check_available
    return _device_of(_jax.local_devices()[0]) if is_available() else None


def current_device_index() -> int:
    """Returns the number of the accelerator on which tensors are made.

    Raises:
      TensorTypeError: If JAX uses none.
    """
    if not is_available():
        raise _TensorTypeError(
            "Cannot access accelerator device when none is available. Nothing has to be asked: tensors are made on "
            "JAX's default device."
        )
    return _jax.local_devices().index(_jax.config.jax_default_device or _jax.local_devices()[0])


_show_only_public(globals())
