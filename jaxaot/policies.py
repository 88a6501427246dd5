"""What may be saved and what may be recomputed: policies for `policy=`, and what a function says of its own values.

A memory budget is the most that may be saved of what it is said of: of a function, by its `memory_budget=`; of each
function without one of its own, by `ja.config(memory_budget=…)`; of a region inside of a function, by
`with ja.policies.memory_budget(…)` or `memory_budget=` of `ja.utils.checkpoint.checkpoint`. It is a fraction of what
`save_all` saves there, or bytes such as `"512MiB"`. What everything has to fit in, `"fit:16GiB"`, is said of whole
functions alone.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

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

if _TYPE_CHECKING:
    from jaxaot.facade.marks.markers import checkpoint_name as checkpoint_name
    from jaxaot.facade.marks.markers import must_recompute as must_recompute
    from jaxaot.facade.marks.markers import must_save as must_save
    from jaxaot.transforms.checkpoint import memory_budget as memory_budget

_LATER = {
    "checkpoint_name": "jaxaot.facade.marks.markers",
    "must_recompute": "jaxaot.facade.marks.markers",
    "must_save": "jaxaot.facade.marks.markers",
    "memory_budget": "jaxaot.transforms.checkpoint",
}
"""Name → where it is; a policy for functions of arrays needs no tensors."""
_show_only_public(globals(), later=_LATER)
