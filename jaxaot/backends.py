"""Settings of PyTorch's kernels (`torch.backends`): taken, and read back. XLA writes the kernels here.

`ja.backends.cuda.matmul.allow_tf32` is the only one in force: it is `ja.set_float32_matmul_precision`.
"""

from collections.abc import Callable as _Callable
from typing import Any as _Any

from jaxaot import cuda as _gpus
from jaxaot._util import Noted as _Noted
from jaxaot._util import show_only_public as _show_only_public
from jaxaot.defaults import get_float32_matmul_precision as _get_precision
from jaxaot.defaults import set_float32_matmul_precision as _set_precision
from jaxaot.nn.attention import SDPBackend as _SDPBackend
from jaxaot.nn.attention import _enabled
from jaxaot.nn.attention import sdpa_kernel as _sdpa_kernel


class _Backend(_Noted):
    def __init__(self, name: str, **settings: object):
        super().__init__(f"{__name__}.{name}", **{"is_available": lambda: False, **settings})


class _Matmul(_Backend):
    """Settings of products on GPUs."""

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may be computed in tf32, or lower."""
        return _get_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        _set_precision("high" if value else "highest")


def _told(name: str, kernel: _SDPBackend) -> dict[str, _Callable[..., _Any]]:
    return {
        f"enable_{name}_sdp": lambda enabled: _enabled.update({kernel: bool(enabled)}),
        f"{name}_sdp_enabled": lambda: _enabled[kernel],
    }


def _sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> _Any:
    """Notes for a block which kernels attention may use (deprecated): see `ja.nn.attention.sdpa_kernel`."""
    said = (enable_math, enable_flash, enable_mem_efficient, enable_cudnn)
    return _sdpa_kernel([one for one, is_on in zip(list(_enabled), said, strict=False) if is_on])


def _preferred(backend: object = None) -> str:
    del backend
    return "default"


cudnn = _Backend(
    "cudnn", enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
    fp32_precision="none", version=lambda: None,
)  # fmt: skip
cuda = _Backend(
    "cuda",
    is_built=_gpus.is_available,
    matmul=_Matmul(
        "cuda.matmul",
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        allow_fp16_accumulation=False,
        fp32_precision="none",
    ),
    sdp_kernel=_sdp_kernel,
    preferred_linalg_library=_preferred,
    preferred_blas_library=_preferred,
    **_told("flash", _SDPBackend.FLASH_ATTENTION),
    **_told("mem_efficient", _SDPBackend.EFFICIENT_ATTENTION),
    **_told("math", _SDPBackend.MATH),
    **_told("cudnn", _SDPBackend.CUDNN_ATTENTION),
)
mps = _Backend("mps", is_built=lambda: False)
mkl = _Backend("mkl")
mkldnn = _Backend("mkldnn", enabled=True, deterministic=False, allow_tf32=True, fp32_precision="none")
openmp = _Backend("openmp")
xnnpack = _Backend("xnnpack", enabled=False)
opt_einsum = _Backend("opt_einsum", enabled=True, strategy="auto", is_available=lambda: True)

_NAMES = ("cudnn", "cuda", "mps", "mkl", "mkldnn", "openmp", "xnnpack", "opt_einsum")
__path__: list[str] = []  # so that `import jaxaot.backends.cudnn` finds them
_show_only_public(globals(), _NAMES)
