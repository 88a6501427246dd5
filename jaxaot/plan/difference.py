"""Why a call did not fit a program: the differences between what two calls depend on, in the user's words.

A *call key* is all that a program's guards look at. For every kind of guard there is a kind of difference, so that two
calls whose keys do not differ share a program.
"""

from __future__ import annotations

import dataclasses
import enum
import linecache
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from jaxaot import _trees as pytree
from jaxaot._immutable import immutable
from jaxaot.plan.breaks import BreakValue
from jaxaot.plan.call import CallPlan, StorageInput, TensorInput
from jaxaot.plan.cells import LeafInput, PlacePlan
from jaxaot.plan.guards import HasType, differs, shown
from jaxaot.plan.paths import Path, path_text
from jaxaot.plan.rng import RngPlan
from jaxaot.settings import Config


class Kind(enum.Enum):
    """What is different."""

    STRUCTURE = "structure"
    SHAPE = "shape"
    DTYPE = "dtype"
    LAYOUT = "layout"
    OFFSET = "offset"
    STORAGE = "storage"
    SHARING = "sharing"
    GRADIENT = "gradient"
    VIEW = "view"
    STATIC = "static"
    PYTHON = "python"
    SETTING = "setting"
    BREAK_VALUE = "break_values"


@immutable
class Difference:
    """One reason why a call needs a program of its own.

    Attributes:
      kind: What is different.
      about: Whose it is: an argument, attribute or setting, in the user's words.
      text: The reason as a sentence.
      line: The file and line that read it; None if no line names it.
    """

    kind: Kind
    about: str
    text: str
    line: tuple[str, int] | None = dataclasses.field(default=None, compare=False)

    @property
    def with_line(self) -> str:
        """The reason with the line that read it."""
        if self.line is None:
            return self.text
        file, number = self.line
        source = linecache.getline(file, number).strip()
        return f"{self.text}, read at {file.rpartition('/')[2]}:{number}{f': `{source}`' if source else ''}"

    def __str__(self) -> str:
        return self.text


@immutable
class CallKey:
    """All that the guards of a program look at.

    Attributes:
      call: What the call takes.
      places: The cells and arrays that it reaches.
      rng: What it draws from.
      in_tree: Tree of the arguments.
      settings: The settings of jaxaot.
      jax_settings: (name, value) of the settings of JAX that decide a trace.
      parameters: What the user calls each positional argument.
      break_values: The values that Python asked for.
      hooks: The `HookPair` that packs what is saved, or None; None too where nothing is saved.
      watches: Whether NaNs in a backward inside are errors; None without one.
      looks_at_settings: Whether later settings decide anything: not if the graphs come from an archive.
    """

    call: CallPlan
    places: PlacePlan
    rng: RngPlan
    in_tree: Any
    settings: Config
    jax_settings: tuple[tuple[str, Any], ...]
    parameters: tuple[str, ...]
    break_values: tuple[BreakValue, ...] = ()
    hooks: Any = None
    watches: bool | None = None
    looks_at_settings: bool = True

    def name(self, path: Path) -> str:
        """Returns a path as the user would write it, an argument as such."""
        is_argument = len(path) == 2 and path[0][1] in ("args", "kwargs")
        return f"{'argument ' if is_argument else ''}`{place_name(path, self.parameters)}`"

    def tensor_path(self, number: int) -> Path:
        """Returns where a tensor input is found."""
        return self.call.tensors[number].path


def differences(earlier: CallKey, later: CallKey) -> tuple[Difference, ...]:
    """Returns why a call with the key `later` does not fit a program with the key `earlier`; nothing if it does."""
    found = (*_settings(earlier, later), *_structure(earlier, later))
    if any(difference.kind is Kind.STRUCTURE for difference in found):
        return found  # leaves do not correspond
    found = (
        *found,
        *_leaves(earlier, later),
        *_tensors(earlier, later),
        *_sharing(earlier, later),
        *_gradients(earlier, later),
        *_python(earlier, later),
        *_numbers(earlier, later),
        *_cells(earlier, later),
        *_generators(earlier, later),
        *_break_values(earlier, later),
    )
    return tuple(dict.fromkeys(found)) or tuple(_reached(earlier, later))


