"""Unions of frozen classes are taken apart by `match` statements that the type checker holds to be exhaustive.

A new kind of alias, residual or write is a new member of a union. Pyright then reports each `assert_never` that it
reaches; that only helps if every place that tells the kinds apart ends in one.
"""

import ast
import functools

import pytest

from tests.cases import each
from tests.source import FILES, nodes_of, place_of, tree_of


def union_members(value):
    """Returns the names of a union `A | B | C`; nothing of any other expression."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        return [*union_members(value.left), *union_members(value.right)]
    return [value.id] if isinstance(value, ast.Name) else []


def unions_of(trees):
    """Returns the unions of classes of the package: name → names of the classes."""
    classes = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    found = {}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.BinOp):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                members = union_members(node.value)
                if len(members) > 1 and set(members) <= classes:
                    found[target.id] = frozenset(members)
    return found


@functools.cache
def unions():
    """Returns the unions of the package."""
    return unions_of([tree_of(path) for path in FILES])


def pattern_classes(pattern):
    return {node.cls.id for node in ast.walk(pattern) if isinstance(node, ast.MatchClass) if hasattr(node.cls, "id")}


def kinds_of_breaks(node):
    """Returns the expression and the classes of a call of `isinstance`; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return kinds_of_breaks(node.operand)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"):
        return None
    subject, kinds = node.args
    names = [item.id for item in kinds.elts if isinstance(item, ast.Name)] if isinstance(kinds, ast.Tuple) else []
    return ast.unparse(subject), set(names or union_members(kinds))


def is_closed(match):
    """Returns whether the last case of a `match` statement is `case _: assert_never(subject)`."""
    last = match.cases[-1]
    is_wildcard = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
    return is_wildcard and ast.unparse(last.body[0]) == f"assert_never({ast.unparse(match.subject)})"


def open_places(nodes, unions):
    """Returns the places of a file that tell several kinds of one union apart and that no type checker follows."""
    found = []

    def several(kinds):
        return any(len(kinds & members) > 1 for members in unions.values())

    for node in nodes:
        if isinstance(node, ast.Match):
            kinds = set().union(*(pattern_classes(case.pattern) for case in node.cases))
            if any(kinds & members for members in unions.values()) and not is_closed(node):
                found.append(f"line {node.lineno}: end the match in `case _: assert_never(...)`")
        elif isinstance(node, ast.Call) and kinds_of_breaks(node) and several(kinds_of_breaks(node)[1]):
            found.append(f"line {node.lineno}: write a match instead of isinstance with several kinds")
        elif isinstance(node, ast.If):
            subject, kinds = kinds_of_breaks(node.test) or ("", set())
            chain = node.orelse
            while len(chain) == 1 and isinstance(chain[0], ast.If):
                other, more = kinds_of_breaks(chain[0].test) or ("", set())
                kinds |= more if other == subject else set()
                chain = chain[0].orelse
            if several(kinds):
                found.append(f"line {node.lineno}: write a match instead of a chain of isinstance")
        elif isinstance(node, ast.IfExp):
            subject, kinds = kinds_of_breaks(node.test) or ("", set())
            if any(kinds & members for members in unions.values()) and f"{subject}." in ast.unparse(node.orelse):
                found.append(f"line {node.lineno}: write a match, as the else branch is for one other kind only")
    return found


def test_the_unions_of_the_plans_are_found():
    names = {"OutputSource", "HistorySource", "CounterSource", "ResidualSource", "WorldWrite", "Made", "Number"}
    assert names <= set(unions())


@pytest.mark.slow
@each("path", FILES, ids=place_of)
def test_kinds_are_told_apart_where_the_type_checker_sees_it(path):
    assert not open_places(nodes_of(path), unions())


@pytest.mark.parametrize(
    "text",
    [
        "match x:\n    case A(): pass\n    case B(): pass",
        "match x:\n    case A(): pass\n    case _: pass",
        "match x:\n    case A(): pass\n    case _: assert_never(y)",
        "isinstance(x, (A, B))",
        "isinstance(x, A | B)",
        "if isinstance(x, A): pass\nelif isinstance(x, B): pass",
        "x.a if isinstance(x, A) else x.b",
    ],
)
def test_the_check_finds_what_is_open(text):
    assert open_places(ast.walk(ast.parse(text)), {"AB": frozenset("AB")})


@pytest.mark.parametrize(
    "text",
    [
        "match x:\n    case A(): pass\n    case B(): pass\n    case _: assert_never(x)",
        "match x:\n    case C(): pass",
        "[y for y in x if isinstance(y, A)]",
        "isinstance(x, (A, C))",
    ],
)
def test_the_check_passes_what_is_closed(text):
    assert open_places(ast.walk(ast.parse(text)), {"AB": frozenset("AB")}) == []
