"""`ja.amp`: training in mixed precision (`torch.amp`)."""

from jaxaot.amp.custom import custom_bwd as custom_bwd
from jaxaot.amp.custom import custom_fwd as custom_fwd
from jaxaot.amp.grad_scaler import GradScaler as GradScaler
from jaxaot.tape.autocast import autocast as autocast
from jaxaot.tape.autocast import is_autocast_available as is_autocast_available
