"""The engine: runs the tape backward.

Nodes are run in the order of falling sequence numbers once all cotangents that reach them have arrived; a node's
cotangents are added up as they come. No recursion, so sequences may be any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from jaxaot.errors import AutogradError, EagerOnlyError
from jaxaot.tape.fusible import FusibleNodes, fusible_nodes
from jaxaot.tape.joint_hooks import Gathering
from jaxaot.tape.modes import state
from jaxaot.tape.node import Edge, Node


class Calls(NamedTuple):
    """What the engine calls of the layer whose values it carries.

    Attributes:
      add: Adds two cotangents.
      on_outputs: Takes a node with hooks and its cotangents to those that the hooks on its outputs let through.
      before: Takes prehooks and cotangents to those that they let through.
      after: Takes post hooks, gradients, cotangents and the node's `edge_places` to gradients.
      together: Takes hooks on several gradients at once and these to those that they let through; without gradients
        it calls those hooks that look at leaves.
      run_fused: If given, takes a straight sequence of nodes and the cotangent of the first to the gradients of the
        edges that lead out of it, or to None if its nodes are to be run one by one.
      run_node: If given, takes a node, its cotangents and `create_graph` to its gradients, in place of `backward`.
    """

    add: Callable[[Any, Any], Any]
    on_outputs: Callable[[Node, list[Any]], list[Any]]
    before: Callable[[Any, list[Any]], list[Any]]
    after: Callable[[Any, Sequence[Any], Sequence[Any], Sequence[int | None]], Sequence[Any]]
    together: Callable[[Any, list[Any] | None], Any]
    run_fused: Callable[[FusibleNodes, Any], Sequence[Any] | None] | None = None
    run_node: Callable[[Node, list[Any], bool], Sequence[Any]] | None = None


class BackwardPass:
    """A run of the engine.

    Attributes:
      waiting: For each node that the roots lead to, how many edges that lead to it have not been followed yet.
      entered: If only some gradients are wanted, the nodes that gradients go to.
      keeps_graph: Whether nodes keep what they saved.
      callbacks: What is called when it has ended, in order; None if nothing is.
    """

    __slots__ = (
        "__weakref__", "_buffers", "_calls", "_create_graph", "_found", "_gathering", "_inner", "_inside", "_leading",
        "_n_apart", "_needed", "_ready", "_run_fused", "_undefined", "_wanted", "callbacks", "entered", "keeps_graph",
        "waiting",
    )  # fmt: skip

    def __init__(
        self,
        calls: Calls,
        keeps_graph: bool,
        create_graph: bool,
        reached: tuple[dict[Node, int], set[Node] | None, set[Node] | None],
        wanted: frozenset[Edge],
    ):
        self.waiting, targets, leading = reached
        self.entered = None if targets is None or leading is None else leading | targets
        self.keeps_graph = keeps_graph
        self.callbacks: list[Callable[[], object]] | None = None
        self._calls, self._create_graph = calls, create_graph
        self._leading = leading  # they compute gradients; leaves that are wanted are run only if they add them up
        self._needed = leading if wanted else self.entered
        self._inner = None if targets is None or leading is None else leading - targets
        self._wanted = wanted
        self._run_fused = calls.run_fused if state.anomaly is None else None
        self._buffers: dict[Node, list[Any]] = {}
        self._found: dict[Edge, Any] = {}
        self._inside: dict[Node, Any] = {}  # backwards of nodes in which gradients flow from output to output
        self._ready: list[tuple[int, Node]] = []
        self._undefined: set[Node] = set()  # nodes whose gradient an operation of their own said to be None
        self._gathering: Gathering | None = None  # of nodes whose gradients are looked at together
        # nodes to come of a sequence that is run one by one: looking for sequences at each would be quadratic
        self._n_apart = 0

    def runs(self, node: Node) -> bool:
        """Returns whether gradients go to a node."""
        return node in self.waiting if self.entered is None else node in self.entered

    def run(self, roots: Sequence[tuple[Edge, Any]]) -> dict[Edge, Any]:
        """Runs the nodes that are needed, and returns what arrived at the edges that are wanted."""
        calls, create_graph, deliver = self._calls, self._create_graph, self._deliver
        waiting, entered, needed, wanted = self.waiting, self.entered, self._needed, self._wanted
        buffers, ready, undefined = self._buffers, self._ready, self._undefined
        for (node, index), cotangent in roots:
            if not waiting[node] and node not in buffers:
                heappush(ready, (-node.sequence_number, node))
            deliver(node, index, cotangent)
        while ready:
            node = heappop(ready)[1]
            if node.hooks is None and not node.is_sink and not wanted:  # nobody looks at what arrives
                cotangents = buffers.pop(node, None) or ([None] * node.n_outputs if node in undefined else None)
            elif self._is_parked(node):
                continue
            else:
                cotangents = self._looked_at(node)
            is_run = cotangents is not None
            if cotangents is not None and (needed is None or node in needed):
                edges, gradients = self._gradients(node, cotangents)
            else:
                edges, gradients = node.edges, [None] * len(node.edges)
            is_said = is_run and not node.is_joined
            cotangents = cotangent = None  # so that buffers are freed, or given away, before the next node runs
            for edge, gradient in zip(edges, gradients, strict=True):
                if edge is None:
                    continue
                following, index = edge
                if entered is not None and following not in entered:
                    continue
                if gradient is None and is_said:
                    undefined.add(following)
                count = waiting[following] = waiting[following] - 1
                if count:
                    if gradient is not None:
                        deliver(following, index, gradient)
                elif gradient is None or following.n_outputs != 1 or following in buffers:
                    if gradient is not None:
                        deliver(following, index, gradient)
                    heappush(ready, (-following.sequence_number, following))
                elif following.is_sink and not wanted and not following.together:
                    # at once: nothing else reads a leaf's gradient
                    if calls.run_node is None:
                        following.backward([gradient], create_graph)
                    else:
                        calls.run_node(following, [gradient], create_graph)
                else:
                    buffers[following] = [gradient]
                    heappush(ready, (-following.sequence_number, following))
            gradients = gradient = None
        if self._gathering is not None and self._gathering.parked:
            raise AutogradError(_NO_MOMENT)
        return self._found

    def run_alone(self, node: Node, cotangent: Any) -> None:
        """Runs the one node that there is before the leaves."""
        gradients = self._run_node(node, [cotangent])
        if not self.keeps_graph:
            node.release()
        run_node = self._calls.run_node
        for edge, gradient in zip(node.edges, gradients, strict=True):
            if edge is None or gradient is None:
                continue
            if run_node is None:
                edge[0].backward([gradient], self._create_graph)
            else:
                run_node(edge[0], [gradient], self._create_graph)

    def _deliver(self, node: Node, index: int, cotangent: Any) -> None:
        buffer = self._buffers.get(node)
        if buffer is None:
            buffer = self._buffers[node] = [None] * node.n_outputs
        present = buffer[index]
        buffer[index] = cotangent if present is None else self._calls.add(present, cotangent)

    def _is_parked(self, node: Node) -> bool:
        """Returns whether a node waits for others whose gradients are looked at together with its own."""
        groups = node.together
        if not groups:
            return False
        if self._gathering is None:
            self._gathering = Gathering(self.waiting, self.runs, self._calls.together)
        if not self._gathering.is_ready(node, groups, self._buffers):
            return True
        for parked in self._gathering.unparked():
            heappush(self._ready, (-parked.sequence_number, parked))
        return False

    def _looked_at(self, node: Node) -> list[Any] | None:
        """Returns what the hooks on the outputs of a node let through, and keeps what is wanted; None if none came."""
        cotangents = self._buffers.pop(node, None) or [None] * node.n_outputs
        is_run = node in self._undefined or any(cotangent is not None for cotangent in cotangents)
        if is_run and node.has_inner_flow:
            looked_at = frozenset(edge.index for edge in self._wanted if edge.node is node)
            if node.hooks is not None:
                looked_at |= node.hooks.tensor.keys() | node.hooks.retained.keys()
            inside = node.inner_pass(looked_at, self._create_graph) if looked_at else None
            if inside is not None:
                return self._looked_at_inside(node, inside, cotangents)
        cotangents = self._let_through(node, cotangents, is_run)
        return cotangents if is_run else None

    def _let_through(self, node: Node, cotangents: list[Any], is_run: bool = True) -> list[Any]:
        is_needed = self._needed is None or node in self._needed
        if is_needed:
            self._keep(node, cotangents)
        if node.hooks is not None and is_run:
            cotangents = self._calls.on_outputs(node, cotangents)
        if not is_needed:
            self._keep(node, cotangents)
        return cotangents

    def _looked_at_inside(self, node: Node, inside: Any, cotangents: list[Any]) -> list[Any]:
        """Does the same for a node in which gradients flow to some of these outputs, from the last one on."""
        seen = [None if index in inside.places else cotangent for index, cotangent in enumerate(cotangents)]
        seen = self._let_through(node, seen)
        for number, index in enumerate(inside.places):
            arrived, flowing = cotangents[index], inside.flowing(number, seen)
            if flowing is not None:
                arrived = flowing if arrived is None else self._calls.add(arrived, flowing)
            alone = [None] * node.n_outputs
            alone[index] = arrived
            seen[index] = self._let_through(node, alone)[index]
        self._inside[node] = inside
        return seen

    def _keep(self, node: Node, cotangents: Sequence[Any]) -> None:
        for index, cotangent in enumerate(cotangents if self._wanted else ()):
            edge = Edge(node, index)
            if cotangent is not None and edge in self._wanted:
                self._found[edge] = node.filter(cotangent)

    def _gradients(self, node: Node, cotangents: list[Any]) -> tuple[Sequence[Edge | None], Sequence[Any]]:
        """Runs a node, or a straight sequence that begins with it; returns the edges that lead out, and gradients."""
        hooks, nodes, gradients = node.hooks, [node], None
        edges: Sequence[Edge | None] = node.edges
        if hooks is not None and hooks.pre:
            cotangents = self._calls.before(hooks.pre, cotangents)
        is_led = self._leading is None or node in self._leading or node.is_sink
        is_undefined = cotangents[0] is None and all(cotangent is None for cotangent in cotangents)
        if not is_led or (is_undefined and not (node.is_watched or node.runs_user_code)):
            gradients = [None] * len(edges)
        elif self._n_apart:
            self._n_apart -= 1
        elif self._run_fused is not None and node.link is not None and not (hooks is not None and hooks.post):
            fusible = fusible_nodes(node, node.link, self.waiting, self._buffers, self._ready, self._inner)
            self._n_apart = len(fusible.positions)
            if self._n_apart:
                gradients = self._run_fused(fusible, cotangents[0])
                if gradients is not None:
                    edges, nodes, self._n_apart = fusible.outer_edges(), fusible.nodes, 0
        given = tuple(cotangents) if hooks is not None else ()
        if gradients is None:  # no sequence, or its kernel cannot take these cotangents
            gradients = self._run_node(node, cotangents)
        if hooks is not None and hooks.post:
            gradients = self._calls.after(hooks.post, gradients, given, node.edge_places)
        if self._gathering is not None and node.is_sink:
            self._gathering.accumulated(node, node.together)
        if not self.keeps_graph:
            for done in nodes:
                done.release()
        return edges, gradients

    def _run_node(self, node: Node, cotangents: list[Any]) -> Sequence[Any]:
        if node in self._inside:
            return self._inside.pop(node).gradients(cotangents)
        if self._calls.run_node is not None:
            return self._calls.run_node(node, cotangents, self._create_graph)
        if state.anomaly is not None:
            return state.anomaly.run(node, cotangents, self._create_graph)
        return node.backward(cotangents, self._create_graph)


def run_backward(
    roots: Sequence[tuple[Edge, Any]],
    calls: Calls,
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge] | None = None,
    accumulates: bool = True,
) -> dict[Edge, Any]:
    """Runs the tape from `roots` backward.

    Args:
      roots: Edges to start from, each with its cotangent.
      calls: What is called on the way.
      keep_graph: Whether nodes keep what they saved.
      create_graph: Whether values are tensors and the pass itself is recorded.
      inputs: If given, gradients are only wanted at these edges.
      accumulates: Whether leaves add their gradients up; otherwise those of `inputs` are returned.

    Returns:
      The gradients that arrived at `inputs`, if they are not added up.
    """
    # a compiled function's loss: one node, which every edge leaves for a leaf, so that there is no order to find
    alone = _only_leaves(roots[0][0].node) if inputs is None and len(roots) == 1 else None
    reached = _reached(roots, inputs) if alone is None else (alone, None, None)
    wanted = frozenset(() if accumulates else inputs or ())
    running = BackwardPass(calls, keep_graph, create_graph, reached, wanted)
    before, state.backward_pass = state.backward_pass, running
    try:
        found: dict[Edge, Any] = {}
        if alone is None:
            found = running.run(roots)
        else:
            running.run_alone(roots[0][0].node, roots[0][1])
        while running.callbacks:
            running.callbacks.pop(0)()
        return found
    finally:
        state.backward_pass = before


def queue_callback(callback: Callable[[], object]) -> None:
    """Has a function called when the backward that is running has ended, with every gradient in place.

        x.register_hook(lambda grad: ja.autograd.graph.queue_callback(optimizer_step))

    Hooks and the backward of a Function call it; of backwards in backwards, the innermost is meant. A callback may
    queue another one. PyTorch has it as `Variable._execution_engine.queue_callback`.

    Args:
      callback: Takes nothing; what it returns is dropped.

    Raises:
      AutogradError: If no backward is running.
      EagerOnlyError: If a function is being traced.
    """
    if state.trace is not None:
        raise EagerOnlyError(
            "A traced backward queues a callback, and a compiled one calls no functions of Python",
            "Call the function after the backward.",
        )
    running = state.backward_pass
    if running is None:
        raise AutogradError(
            "Final callbacks can only be installed during backward pass. Call `queue_callback` in a hook or in the "
            "backward of a Function, or call the function itself after `backward()`."
        )
    if running.callbacks is None:
        running.callbacks = []
    running.callbacks.append(callback)


_NO_MOMENT = (
    "A hook is on a tensor that is made of others, of which one is computed from another: there is no moment at which "
    "the gradients of all are there. Register hooks on its inner tensors."
)


def _only_leaves(node: Node) -> dict[Node, int] | None:
    """Returns what waits, if the edges of a node of one output lead to one leaf each, and nobody looks at any of it."""
    if node.hooks is not None or node.n_outputs != 1 or node.link is not None or node.is_sink:
        return None
    waiting = {node: 0}
    for edge in node.edges:
        if edge is not None:
            leaf = edge[0]
            if not leaf.is_sink or leaf.is_watched or leaf in waiting:
                return None
            waiting[leaf] = 1
    return waiting


def nodes_in_order(roots: Sequence[tuple[Edge, Any]], inputs: Sequence[Edge] | None) -> list[Node]:
    """Returns the nodes that `run_backward` goes to, in the order in which it does."""
    waiting, targets, leading = _reached(roots, inputs)
    entered = waiting if targets is None or leading is None else leading | targets
    return sorted(entered, key=lambda node: -node.sequence_number)


def _reached(
    roots: Sequence[tuple[Edge, Any]], inputs: Sequence[Edge] | None
) -> tuple[dict[Node, int], set[Node] | None, set[Node] | None]:
    """Returns how many edges lead to each node, which of `inputs` are reached, and which nodes lead to these."""
    waiting = _dependencies(roots)
    targets = None if inputs is None else {edge.node for edge in inputs} & waiting.keys()
    return waiting, targets, None if targets is None else _nodes_that_lead_to(waiting, targets)


def _dependencies(roots: Sequence[tuple[Edge, Any]]) -> dict[Node, int]:
    """Returns the nodes that the roots lead to, each with the number of edges that lead to it."""
    waiting = {edge.node: 0 for edge, _ in roots}
    stack = list(waiting)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                node = edge[0]
                if node in waiting:
                    waiting[node] += 1
                else:
                    waiting[node] = 1
                    stack.append(node)
    return waiting


def _nodes_that_lead_to(nodes: Iterable[Node], targets: set[Node]) -> set[Node]:
    """Returns the nodes whose backward is needed: those with a path to a target."""
    leads: set[Node] = set()
    # an edge's node always has a smaller sequence number, so this order sees it first
    for node in sorted(nodes, key=lambda n: n.sequence_number):
        if any(e is not None and (e.node in leads or e.node in targets) for e in node.edges):
            leads.add(node)
    return leads
