"""The rules of primitives, a file for each kind, and the table that they are in."""

from jaxaot.buckets.rules import contractions as contractions
from jaxaot.buckets.rules import control as control
from jaxaot.buckets.rules import elementwise as elementwise
from jaxaot.buckets.rules import gathers as gathers
from jaxaot.buckets.rules import randomness as randomness
from jaxaot.buckets.rules import reductions as reductions
from jaxaot.buckets.rules import shapes as shapes
from jaxaot.buckets.rules import windows as windows
from jaxaot.buckets.table import ROWS as ROWS
from jaxaot.buckets.table import RULES as RULES
