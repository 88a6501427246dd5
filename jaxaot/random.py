"""The generators of random numbers (`torch.random`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.memory.generator import Generator as Generator
from jaxaot.facade.memory.generator import default_generator as default_generator
from jaxaot.facade.memory.generator import fork_rng as fork_rng
from jaxaot.facade.memory.generator import get_rng_state as get_rng_state
from jaxaot.facade.memory.generator import initial_seed as initial_seed
from jaxaot.facade.memory.generator import manual_seed as manual_seed
from jaxaot.facade.memory.generator import set_rng_state as set_rng_state

_show_only_public(globals())
