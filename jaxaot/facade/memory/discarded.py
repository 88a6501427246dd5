"""What stands in for the array of a parameter that a frozen function let go."""

from __future__ import annotations

from typing import Any

from jaxaot.errors import DiscardedParameterError


class Discarded:
    """What a storage holds in place of the array of a parameter that was let go; to use it is an error."""

    __slots__ = ("_message",)

    def __init__(self, name: str, owner: str):
        """Makes one for a parameter: what it is called, and whose it is."""
        object.__setattr__(self, "_message", (
            f"The parameter `{name}` of {owner} has no value any more: `ja.compiler.freeze(…, discard=True)` let it "
            "go. The frozen function has what it needs of it. Write the parameter anew, for instance by "
            "`load_state_dict`, or freeze without `discard`."
        ))  # fmt: skip

    def refuse(self) -> Any:
        """Raises.

        Raises:
          DiscardedParameterError: Always.
        """
        raise DiscardedParameterError(object.__getattribute__(self, "_message"))

    def __getattr__(self, name: str) -> Any:
        self.refuse()
