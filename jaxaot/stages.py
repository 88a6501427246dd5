"""The stages between a function and its program, and the report on it: what `ja.trace` and `explain` return."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.plan.stages import Compiled as Compiled
from jaxaot.plan.stages import JointGraph as JointGraph
from jaxaot.plan.stages import Partition as Partition
from jaxaot.plan.stages import Traced as Traced
from jaxaot.report.record import Report as Report

_show_only_public(globals())
