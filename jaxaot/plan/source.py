"""The source of a generated call, as it is written: lines, constants, and the names of what a call has found."""

from __future__ import annotations

import contextlib
import keyword
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jaxaot.plan.call import CallPlan
from jaxaot.plan.guards import LEAVES, PythonGuard, differs
from jaxaot.plan.paths import Path, children_of, class_member, held_by_variable, raw_item

SOURCE_NAME = "<jaxaot call>"
"""The file name of generated code."""


MISS: Any = type("Miss", (), {"__repr__": lambda self: "MISS"})()
"""What a program returns for a call that does not fit it."""


class Source:
    """Lines of Python in the making.

    Each tensor input has variables of its own, which is faster than lists however many there are: `t0`, its storage
    `s0` and its history `h0`.

    Attributes:
      scope: The globals of the code.
    """

    def __init__(self, call: CallPlan | None, scope: dict[str, Any]):
        self.scope = scope
        self._call = call
        self._lines: list[str] = []
        self._depth = 0
        self._paths: dict[Path, str] = {}
        self._constants: dict[int, str] = {}
        self._n_fresh = 0

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    def add(self, line: str) -> None:
        """Appends a line."""
        self._lines.append("    " * self._depth + line)

    @contextlib.contextmanager
    def block(self, line: str) -> Iterator[None]:
        """Appends a line that what is added inside belongs to."""
        self.add(line)
        self._depth += 1
        yield
        self._depth -= 1

    def miss_if(self, *tests: str) -> None:
        """Appends the guards that none of these tests may be true."""
        if tests:
            self.add(f"if {' or '.join(tests)}: return MISS")

    def constant(self, value: Any) -> str:
        """Returns the name of a value that the code refers to."""
        if id(value) not in self._constants:
            self._constants[id(value)] = f"K{len(self.scope)}"
            self.scope[self._constants[id(value)]] = value
        return self._constants[id(value)]

    def fresh(self) -> str:
        """Returns the name of a new variable."""
        self._n_fresh += 1
        return f"e{self._n_fresh}"

    def tensor(self, number: int) -> str:
        """Returns the expression of a tensor input."""
        return f"t{number}"

    def history(self, tensor: int) -> str:
        """Returns the expression of the history that a tensor input has before the call."""
        return f"h{tensor}"

    def storage(self, number: int) -> str:
        """Returns the expression of a distinct storage."""
        assert self._call is not None, "there are storages in calls alone"
        return f"s{self._call.storages[number].tensor}"

    def path(self, path: Path) -> str:
        """Returns the name of the variable that holds what a path leads to, found by a line before."""
        if path[-1][0] == "root":
            return path[-1][1]
        if path[0] == LEAVES:  # an item of a tuple costs no more than a variable
            return self.step(path)
        if path not in self._paths:
            text = self.step(path)
            self._paths[path] = f"p{len(self._paths)}"
            self.add(f"{self._paths[path]} = {text}")
        return self._paths[path]

    def name(self, path: Path, text: str) -> None:
        """Notes a shorter expression of what a path leads to."""
        self._paths[path] = text

    def step(self, path: Path) -> str:
        """Returns the expression of what a path leads to, its last step taken from a variable."""
        if path in self._paths:
            return self._paths[path]
        kind, key = path[-1]
        if kind == "root":
            return key
        parent = self.path(path[:-1])
        match kind:
            case "attr":
                # Python reads `x.ﬁ` as `x.fi`: it normalizes the names in code, and nothing but those
                is_plain = type(key) is str and key.isascii() and key.isidentifier() and not keyword.iskeyword(key)
                return f"{parent}.{key}" if is_plain else f"getattr({parent}, {self.constant(key)})"
            case "item":
                return f"{parent}[{key!r}]" if type(key) in (str, int, bool) else f"{parent}[{self.constant(key)}]"
            case "child":
                return f"{self.constant(children_of)}({parent})[{key[0]}][1]"
            case "own":
                return f"{self.constant(object.__getattribute__)}({parent}, {self.constant(key)})"
            case "raw":
                return f"{self.constant(raw_item)}({parent}, {self.constant(key)})"
            case "closure":
                return f"{parent}.__closure__[{key[0]}].cell_contents"
            case "global":
                return f"{parent}.__globals__[{key!r}]"
            case "type":
                return f"type({parent})"
            case "key":
                return f"{parent}[{self.constant(key)}()]"
            case "member":
                return f"{self.constant(key)}()"
            case "context":
                return f"{self.constant(held_by_variable)}({parent})"
            case "referent":
                return f"{parent}()"
            case "variable":
                return f"{parent}.get({key!r})"
            case "module":
                return self.constant(key)
            case _:
                self.scope["class_member"] = class_member
                return f"class_member({parent}, {key!r})"


def test_of(guards: Iterable[PythonGuard], scope: dict[str, Any]) -> Callable[..., Any]:
    """Returns a function of (fn, args, kwargs): True, or `MISS` if one of some guards does not hold.

    Args:
      guards: The guards; none is about tensor inputs.
      scope: What their code refers to, besides constants.
    """
    source = Source(None, {"MISS": MISS, "differs": differs, **scope})
    with source.block("def fits(fn, args, kwargs):"):
        with source.block("try:"):
            for guard in guards:
                source.miss_if(*guard.misses(source))
            source.add("return True")
        with source.block("except (AttributeError, LookupError, TypeError, ValueError):"):
            source.add("return MISS")
    exec(compile(str(source), SOURCE_NAME, "exec"), source.scope)
    return source.scope["fits"]


def in_runs(texts: Sequence[str], name: str) -> list[str]:
    """Returns expressions with slices in place of longer runs of items of the list `name`."""
    places: list[Any] = [int(text[len(name) + 1 : -1]) if text.startswith(f"{name}[") else None for text in texts]
    found: list[str] = []
    start = 0
    while start < len(texts):
        end, first = start + 1, places[start]
        while first is not None and end < len(texts) and places[end] == first + end - start:
            end += 1
        found += [f"*{name}[{first}:{places[end - 1] + 1}]"] if end - start > 4 else texts[start:end]
        start = end
    return found
