"""What a function costs, said from shapes alone: what it computes and keeps, which batch fits, on which device."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.api import pareto as pareto
from jaxaot.ir.roofline import Target as Target
from jaxaot.profiling.batch import largest_batch as largest_batch
from jaxaot.profiling.planned import DevicePlan as DevicePlan
from jaxaot.profiling.planned import plan as plan
from jaxaot.profiling.profile import profile as profile
from jaxaot.profiling.record import Profile as Profile

_show_only_public(globals())
