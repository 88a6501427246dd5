"""What may be saved and what may be recomputed, equation by equation: arguments of `policy=`."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.partition.policies import Choice as Choice
from jaxaot.partition.policies import JaxPolicy as JaxPolicy
from jaxaot.partition.policies import NamesPolicy as NamesPolicy
from jaxaot.partition.policies import Policy as Policy
from jaxaot.partition.policies import from_jax as from_jax
from jaxaot.partition.policies import get_policy as get_policy
from jaxaot.partition.policies import min_cut as min_cut
from jaxaot.partition.policies import policy_names as policy_names
from jaxaot.partition.policies import recomputing_collectives as recomputing_collectives
from jaxaot.partition.policies import register_policy as register_policy
from jaxaot.partition.policies import save_all as save_all
from jaxaot.partition.policies import save_any_names_but_these as save_any_names_but_these
from jaxaot.partition.policies import save_anything_except_these_names as save_anything_except_these_names
from jaxaot.partition.policies import save_matmuls as save_matmuls
from jaxaot.partition.policies import save_nothing as save_nothing
from jaxaot.partition.policies import save_only_these_names as save_only_these_names

_show_only_public(globals())
