"""The version (`torch.version`): no CUDA of our own, and no HIP; `jaxaot doctor` says what JAX has."""

from jaxaot._versions import JAXAOT as __version__

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
git_version = __version__


def __dir__() -> list[str]:
    return sorted(__all__)
