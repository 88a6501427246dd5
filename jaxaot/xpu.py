"""What programs ask of GPUs of Intel before they use one (`torch.xpu`): JAX has none."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.cuda import empty_cache as empty_cache
from jaxaot.cuda import synchronize as synchronize


def is_available() -> bool:
    """Returns False: JAX has no GPUs of Intel."""
    return False


def device_count() -> int:
    """Returns 0: JAX has no GPUs of Intel."""
    return 0


def manual_seed(seed: int) -> None:
    """Does nothing; `ja.manual_seed` seeds all numbers that are drawn."""


_show_only_public(globals())
