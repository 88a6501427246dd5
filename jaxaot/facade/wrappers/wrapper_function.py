"""Custom Functions of wrappers: the tape sees inner tensors, and the user's methods see wrappers.

The arguments of a call are opened before it is recorded, and what its forward returns is opened, too. Cotangents and
tangents are put together before the user's `backward` or `jvp` gets them, and what these return is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jaxaot.errors import FunctionResultError
from jaxaot.facade.subclass.subclass import is_wrapper, leaves_of, shell_of
from jaxaot.facade.subclass.wrapper_gradients import carried, pairs_with
from jaxaot.facade.wrappers.wrapper_hooks import Packing


class _Part(NamedTuple):
    """Where the inner tensors of a value are among those of all.

    Attributes:
      shell: Puts it together of other ones.
      pack: Puts its gradient together of those of inner tensors; None of anything that is no wrapper.
      start: Where they begin.
      size: How many there are: 1 of anything that is no wrapper.
      places: Which of them carry gradients.
    """

    shell: Callable[[Iterator[Any]], Any]
    pack: Packing | None
    start: int
    size: int
    places: list[int]

    def of(self, flat: Sequence[Any]) -> list[Any]:
        """Returns what belongs to it."""
        return list(flat[self.start : self.start + self.size])


class Opened:
    """The arguments of a call of a custom Function, or what its forward returned, taken apart.

    Attributes:
      flat: What is recorded: inner tensors in the place of wrappers; none once `put` was called.
      has_wrappers: Whether there are any.
    """

    def __init__(self, values: Sequence[Any]):
        self._parts: list[_Part] = []
        self._values: Sequence[Any] = values
        self.flat: list[Any] = []
        for value in values:
            is_one = is_wrapper(value)
            leaves = list(leaves_of(value)) if is_one else [value]
            flowing = {id(leaf) for leaf in carried(value)} if is_one else ()
            places = [i for i, leaf in enumerate(leaves) if id(leaf) in flowing]
            pack = Packing(value) if is_one else None
            self._parts.append(_Part(shell_of(value), pack, len(self.flat), len(leaves), places))
            self.flat += leaves
        self.has_wrappers = any(part.pack is not None for part in self._parts)

    @property
    def form(self) -> Any:
        """What tells it from other values, but for inner tensors: hashable."""
        return tuple(None if part.pack is None else part.pack.form for part in self._parts)

    @property
    def kept(self) -> list[Any]:
        """The inner tensors that gradients of the values hold."""
        return [tensor for part in self._parts if part.pack is not None for tensor in part.pack.kept]

    def of_each(self, flat: Sequence[Any]) -> list[list[Any]]:
        """Returns what belongs to each value."""
        return [part.of(flat) for part in self._parts]

    def put(self, flat: Sequence[Any]) -> list[Any]:
        """Returns the values with other tensors inside, and lets the values go.

        A wrapper whose inner tensors are the same is itself.
        """
        made = []
        for value, part in zip(self._values, self._parts, strict=True):
            new = part.of(flat)
            is_same = all(x is y for x, y in zip(new, part.of(self.flat), strict=True))
            made.append(value if is_same else part.shell(iter(new)))
        self.let_go()
        return made

    def let_go(self) -> None:
        """Forgets the values: what is noted of them stays."""
        self._values, self.flat = (), []

    def filled(self, flat: Sequence[Any]) -> list[Any]:
        """Returns the values with other tensors inside."""
        return [part.shell(iter(part.of(flat))) for part in self._parts]

    def packed(self, flat: Sequence[Any]) -> list[Any]:
        """Returns gradients of the values: None of a wrapper if there is none of any inner tensor."""
        found = []
        for part in self._parts:
            given = part.of(flat)
            if part.pack is None:
                found += given
                continue
            given = [given[place] for place in part.places]
            found.append(None if all(g is None for g in given) else part.pack(given))
        return found

    def opened(self, gradients: Any, said: str) -> tuple[Any, ...]:
        """Returns gradients of inner tensors out of those of the values, None where there is none.

        Raises:
          FunctionResultError: If there is not one for each value.
        """
        given = list(gradients) if isinstance(gradients, (tuple, list)) else [gradients]
        if len(given) < len(self._parts) or any(g is not None for g in given[len(self._parts) :]):
            raise FunctionResultError(
                f"{said} returned an incorrect number of gradients (expected {len(self._parts)}, got {len(given)}). "
                "Return one for each argument, None for those that have none."
            )
        flat: list[Any] = []
        for part, gradient in zip(self._parts, given, strict=False):
            if part.pack is None:
                flat.append(gradient)
                continue
            found = [None] * part.size
            if gradient is not None:
                pairs = list(pairs_with(part.pack([None] * len(part.places)), gradient))
                for place, (_, inner) in zip(part.places, pairs, strict=True):
                    found[place] = inner
            flat += found
        return tuple(flat)


class OpenedCall:
    """A call of a custom Function with wrappers among its arguments or results.

    Attributes:
      arguments: Its arguments.
      name: Of the Function, for messages.
    """

    def __init__(self, name: str, args: Sequence[Any]):
        self.name = name
        self.arguments = Opened(args)
        self._results: Opened | None = None
        self._is_single = False

    def run(self, forward: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Returns what runs a forward, and returns tensors that are no wrappers."""

        def run(ctx: Any) -> Any:
            if self.arguments.has_wrappers:
                ctx.needs_input_grad = tuple(map(any, self.arguments.of_each(ctx.needs_input_grad)))
            returned = forward(ctx)
            self._is_single = not isinstance(returned, (tuple, list))
            self._results = Opened([returned] if self._is_single else list(returned))
            if self._results.has_wrappers:
                return tuple(self._results.flat)
            self._results.let_go()
            return returned

        return run

    def backward(self, backward: Callable[..., Any]) -> OpenedBackward:
        """Returns a backward, or a pull, of inner tensors."""
        return OpenedBackward(self, backward)

    def pull(self, backward: Callable[..., Any], ctx: Any, cotangents: Sequence[Any]) -> Any:
        """Returns the gradients of inner tensors that a user's backward gives."""
        found = backward(ctx, *self._shown(cotangents))
        said = f"function {self.name}Backward"
        return self.arguments.opened(found, said) if self.arguments.has_wrappers else found

    @property
    def opened(self) -> list[Opened]:
        """Its arguments, and once its forward has run, its results."""
        return [self.arguments] if self._results is None else [self.arguments, self._results]

    def push(self, push: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a `jvp` of inner tensors."""

        def run(ctx: Any, *tangents: Any) -> Any:
            found = push(ctx, *self.arguments.packed(tangents))
            results = self._results
            return found if results is None or not results.has_wrappers else results.opened(found, f"{self.name}.jvp")

        return run

    def _shown(self, cotangents: Sequence[Any]) -> Sequence[Any]:
        return cotangents if self._results is None else self._results.packed(cotangents)

    def finish(self, returned: Any) -> Any:
        """Returns the results for the caller."""
        self.arguments.let_go()
        if self._results is None or not self._results.has_wrappers:
            return returned
        made = self._results.put(list(returned))
        return made[0] if self._is_single else tuple(made)


class OpenedBackward:
    """A user's backward, of inner tensors.

    Attributes:
      users: The user's.
    """

    def __init__(self, call: OpenedCall, users: Callable[..., Any]):
        self._call, self.users = call, users

    def __call__(self, ctx: Any, *cotangents: Any) -> Any:
        return self._call.pull(self.users, ctx, cotangents)

    @property
    def form(self) -> Any:
        """What tells it from that of a call with other wrappers: hashable."""
        return tuple(opened.form for opened in self._call.opened)

    @property
    def kept(self) -> list[Any]:
        """The inner tensors that the gradients hold which it takes and returns."""
        return [tensor for opened in self._call.opened for tensor in opened.kept]
