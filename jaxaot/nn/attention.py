"""Which kernels attention may use (`torch.nn.attention`): noted, and read back. XLA writes the kernels here."""

import contextlib as _contextlib
import enum as _enum
from collections.abc import Iterator as _Iterator

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.errors import ArgumentError as _ArgumentError


class SDPBackend(_enum.IntEnum):
    """The kernels of PyTorch's attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_enabled = {one: True for one in SDPBackend if one is not SDPBackend.ERROR}
"""What `sdpa_kernel` and `ja.backends.cuda` said."""


@_contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> _Iterator[None]:
    """Notes for a block which kernels attention may use. The results are the same: XLA writes the kernels.

    Args:
      backends: One of them, or a list.
      set_priority: Only noted.

    Raises:
      ArgumentError: If it is neither.
    """
    del set_priority
    if not isinstance(backends, (list, SDPBackend)):
        raise _ArgumentError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}. Write `sdpa_kernel(SDPBackend.MATH)`."
        )
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    before = dict(_enabled)
    _enabled.update((one, one in chosen) for one in before)
    try:
        yield
    finally:
        _enabled.update(before)


__path__: list[str] = []  # so that `from jaxaot.nn.attention import …` asks `errors/absent.py`
_show_only_public(globals())