# -- names -------------------------------------------------------------------------------------------------------------


def place_name(path: Path, parameters: Sequence[str]) -> str:
    """Returns a path as the user would write it, arguments by the names of their parameters."""
    if len(path) > 1 and path[0] == ("root", "args") and path[1][1] < len(parameters):
        return path_text((("root", parameters[path[1][1]]), *path[2:]))
    if len(path) > 1 and path[0] == ("root", "kwargs"):
        return path_text((("root", path[1][1]), *path[2:]))
    if path[:2] == (("root", "fn"), ("attr", "__self__")):  # the object of a bound method
        return path_text((("root", "self"), *path[2:]))
    return path_text(path)


def _leaf_names(key: CallKey) -> list[str]:
    """Returns the user's name for each leaf of the arguments."""
    n = key.call.n_leaves
    try:
        arguments = pytree.unflatten(key.in_tree, [_Leaf() for _ in range(n)])
        paths = [path for path, _ in pytree.flatten_with_path(arguments)[0]]
    except Exception:  # a user's container may refuse what is put into it
        return [f"leaf {i}" for i in range(n)]
    names = [leaf_name(path, key.parameters) for path in paths]
    return names if len(names) == n else [f"leaf {i}" for i in range(n)]


def leaf_name(path: Sequence[Any], parameters: Sequence[str]) -> str:
    """Returns the user's name for a leaf of `(args, kwargs)`, from its path in `jax.tree_util`."""
    root, first, *rest = path
    inside = jax.tree_util.keystr(tuple(rest))
    if root.idx == 1:
        return f"{first.key}{inside}"
    position: int = first.idx
    name = parameters[position] if position < len(parameters) else f"args[{position}]"
    return f"{name}{inside}"


class _Leaf:
    """Stands for a leaf of the arguments."""


# -- numbers -----------------------------------------------------------------------------------------------------------


