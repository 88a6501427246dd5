"""Frozen dataclasses that share their methods: they are as those of the standard library."""

import copy
import dataclasses
import inspect
import pickle

import pytest

from jaxaot._immutable import immutable


@immutable
class Ours:
    """One of ours."""

    a: int
    b: tuple = ()
    c: list = dataclasses.field(default_factory=list, compare=False, repr=False)
    e: dict = dataclasses.field(default_factory=dict, hash=False, kw_only=True)


@dataclasses.dataclass(frozen=True)
class Theirs:
    """The same by the standard library."""

    a: int
    b: tuple = ()
    c: list = dataclasses.field(default_factory=list, compare=False, repr=False)
    e: dict = dataclasses.field(default_factory=dict, hash=False, kw_only=True)


@immutable(eq=False)
class Larger(Ours):
    """One with a field more, and a check."""

    d: int = dataclasses.field(default=4, kw_only=True)

    def __post_init__(self):
        assert self.d, "it is checked"


@pytest.mark.parametrize("args", [(1,), (1, (2,)), (1, (2,), [3])])
def test_it_is_as_a_frozen_dataclass(args):
    ours, theirs = Ours(*args), Theirs(*args)
    assert dataclasses.astuple(ours) == dataclasses.astuple(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours") and hash(ours) == hash(theirs)
    assert ours == Ours(*args) and ours == Ours(*args[:2], c=[9]) and ours != theirs and ours != Ours(7)
    assert dataclasses.replace(ours, a=5) == Ours(5, *args[1:])
    assert pickle.loads(pickle.dumps(ours)) == copy.deepcopy(ours) == ours
    assert Ours.__match_args__ == Theirs.__match_args__
    assert str(inspect.signature(Ours.__init__)) == str(inspect.signature(Theirs.__init__))
    for change in (lambda: setattr(ours, "a", 2), lambda: delattr(ours, "a"), lambda: setattr(ours, "new", 2)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()


def test_fields_are_read_once_asked_for():
    """A class of which there is no object yet says its fields, and its signature."""

    @immutable
    class Fresh(Ours):
        e: int = 5

        def __call__(self, x): ...

    assert str(inspect.signature(Fresh)) == "(a: int, b: tuple = (), c: list = <factory>, e: int = 5)"
    assert Fresh.__match_args__ == ("a", "b", "c", "e") and dataclasses.is_dataclass(Fresh)
    assert [field.name for field in dataclasses.fields(Fresh)] == ["a", "b", "c", "e"] and Fresh.b == ()
    assert str(inspect.signature(Fresh(1))) == "(x)"


def test_wrong_arguments_are_pythons_own_errors():
    for args, words in (((), "missing 1 required positional argument: 'a'"), ((1, 2, 3, 4), "takes from 2 to 4")):
        with pytest.raises(TypeError, match=words):
            Ours(*args)


def test_classes_inherit_and_objects_may_be_equal_to_themselves_alone():
    one = Larger(1, d=2)
    assert (one.a, one.b, one.c, one.d) == (1, (), [], 2) and Larger(1).d == 4
    assert Ours(1) == Ours(1) and one != Ours(1)
    with pytest.raises(AssertionError, match="it is checked"):
        Larger(1, d=0)


def test_a_field_may_be_compared_and_have_no_hash():
    @immutable
    class Rates:
        name: str
        peaks: dict = dataclasses.field(default_factory=dict, hash=False)

    assert hash(Rates("a", {"int8": 1})) == hash(Rates("a")) and Rates("a", {"int8": 1}) != Rates("a")
