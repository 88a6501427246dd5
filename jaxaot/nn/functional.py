"""The functions of networks (`torch.nn.functional`)."""

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.facade.members.methods import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["nn.functional"])

from jaxaot.nn.by_hand import multi_head_attention_forward as multi_head_attention_forward  # noqa: E402
from jaxaot.nn.by_hand import one_hot as one_hot  # noqa: E402
from jaxaot.nn.by_hand import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss  # noqa: E402

_show_only_public(globals())
