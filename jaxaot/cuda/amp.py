"""Mixed precision on GPUs (`torch.cuda.amp`): `ja.autocast` and `ja.amp.GradScaler` for the device `"cuda"`."""

from typing import Any as _Any

from jaxaot._typing import DTypeLike as _DTypeLike
from jaxaot._util import show_only_public as _show_only_public
from jaxaot.amp import GradScaler as _GradScaler
from jaxaot.amp import custom_bwd as custom_bwd
from jaxaot.amp import custom_fwd as custom_fwd
from jaxaot.tape.autocast import autocast as _autocast


class autocast(_autocast):
    """`ja.autocast("cuda")`: inside, listed ops run in a lower precision on GPUs, and as ever on other devices."""

    def __init__(self, enabled: bool = True, dtype: _DTypeLike = "float16", cache_enabled: bool = True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """`ja.amp.GradScaler("cuda")`, which does nothing but step where JAX has no GPU."""

    def __init__(self, *args: _Any, **kwargs: _Any):
        super().__init__("cuda", *args, **kwargs)


_show_only_public(globals())
