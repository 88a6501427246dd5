"""Tensor subclasses to use, and to write others by: each a file, each an example of the protocol."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.subclass.subclass import Op as Op
from jaxaot.subclasses.float8 import AmaxHistory as AmaxHistory
from jaxaot.subclasses.float8 import Float8Linear as Float8Linear
from jaxaot.subclasses.float8 import Float8Tensor as Float8Tensor
from jaxaot.subclasses.float8 import float8_linear as float8_linear
from jaxaot.subclasses.float8_math import float8_dot_general as float8_dot_general
from jaxaot.subclasses.int8_weight import Int8Weight as Int8Weight
from jaxaot.subclasses.semi_structured import SemiStructuredSparse as SemiStructuredSparse
from jaxaot.subclasses.two_tensor import TwoTensor as TwoTensor

_show_only_public(globals())
