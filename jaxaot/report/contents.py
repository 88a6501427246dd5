"""What a report holds: plain data, no array, tracer or function. Its faces, text and HTML, read nothing else."""

from __future__ import annotations

from jaxaot._immutable import immutable


@immutable
class Line:
    """One equation of a graph.

    Attributes:
      text: What it computes, as graphs are printed.
      place: The user's line, such as `model.py:12`, or `""`.
      file: Number of its file among the sources of the report; None if it is not there.
      number: Of the line in that file, from 1; 0 without a file.
      scopes: The user's scopes and modules around it, or `""`.
      note: Bytes, FLOPs, and whether it is saved.
      saved: Names of the values that it makes and the backward gets, or that it reads.
      is_recomputed: Whether the backward computes here again what the forward had.
    """

    text: str
    place: str
    file: int | None
    number: int
    scopes: str
    note: str
    saved: tuple[str, ...] = ()
    is_recomputed: bool = False


@immutable
class Repeat:
    """Equations of a graph that stand several times one after the other, as layers of a model do.

    Attributes:
      first: The position of the first one.
      length: How many they are.
      count: How often they stand there.
    """

    first: int
    length: int
    count: int


@immutable
class Graph:
    """A graph as it is printed.

    Attributes:
      name: What it is called: `"forward"`, `"backward"`, or the name of the function.
      head: Its name and inputs, then its constants.
      lines: One for each equation.
      tail: What it returns.
      repeats: Equations that stand several times.
    """

    name: str
    head: tuple[str, ...]
    lines: tuple[Line, ...]
    tail: str
    repeats: tuple[Repeat, ...] = ()


@immutable
class Value:
    """A value that crosses from the forward to the backward, or that both compute.

    Attributes:
      name: The primitive that made it and its position, such as `tanh_12`.
      type: Its dtype and shape, such as `float32[3,4]`.
      bytes: What it weighs.
      place: The user's line, or `""`.
      why: Why it is saved; `""` of one that is computed again.
    """

    name: str
    type: str
    bytes: int
    place: str
    why: str = ""


@immutable
class Memory:
    """The memory in use, equation by equation, estimated from shapes; all in bytes.

    Attributes:
      held: What inputs and outputs take throughout.
      n_forward: How many of the moments belong to the forward.
      bytes: In use at each moment, everything counted.
      residual_bytes: What of it is kept for the backward.
      peak: The line of text on the moment at which most is in use.
      alive: The values that take memory at that moment besides inputs and outputs, the largest first.
    """

    held: int
    n_forward: int
    bytes: tuple[int, ...]
    residual_bytes: tuple[int, ...]
    peak: str
    alive: tuple[Value, ...] = ()


@immutable
class Way:
    """What a budget or a policy makes of a graph, for comparison.

    Attributes:
      code: What the user writes for it.
      peak_bytes: The memory in use at most.
      saved_bytes: What is kept for the backward.
      n_saved: How many values that is.
      n_recomputed: How many values the backward computes again.
      recompute_seconds: How long that takes; None where it is not known.
      curve: The memory in use over time, as the largest of each of some stretches.
      is_this: Whether it is the one in force.
    """

    code: str
    peak_bytes: int
    saved_bytes: int
    n_saved: int
    n_recomputed: int
    recompute_seconds: float | None
    curve: tuple[int, ...]
    is_this: bool = False


@immutable
class Part:
    """A graph of the report with the backward that belongs to it.

    Attributes:
      title: What it is.
      forward: The forward, or the only graph.
      backward: The backward; None if there is none.
      saved: What the forward keeps for the backward, the largest first.
      recomputed: What the backward computes again, the largest first.
      plan: What is saved and recomputed, in words; `""` without a backward.
      memory: The memory in use; None where it is not known.
      ways: What other budgets and policies make of it.
    """

    title: str
    forward: Graph
    backward: Graph | None = None
    saved: tuple[Value, ...] = ()
    recomputed: tuple[Value, ...] = ()
    plan: str = ""
    memory: Memory | None = None
    ways: tuple[Way, ...] = ()

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Its graphs: the forward, and the backward if there is one."""
        return (self.forward,) if self.backward is None else (self.forward, self.backward)

    @property
    def lines(self) -> list[Line]:
        """The equations of its graphs."""
        return [line for graph in self.graphs for line in graph.lines]


@immutable
class Source:
    """Lines of a file of the user's that equations come from, with some around them.

    Attributes:
      file: Its name.
      lines: Number and text of each.
    """

    file: str
    lines: tuple[tuple[int, str], ...]


@immutable
class Section:
    """A further stage as text: the signature, the traced graph, the joint graph, ….

    Attributes:
      title: Its name.
      text: What it holds.
    """

    title: str
    text: str


@immutable
class Contents:
    """All that a report holds.

    Attributes:
      name: What the function is called.
      kind: What explained it, such as `ja.compile`.
      platform: Where it runs.
      changed: What a call changes: tensors, cells, objects; one line each. None where that is not known.
      passes: What each pass did to each graph; one line each. None where that is not known.
      collectives: The exchanges between devices; one line each.
      programs: Why programs were made, or what they are for; one line each.
      parts: The graph, and those of functions under `ja.remat` in it.
      sections: The other stages as text.
      sources: The user's lines.
      hints: What else to ask; one line each.
      breaks: Where Python asked for a value; one line each.
      lowered: The graphs as XLA gets them, in StableHLO.
    """

    name: str
    kind: str
    platform: str
    changed: tuple[str, ...] | None = None
    passes: tuple[str, ...] | None = None
    collectives: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    sources: tuple[Source, ...] = ()
    hints: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    lowered: tuple[Section, ...] = ()
