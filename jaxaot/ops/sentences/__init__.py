"""What each op does, in a sentence: the first line of its help. See `facade/members/help.py` for the rest of it."""

from __future__ import annotations

from jaxaot.ops.sentences import linear, networks, parameters, pointwise, reductions, shapes, special

SENTENCES: dict[str, str] = (
    pointwise.SENTENCES
    | reductions.SENTENCES
    | shapes.SENTENCES
    | linear.SENTENCES
    | networks.SENTENCES
    | special.SENTENCES
)
"""Row → its sentence. A row that is another signature of one (`max_dim` of `max`) may have one of its own."""

PARAMETERS = parameters.PARAMETERS
OF_OPS = parameters.OF_OPS
