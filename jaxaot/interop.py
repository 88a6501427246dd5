"""Between tensors and arrays of JAX, one of them or a pytree, without a copy."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.dispatch.create import from_jax as from_jax
from jaxaot.facade.marks.trees import to_arrays as to_arrays
from jaxaot.facade.marks.trees import to_tensors as to_tensors

_show_only_public(globals())
