"""The generators of random numbers (`torch.random`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.generator import Generator as Generator
from jaxaot.facade.generator import default_generator as default_generator
from jaxaot.facade.generator import fork_rng as fork_rng
from jaxaot.facade.generator import get_rng_state as get_rng_state
from jaxaot.facade.generator import initial_seed as initial_seed
from jaxaot.facade.generator import manual_seed as manual_seed
from jaxaot.facade.generator import set_rng_state as set_rng_state

_show_only_public(globals())
