"""The order of a dict is part of its structure: in arguments, results, state, `ja.func` and archives."""

import dataclasses
import enum
import math
import pickle
import random
import re
from collections import Counter, OrderedDict, defaultdict, namedtuple
from types import MappingProxyType

import jax
import pytest

import jaxaot as ja
from jaxaot import _trees as pytree
from jaxaot import errors
from tests.cases import each
from tests.seeds import chunks
from tests.source import FILES, place_of

# -- the mechanism -----------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED, BLUE = 1, 2


class Plain:
    """Compared by identity."""

    def __repr__(self):
        return "Plain()"


Pair = namedtuple("Pair", "z a")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Registered:
    """A class that JAX takes apart."""

    held: object
    size: int = dataclasses.field(metadata={"static": True}, default=3)


@dataclasses.dataclass
class Unregistered:
    """A class that it does not know."""

    held: object


PLAIN = Plain()
KEYS = ["w", "b", "a", 3, -1, 2.5, None, True, (2, "q"), (1,), math.nan, Color.RED, PLAIN, int, b"k", frozenset([1])]


@each(
    "tree",
    [
        {"w": 1, "b": [2, {PLAIN: 3, None: 4, math.nan: 5, (1, "a"): None}]},
        [OrderedDict(z=1, a=2), defaultdict(list, {"z": 1, 2: {"q": 4}}), Counter(z=1, a=2)],
        (MappingProxyType({"z": 1, "a": Pair(3, {})}), Registered({"z": 1, "a": {}}), {Color.BLUE: 1, Color.RED: 2}),
    ],
)
def test_trees_come_back_as_they_were(tree):
    leaves, structure = pytree.flatten(tree)
    again = structure.unflatten(leaves)
    assert repr(again) == repr(tree)
    assert pytree.structure(again) == structure
    assert [leaf for _, leaf in pytree.leaves_with_path(tree)] == leaves
    assert repr(pytree.unsealed(pytree.sealed(tree))) == repr(tree)
    assert len(jax.tree.leaves(pytree.sealed(tree))) == len(leaves)


def test_structures_differ_where_order_or_the_types_of_keys_do():
    of = pytree.structure
    assert of({"a": 1, "b": 2}) == of({"a": 3, "b": 4}) != of({"b": 2, "a": 1})
    assert of({1: 0}) == of({1: 5}) != of({True: 0})
    assert of({math.nan: 0}) == of({math.nan: 1}) != of({float("nan"): 1})
    assert of({ja.ones(2): 0}) != of({ja.ones(2): 0})  # which compares no tensors
    held = of({"b": 1, 2: OrderedDict(q=1)})
    assert pickle.loads(pickle.dumps(held)) == held
    assert pytree.shown(of(({"w": 1, 2: [None, (1,)]}, OrderedDict(a=1)))) == (
        "({'w': *, 2: [None, (*,)]}, OrderedDict({'a': *}))"
    )


def test_several_trees_are_mapped_by_their_keys():
    assert pytree.mapped(lambda x, y: (x, y), {"b": 1, "a": 2}, {"a": 3, "b": 4}) == {"b": (1, 4), "a": (2, 3)}
    assert list(pytree.in_order(pytree.structure({"b": 0, "a": 0}), {"a": 1, "b": 2})) == ["b", "a"]
    with pytest.raises(ValueError):
        pytree.mapped(lambda x, y: x, {"b": 1}, {"c": 1})


OF_JAX = {
    "_trees.py",
    "aot/flax_modules.py",
    "bridge/functional.py",
    "demo/bench.py",
    "distributed/fsdp.py",
    "distributed/local_map.py",
    "facade/kernels/grad_kernels.py",
    "facade/kernels/together.py",
    "facade/deferred/recorded_ops.py",
    "facade/deferred/stretch.py",
    "jitted.py",
    "nn/flax.py",
    "ops/half_precision.py",
    "optim/transformed.py",
}
"""What flattens trees of arrays that JAX, flax, optax or a kernel made."""


def test_containers_of_tensors_are_flattened_in_one_way():
    uses = re.compile(r"(?<!`)jax\.tree\.\w|tree_util\.(tree_|all_leaves)")
    places = {place_of(path) for path in FILES if uses.search(path.read_text())}
    assert {p for p in places if p != "_jax.py" and not p.startswith(("lower/", "rematerialize/"))} <= OF_JAX


# -- small programs ----------------------------------------------------------------------------------------------------

A, B = ja.ones(1), ja.full((1,), 2.0)


def fold(batch):
    out = 0.0
    for value in batch.values():
        out = out * 0.5 + value
    return out


