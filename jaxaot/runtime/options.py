"""What users say of `ja.compile`, in one record that goes as a whole wherever a part of it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxaot import settings as config
from jaxaot._immutable import immutable
from jaxaot.buckets.policy import Given
from jaxaot.errors import UsageError
from jaxaot.lower.backends import backend_name
from jaxaot.lower.sizes import Dynamic
from jaxaot.partition.budget import Fit, check_budget, parse_fit
from jaxaot.partition.policies import get_policy

MAX_PROGRAMS = 128
"""How many programs of a function are kept if nothing is said: a trained model has one for each kind of call."""

_MODES = (None, "default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@immutable(eq=False)
class CompileOptions:
    """The keywords of `ja.compile`, which says what each means."""

    policy: str | Callable[..., Any] | None = None
    memory_budget: float | str | None = None
    backend: str = "xla"
    max_programs: int = MAX_PROGRAMS
    fullgraph: bool = False
    mode: str | None = None
    dynamic: Dynamic | None = None
    buckets: Given = "pow2"
    options: Mapping[str, Any] | None = None

    @property
    def has_buckets(self) -> bool:
        """Whether sizes that change get buckets."""
        return bool(self.dynamic) or (self.dynamic is None and backend_name(self.backend) == "xla")

    @property
    def fit(self) -> Fit | None:
        """The limit for everything, if one is set."""
        budget = self.memory_budget
        return parse_fit(config.get().memory_budget if budget is None else budget)

    def check(self) -> None:
        """Raises for what cannot be read, and what does not go together.

        Raises:
          PolicyError: If there is no such policy.
          BudgetError: If the budget cannot be read.
          UsageError: Else, with what to write instead.
        """
        self._answer_pytorch()
        if self.max_programs < 1:
            raise UsageError(
                f"max_programs is {self.max_programs}, and at least one program has to be kept: write 1 or more."
            )
        if self.policy is not None:
            get_policy(self.policy)
        check_budget(self.memory_budget)

    def _answer_pytorch(self) -> None:
        """Raises for options of PyTorch's `compile` that ask for what there is not."""
        if self.mode not in _MODES:
            raise UsageError(
                f"`mode` is one of PyTorch's, {', '.join(map(repr, _MODES[1:]))}, and {self.mode!r} was given."
            )
        of_xla = [name for name in self.options or () if name.startswith("xla_")]
        if of_xla:
            raise UsageError(
                f"`options` are those of PyTorch's compiler, which have no effect, and {', '.join(map(repr, of_xla))} "
                "would be XLA's. `ja.jit(fn, compiler_options=…)` takes those, `ja.config(…)` jaxaot's settings."
            )


NOTHING_SAID = CompileOptions()
"""Those of a function of which the user said nothing."""
