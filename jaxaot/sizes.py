"""Sizes that change from call to call: which dims, between which numbers, and what holds of them."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.archive.dims import Dim as Dim
from jaxaot.facade.marks.sizes import check as check
from jaxaot.facade.marks.sizes import mark_dynamic as mark_dynamic
from jaxaot.facade.marks.sizes import mark_static as mark_static

_show_only_public(globals())