def test_results_and_arguments_keep_their_order():
    assert list(ja.compile(lambda x: {"w": x, "b": x + 1})(A)) == ["w", "b"]
    fn = ja.compile(fold)
    for _ in range(2):
        assert [fn({"a": A, "b": B}).item(), fn({"b": B, "a": A}).item()] == [2.5, 2.0]
        assert fn({1: A, "b": B}).item() == 2.5
    assert fn.n_programs == 3
    words = ja.compile(lambda **kw: {name: value * 2 for name, value in kw.items()})
    assert [list(words(b=A, a=B)), list(words(a=A, b=B)), list(words(b=A, a=B))] == [["b", "a"], ["a", "b"], ["b", "a"]]


def test_tensors_are_keys():
    p, q = ja.nn.Parameter(ja.ones(1)), ja.nn.Parameter(ja.full((1,), 2.0))
    fn = ja.compile(lambda d: {key: key * value for key, value in d.items()})
    for _ in range(2):
        found = fn({q: A, p: B})
        assert [key is wanted for key, wanted in zip(found, (q, p), strict=True)] == [True, True]
        assert [x.item() for x in found.values()] == [2, 2]
    with pytest.raises(errors.LeakedTensorError, match="a tensor that it made as a key"):
        ja.compile(lambda x: {x * 2: 1}, fullgraph=True)(A)


def test_state_is_written_in_order():
    def step(state, x):
        state["n"] = state.pop(next(iter(state))) + x  # what is put again goes to the end
        state[2] = {"w": x, None: x * 2}
        return list(state)

    compiled, eager = ({"b": A.clone(), "a": B.clone()} for _ in range(2))
    fn = ja.compile(lambda x: step(compiled, x))
    for _ in range(3):
        assert fn(A) == step(eager, A)
        assert str(compiled) == str(eager)


@pytest.mark.slow
def test_transformations_keep_the_order_of_what_they_take():
    p = {"w": A, 1: [B, None], "b": B, None: OrderedDict(z=A, a=B)}
    square = lambda p: (p["w"] * p["b"] * p[1][0] + fold(p[None])).sum()
    gradient = ja.func.grad(square)(p)
    assert [[*gradient], [*gradient[None]]] == [[*p], ["z", "a"]]
    assert [gradient["w"].item(), gradient[1][0].item(), gradient[None]["z"].item()] == [4, 2, 0.5]
    made = lambda p: {"w": p["w"] * 2, 1: p["b"] * p["w"]}
    q = {"w": A, "b": B, 3: A}
    for of in (ja.func.grad, ja.func.jacrev, ja.func.jacfwd):
        assert list(of(lambda q: (q["w"].sum(), made(q)), has_aux=True)(q)[1]) == ["w", 1]
    output, pull = ja.func.vjp(made, q)
    assert list(output) == ["w", 1]
    for cotangents in ({1: A, "w": B}, {"w": B, 1: A}):
        assert str(pull(cotangents)[0]) == "{'w': tensor([6.]), 'b': tensor([1.]), 3: tensor([0.])}"
    output, moved = ja.func.jvp(made, (q,), ({"b": B, 3: A, "w": A},))
    assert [list(output), list(moved), moved[1].item()] == [["w", 1], ["w", 1], 4]
    for jacobian in (ja.func.jacrev(made), ja.func.jacfwd(made)):
        found = jacobian(q)
        assert [list(found), list(found["w"]), found[1]["b"].tolist()] == [["w", 1], ["w", "b", 3], [[1]]]
    mapped = ja.func.vmap(made, in_dims=({"b": 0, "w": None, 3: None},), out_dims={1: 0, "w": None})(q)
    assert str(mapped) == "{'w': tensor([2.]), 1: tensor([[2.]])}"


def test_archives_keep_the_order(tmp_path):
    def fn(d, *, b, a):
        return {"w": fold(d), "b": [b, a], 3: {"z": a, "a": b}}

    ja.export(fn, {"z": A, "a": B}, b=A.clone(), a=B.clone()).save(tmp_path / "fn.jaxaot")
    loaded = ja.load(tmp_path / "fn.jaxaot")
    given = {"z": A, "a": B}
    assert str(loaded(given, a=B.clone(), b=A.clone())) == str(fn(given, a=B, b=A))
    with pytest.raises(errors.SignatureMismatchError, match=r"\{'a': \*, 'z': \*\}, *\), .* instead of"):
        loaded({"a": B, "z": A}, a=B.clone(), b=A.clone())


def test_archives_of_before_take_dicts_by_their_keys():
    tree = pytree.structure(({"a": 0, "z": 0},), is_leaf=None)
    plain = ja.compile(lambda d: d["a"] - d["z"]).trace({"a": A, "z": B})
    old = dataclasses.replace(plain, order="none")
    args, _ = old.in_order(({"z": B, "a": A},), {})
    assert pytree.structure(args) == tree


# -- random containers -------------------------------------------------------------------------------------------------