def _numbers(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    """Yields the numbers of Python whose values the two traces relied on, and that differ."""
    before, after = (_relied_on(key) for key in (earlier, later))
    for name in before.keys() & after.keys():
        if differs(before[name], after[name]):
            text = f"`{name}` is {shown(after[name])} instead of {shown(before[name])}"
            yield Difference(Kind.PYTHON, f"`{name}`", text)


def _relied_on(key: CallKey) -> dict[str, Any]:
    plan = key.call.numbers
    name = lambda path: place_name(path, key.parameters)
    return {plan.text(fact.step, name): fact.value for fact in plan.facts if not fact.is_of_type}


# -- settings and structure --------------------------------------------------------------------------------------------


def _settings(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    if earlier.call.grad_enabled != later.call.grad_enabled:
        mode = "on" if later.call.grad_enabled else "off"
        yield Difference(Kind.SETTING, "grad mode", f"grad mode is {mode}")
    if earlier.call.autocast != later.call.autocast:
        text = f"autocast is {later.call.autocast or 'off'} instead of {earlier.call.autocast or 'off'}"
        yield Difference(Kind.SETTING, "autocast", text)
    if earlier.hooks != later.hooks:
        text = f"the hooks on saved tensors are {later.hooks or 'none'} instead of {earlier.hooks or 'none'}"
        if str(earlier.hooks) == str(later.hooks):
            text = (
                f"the hooks on saved tensors are other functions named {later.hooks}; make them once, or give those "
                "that do the same an equal `user_cache_hash` attribute"
            )
        yield Difference(Kind.SETTING, "saved tensor hooks", text)
    if earlier.watches != later.watches:
        yield Difference(Kind.SETTING, "anomaly mode", f"anomaly mode is {'on' if later.watches else 'off'}")
    for field in dataclasses.fields(Config):
        before, after = getattr(earlier.settings, field.name), getattr(later.settings, field.name)
        if before != after and field.compare:
            about = f"config {field.name}"
            yield Difference(Kind.SETTING, about, f"{about} changed: {after!r} instead of {before!r}")
    for (name, before), (_, after) in zip(earlier.jax_settings, later.jax_settings, strict=True):
        if before != after:
            yield Difference(Kind.SETTING, name, f"the setting {name} of JAX is {after!r} instead of {before!r}")


def _structure(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    if earlier.in_tree == later.in_tree:
        return
    (before, before_words), (after, after_words) = (key.in_tree.children() for key in (earlier, later))
    n_before, n_after = len(before.children()), len(after.children())
    if n_before != n_after:
        text = f"the number of arguments is {n_after} instead of {n_before}"
        yield Difference(Kind.STRUCTURE, "arguments", text)
    words = [list(tree.node_data()[1] or ()) for tree in (before_words, after_words)]
    if words[0] != words[1]:
        names = [", ".join(f"`{word}`" for word in given) or "none" for given in words]
        text = f"the keyword arguments are {names[1]} instead of {names[0]}"
        yield Difference(Kind.STRUCTURE, "keyword arguments", text)
    positional = zip(later.parameters, before.children(), after.children(), strict=False)
    keyword = zip(words[1], before_words.children(), after_words.children(), strict=False)
    for name, one, other in (*positional, *(keyword if words[0] == words[1] else ())):
        if one != other:
            shown = [pytree.shown(tree) for tree in (other, one)]
            shown = shown if shown[0] != shown[1] else [str(other), str(one)]  # they differ in what is no leaf
            text = f"argument `{name}` has the structure {shown[0]} instead of {shown[1]}"
            yield Difference(Kind.STRUCTURE, f"argument `{name}`", text)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _leaves(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    before, after = _leaf_kinds(earlier), _leaf_kinds(later)
    names = _leaf_names(later) if before != after or earlier.call.values or earlier.call.statics else []
    for leaf, name in enumerate(names):
        about = f"argument `{name}`"
        if before[leaf] != after[leaf]:
            text = f"{about} is {after[leaf]} instead of {before[leaf]}"
            yield Difference(Kind.STATIC, about, text)
    values = {value.leaf: value for value in earlier.call.values}
    for value in later.call.values:
        other = values.get(value.leaf)
        if other is None or before[value.leaf] != after[value.leaf]:
            continue
        about = f"argument `{names[value.leaf]}`"
        if other.shape != value.shape:
            text = f"{about} has shape {list(value.shape)} instead of {list(other.shape)}"
            yield Difference(Kind.SHAPE, about, text)
        if other.dtype != value.dtype:
            yield Difference(Kind.DTYPE, about, f"{about} has dtype {value.dtype} instead of {other.dtype}")
    statics = {static.leaf: static for static in earlier.call.statics}
    for static in later.call.statics:
        held = statics.get(static.leaf)
        if held is not None and not held.agrees(earlier, static, later):
            about = f"static argument {static.leaf} (`{names[static.leaf]}`)"
            if held.is_number or static.is_number:
                about = f"argument `{names[static.leaf]}`"
            yield Difference(Kind.STATIC, about, f"{about} {held.change(earlier, static, later)}")


_NUMBERS = {bool: "a bool", int: "an int", float: "a float", complex: "a complex number"}


def _leaf_kinds(key: CallKey) -> list[str]:
    typed = [guard.path for guard in key.call.python if isinstance(guard.condition, HasType)]
    objects = {place_name(path, key.parameters) for path in typed}
    kinds = ["an object" if name in objects else "a tensor" for name in _leaf_names(key)]
    for value in key.call.values:
        kinds[value.leaf] = "an array"
    for static in key.call.statics:
        kinds[static.leaf] = "a static value"
    return kinds


def _is_same(value: object, other: object) -> bool:
    """Returns whether a guard made for one value lets the other pass."""
    return value is other or not differs(value, other)


# -- tensors -----------------------------------------------------------------------------------------------------------


def _pairs(earlier: CallKey, later: CallKey) -> list[tuple[str, TensorInput, TensorInput]]:
    """Returns (name, before, after) of the tensors that both calls reached."""
    before = {t.path: t for t in earlier.call.tensors}
    return [(later.name(t.path), before[t.path], t) for t in later.call.tensors if t.path in before]


def _tensors(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    for name, before, after in _pairs(earlier, later):
        one, other = before.layout, after.layout
        if one.size != other.size:
            yield Difference(Kind.SHAPE, name, f"{name} has shape {list(other.size)} instead of {list(one.size)}")
        elif one.stride != other.stride:
            text = f"the layout (stride) of {name} is {other.stride} instead of {one.stride}"
            yield Difference(Kind.LAYOUT, name, text)
        if one.dtype != other.dtype:
            yield Difference(Kind.DTYPE, name, f"{name} has dtype {other.dtype} instead of {one.dtype}")
        if one.is_conj != other.is_conj:
            text = f"{name} {'shows' if other.is_conj else 'no longer shows'} the conjugates of its memory"
            yield Difference(Kind.LAYOUT, name, text)
        if before.is_value != after.is_value:
            text = f"{name} is passed {'as its values, without' if after.is_value else 'with'} the memory that it shows"
            yield Difference(Kind.STORAGE, name, text)
        elif before.offset != after.offset:
            text = f"{name} begins at element {after.offset} of its memory instead of {before.offset}"
            yield Difference(Kind.OFFSET, name, text)
        if before.storage >= 0 and after.storage >= 0:
            storages = earlier.call.storages[before.storage], later.call.storages[after.storage]
            yield from _storage(name, *storages, is_seen=one is not other)
        if before.requires_grad != after.requires_grad:
            text = f"{name} {'requires' if after.requires_grad else 'no longer requires'} grad"
            yield Difference(Kind.GRADIENT, name, text)
        elif before.is_leaf != after.is_leaf:
            text = f"{name} is {'a leaf' if after.is_leaf else 'no leaf'} of the gradient's graph"
            yield Difference(Kind.GRADIENT, name, text)
        if before.hooks != after.hooks:
            yield Difference(Kind.GRADIENT, name, f"the hooks of {name} are others")
        yield from _lineage(name, before, after)


def _storage(name: str, before: StorageInput, after: StorageInput, is_seen: bool) -> Iterator[Difference]:
    """Yields how two storages differ; where the tensor's own layout differs, only what that does not explain."""
    if before.nbytes != after.nbytes and not is_seen:
        text = f"the storage of {name} holds {after.nbytes} bytes instead of {before.nbytes}"
        yield Difference(Kind.STORAGE, name, text)
    elif before.n_written != after.n_written:
        words = ["all its elements" if n is None else f"{n} elements" for n in (after.n_written, before.n_written)]
        text = f"the storage of {name} has values in {words[0]} instead of {words[1]}"
        yield Difference(Kind.STORAGE, name, text)
    elif (before.graph_input is None) != (after.graph_input is None):
        text = f"the storage of {name} {'was given up' if after.graph_input is None else 'is there'}"
        yield Difference(Kind.STORAGE, name, text)
    elif before.layout.most != after.layout.most:
        most = after.layout.most
        text = f"the storage of {name} {f'was trimmed from {most} elements' if most else 'was not trimmed'}"
        yield Difference(Kind.STORAGE, name, text)
    elif before.layout is not after.layout and not is_seen:
        one, other = (f"{s.layout.dtype}{list(s.layout.size)}, stride {s.layout.stride}" for s in (before, after))
        text = f"the storage of {name} is laid out as {other} instead of {one}"
        yield Difference(Kind.STORAGE, name, text)


def _lineage(name: str, before: TensorInput, after: TensorInput) -> Iterator[Difference]:
    one, other = before.lineage, after.lineage
    if one is None or other is None or one == other:
        return
    if (one.base is None) != (other.base is None):
        text = f"{name} is {'no view' if other.base is None else 'a view of another tensor'}"
    elif one.creation != other.creation:
        text = f"{name} is a view that was made in another way"
    elif one.base != other.base or one.chain != other.chain:
        text = f"{name} is a view that was taken by other steps"
    else:
        text = f"the gradient of {name} goes to a base of another layout"
    yield Difference(Kind.VIEW, name, text)


def _sharing(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    pairs = _pairs(earlier, later)
    tensors = [before for _, before, _ in pairs], [after for _, _, after in pairs]
    for same, alike, apart in (
        (lambda t: t.storage, "shares memory with", "no longer shares memory with"),
        (_history, "shares its gradient with", "no longer shares its gradient with"),
    ):
        before, after = (_partners([same(t) for t in given]) for given in tensors)
        for i, (name, _, _) in enumerate(pairs):
            for j in dict.fromkeys(k for k in (after[i], before[i]) if k is not None):
                was, is_now = (same(t[i]) == same(t[j]) >= 0 for t in tensors)
                if was != is_now:
                    text = f"{name} {alike if is_now else apart} {pairs[j][0]}"
                    yield Difference(Kind.SHARING, name, text)
    names = _leaf_names(later) if earlier.call.repeats or later.call.repeats else []
    repeats = [{leaf: key.call.tensors[tensor].path for leaf, tensor in key.call.repeats} for key in (earlier, later)]
    for leaf, name in enumerate(names):
        paths = [given.get(leaf) for given in repeats]
        path = paths[1] or paths[0]
        if paths[0] != paths[1] and path is not None:
            about = f"argument `{name}`"
            word = "is the same tensor as" if paths[1] is not None else "is no longer the same tensor as"
            yield Difference(Kind.SHARING, about, f"{about} {word} {later.name(path)}")


def _history(tensor: TensorInput) -> Any:
    return -1 if tensor.history is None else tensor.history


def _partners(labels: Sequence[int]) -> list[int | None]:
    """Returns for each the first one before it with its label; a negative label is nobody's."""
    first: dict[int, int] = {}
    found: list[int | None] = []
    for i, label in enumerate(labels):
        place = first.setdefault(label, i) if label >= 0 else i
        found.append(None if place == i else place)
    return found


def _gradients(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    was_none = {earlier.call.tensors[guard.tensor].path: guard.is_none for guard in earlier.call.grads}
    for guard in later.call.grads:
        path = later.call.tensors[guard.tensor].path
        if was_none.get(path, guard.is_none) != guard.is_none:
            name = f"`{place_name(path, later.parameters)}.grad`"
            yield Difference(Kind.GRADIENT, name, f"{name} {guard.words()}")


# -- the Python world --------------------------------------------------------------------------------------------------


def _python(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    before = {(guard.path, type(guard.condition)): guard for guard in earlier.call.python}
    after = {(guard.path, type(guard.condition)) for guard in later.call.python}
    found = {guard.path: guard for guard in earlier.call.python}
    inputs = _inputs(earlier)
    for guard in later.call.python:
        condition, kind = guard.condition, type(guard.condition)
        other = before.get((guard.path, kind)) or found.get(guard.path)
        name = later.name(guard.path)
        if other is None:
            if guard.path in inputs and condition.is_sharing:
                yield Difference(Kind.SHARING, name, f"{name} is {condition.words(later)}", guard.line)
            elif guard.path in inputs:
                text = f"{name} is {condition.words(later)} instead of {inputs[guard.path]}"
                yield Difference(Kind.PYTHON, name, text, guard.line)
        elif type(other.condition) is not kind:
            if (guard.path, type(other.condition)) not in after:
                text = f"{name} is {condition.words(later)} instead of {other.condition.words(earlier)}"
                yield Difference(Kind.PYTHON, name, text, guard.line)
        elif not other.condition.agrees(earlier, condition, later):
            text = f"{name} {other.condition.change(earlier, condition, later)}"
            yield Difference(Kind.PYTHON, name, text, guard.line)
    reached = _inputs(later)
    for guard in later.call.python:
        reached.pop(guard.path, None)
    for path, kind in reached.items():
        if path in found:
            name, was = later.name(path), found[path].condition.words(earlier)
            if found[path].condition.is_sharing:
                yield Difference(Kind.SHARING, name, f"{name} is no longer {was}", found[path].line)
            else:
                yield Difference(Kind.PYTHON, name, f"{name} is {kind} instead of {was}", found[path].line)


def _inputs(key: CallKey) -> dict[Path, str]:
    """Returns the paths of what a call takes, and what it is."""
    found = {t.path: "a tensor" for t in key.call.tensors}
    found |= {array.path: "an array" for array in key.places.arrays}
    return found | {cell.path: f"a {cell.python_type.__name__}" for cell in key.places.cells}


def _cells(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    """Yields how cells and bare arrays differ that both calls reached."""
    cells = {cell.path: cell for cell in earlier.places.cells}
    for cell in later.places.cells:
        before = cells.get(cell.path)
        if before is None:
            continue
        name = later.name(cell.path)
        if before.python_type is not cell.python_type:
            text = f"{name} is a {shown(cell.python_type)} instead of a {shown(before.python_type)}"
            yield Difference(Kind.PYTHON, name, text)
        if before.tree != cell.tree:
            yield Difference(Kind.STRUCTURE, name, f"{name} holds a value of another structure")
        else:
            for number, pair in enumerate(zip(before.leaves, cell.leaves, strict=True)):
                path = cell.path if len(cell.leaves) == 1 else (*cell.path, ("item", number))
                yield from _leaf(later.name(path), *pair)
        if before.metadata != cell.metadata:
            was, now = dict(before.metadata), dict(cell.metadata)
            changed = [key for key in {**was, **now} if key not in was or key not in now or was[key] != now[key]]
            yield Difference(Kind.PYTHON, name, f"{name} has other metadata: {', '.join(map(repr, changed))}")
    arrays = {array.path: array.leaf for array in earlier.places.arrays}
    for array in later.places.arrays:
        if array.path in arrays:
            yield from _leaf(later.name(array.path), arrays[array.path], array.leaf)


def _leaf(name: str, before: LeafInput, after: LeafInput) -> Iterator[Difference]:
    """Yields how two arrays differ, or what stands for them."""
    if (before.kind, before.python_type) != (after.kind, after.python_type):
        text = f"{name} is {_leaf_text(after)} instead of {_leaf_text(before)}"
        yield Difference(Kind.PYTHON, name, text)
    elif before.kind == "static":
        if not _is_same(before.static, after.static):
            text = f"{name} is {shown(after.static)} instead of {shown(before.static)}"
            yield Difference(Kind.PYTHON, name, text)
    else:
        if before.shape != after.shape:
            text = f"{name} has shape {list(after.shape)} instead of {list(before.shape)}"
            yield Difference(Kind.SHAPE, name, text)
        if before.dtype != after.dtype:
            yield Difference(Kind.DTYPE, name, f"{name} has dtype {after.dtype} instead of {before.dtype}")
        elif before.weak_type != after.weak_type:
            text = f"the dtype of {name} {'gives' if after.weak_type else 'no longer gives'} way to others"
            yield Difference(Kind.DTYPE, name, text)


def _leaf_text(leaf: LeafInput) -> str:
    if leaf.kind == "static":
        return shown(leaf.static)
    words = {"array": "a jax array", "key": "an array of keys", "numpy": "a NumPy array"}
    return words[leaf.kind] if leaf.kind in words else _NUMBERS[leaf.python_type]


def _generators(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    before, after = ([use.path for use in key.rng.generators] for key in (earlier, later))
    if before != after:
        names = [
            ", ".join("the default one" if path is None else later.name(path) for path in paths) or "none"
            for paths in (after, before)
        ]
        yield Difference(Kind.PYTHON, "generators", f"the generators drawn from are {names[0]} instead of {names[1]}")


def _break_values(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    """Yields the first value that Python asked for and that is another one."""
    for before, after in zip(earlier.break_values, later.break_values, strict=False):
        if (before.value, before.dtype, before.shape) != (after.value, after.dtype, after.shape):
            about = f"the value asked for at {after.line}"
            yield Difference(Kind.BREAK_VALUE, about, f"{about} is {after.shown} instead of {before.shown}")
            return


def _reached(earlier: CallKey, later: CallKey) -> Iterator[Difference]:
    """Yields, where nothing else differs, what only one of the calls reached."""
    before, after = (dict.fromkeys(_places(key)) for key in (earlier, later))
    for path in after:
        if path not in before:
            name = later.name(path)
            yield Difference(Kind.PYTHON, name, f"{name} is used")
    for path in before:
        if path not in after:
            name = earlier.name(path)
            yield Difference(Kind.PYTHON, name, f"{name} is not used")


def _places(key: CallKey) -> Iterator[Path]:
    yield from _inputs(key)
    yield from (guard.path for guard in key.call.python)