MAKERS = [
    lambda draw, values: dict(zip(draw.sample(KEYS, len(values)), values, strict=True)),
    lambda draw, values: OrderedDict(zip(draw.sample(KEYS, len(values)), values, strict=True)),
    lambda draw, values: defaultdict(list, zip(draw.sample(KEYS, len(values)), values, strict=True)),
    lambda draw, values: list(values),
    lambda draw, values: tuple(values),
    lambda draw, values: Pair(values[0], list(values[1:])),
    lambda draw, values: Registered(dict(zip(draw.sample(KEYS, len(values)), values, strict=True))),
    lambda draw, values: Unregistered(dict(zip(draw.sample(KEYS, len(values)), values, strict=True))),
]


def drawn(draw, leaf, depth=3, makers=MAKERS):
    """Returns a random nest of containers with what `leaf` returns for its leaves."""
    if depth == 0 or draw.random() < 0.2:
        return leaf()
    values = [drawn(draw, leaf, depth - 1, makers) for _ in range(draw.randint(1, 3))]
    return draw.choice(makers)(draw, values)


def shuffled(draw, tree):
    """Returns a nest with the items of its dicts in another order."""
    if isinstance(tree, dict):
        items = [(key, shuffled(draw, value)) for key, value in tree.items()]
        draw.shuffle(items)
        made = defaultdict(list) if isinstance(tree, defaultdict) else type(tree)()
        made.update(items)
        return made
    if isinstance(tree, Pair):
        return Pair(*(shuffled(draw, value) for value in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(shuffled(draw, value) for value in tree)
    if isinstance(tree, (Registered, Unregistered)):
        return type(tree)(shuffled(draw, tree.held))
    return tree


def changed(tree, fn):
    """Returns a nest with `fn` of each tensor, by Python alone."""
    if isinstance(tree, defaultdict):
        return defaultdict(list, {key: changed(value, fn) for key, value in tree.items()})
    if isinstance(tree, dict):
        return type(tree)((key, changed(value, fn)) for key, value in tree.items())
    if isinstance(tree, Pair):
        return Pair(*(changed(value, fn) for value in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(changed(value, fn) for value in tree)
    if isinstance(tree, (Registered, Unregistered)):
        return type(tree)(changed(tree.held, fn))
    return fn(tree)


def tensors_of(tree):
    """Returns the tensors of a nest, in the order in which Python meets them."""
    found = []
    changed(tree, found.append)
    return found


def weighed(tree):
    """Returns a number that depends on the order of all tensors in a nest."""
    out = 0.0
    for value in tensors_of(tree):
        out = out * 0.5 + value
    return out


@pytest.mark.parametrize("start", chunks(10, 200, 1))
def test_random_containers_are_as_eagerly(start, tmp_path):
    for seed in range(start, start + (2 if start == 0 else 10)):
        draw, numbers = random.Random(seed), iter(range(1, 1000))
        leaf = lambda: ja.full((1,), float(next(numbers)))
        tree = drawn(draw, leaf)
        state, kept = {"s": A.clone()}, {"s": A.clone()}

        def fn(held, tree, words):
            held[draw_key] = tree_of_state(tree)
            held["s"] = held.pop("s") + 1
            return changed(tree, lambda x: x * 2), weighed(tree), {k: weighed(v) for k, v in words.items()}

        draw_key, tree_of_state = draw.choice(KEYS), lambda tree: [x * 3 for x in tensors_of(tree)]
        compiled = ja.compile(lambda tree, **words: fn(state, tree, words))
        for _ in range(2):
            given = [tree, shuffled(draw, tree)]
            words = [("x", drawn(draw, leaf, 1)), ("b", leaf())]
            for one in (*given, tree):
                draw.shuffle(words)
                assert str(compiled(one, **dict(words))) == str(fn(kept, one, dict(words))), seed
                assert str(state) == str(kept), seed
        plain = drawn(draw, leaf, makers=MAKERS[:-1])
        loss = lambda tree: (weighed(tree) ** 2).sum()
        ones = changed(plain, lambda x: x.clone().requires_grad_())
        loss(ones).backward()
        wanted = changed(ones, lambda x: x.grad)
        assert str(ja.func.grad(loss)(plain)) == str(wanted), seed
        twice = lambda tree: changed(tree, lambda x: x * 2)
        assert str(ja.func.vmap(twice)(plain)) == str(twice(plain)), seed
        assert str(ja.func.vjp(twice, plain)[1](plain)[0]) == str(twice(plain)), seed
        named = drawn(
            draw, leaf, makers=[lambda _, v: dict(zip(draw.sample(["w", "b", 3, 1], len(v)), v, strict=True))]
        )
        ja.export(lambda tree: (twice(tree), weighed(tree)), named).save(tmp_path / "fn.jaxaot")
        assert str(ja.load(tmp_path / "fn.jaxaot")(named)) == str((twice(named), weighed(named))), seed
