"""What a compiled function reads and writes of Python's state is what it reads and writes eagerly: many small programs.

`python -m tests.tracer.python_state` says of each program how it compares.
"""

import sys
import types

import pytest

from tests.tracer.python_state import files, judge, read

pytestmark = pytest.mark.usefixtures("interpreted")

FINE = {"same", "eager"}
"""How programs may compare: as eagerly, whether compiled or, with a warning, not."""

MAY_RAISE = {
    "a set as an argument": "an argument that cannot be hashed is refused, but for lists and dicts",
    "an iterator as an argument, read in part": "an iterator that is an argument is read before the call",
    "an ExitStack held outside": "what a later call could not make again is refused",
    "singledispatchmethod": "what a later call could not make again is refused",
    "functools.cache of a tensor": "a tensor would outlive the trace in a cache in C",
    "A7: an argument of NumPy given to NumPy": "arguments of NumPy are symbols",
    "A7: what only a trace raises": "arguments of NumPy are symbols",
    "a metaclass whose __getattribute__ raises": "Python asks it for `__class__` all the same",
    "a metaclass whose __eq__ and __hash__ raise": "classes are keys in JAX and Python",
    "a key whose __eq__ raises after the first lookup": "guards look the key up",
    "__hash__ and __eq__ in a lookup": "guards look the key up, and that has an effect",
    "builtins.len patched": "guards call it too",
    "builtins.sum patched, used in a function that is called": "jaxaot and JAX call it too",
    "device of a captured tensor": "a tensor without values comes in the place of one with values",
    "__dict__ replaced by the function": "a dict that is replaced is not seen as one",
    "types.FunctionType made inside": "its global variables are those of no function that was there",
}
"""Programs that raise, compiled, where they do not eagerly: by name, with the reason."""

OF_C = "state that C code keeps"
OF_CLASSES = "what classes are asked for in C"
NOTED = "a class shows that it notes reads"
NOT_SEEN = {
    "getattr of super with a computed name": OF_CLASSES,
    "a runtime protocol": OF_CLASSES,
    "an attribute of an enum member": "members of enums are constants",
    "default_factory replaced": "a function of the same code with other defaults",
    "a module whose class is assigned": "the class of a module",
    "a method of a class of the standard library patched": "Python's own classes are trusted",
    "a class attribute of the standard library patched": "Python's own classes are trusted",
    "what a class has of its own": NOTED,
    "whether a class has its own __getattribute__": NOTED,
    "whether a class has its own __setattr__": NOTED,
    "the members of a class by inspect": NOTED,
    "a write that is refused by slots": "a word of the error",
    "a thread that is joined inside": "what other threads write",
    "a weak reference to an object made inside": "the reference is one and the same",
    "a subprocess": "what C writes outside",
    "np.save": "what NumPy writes outside",
    "a memory map": "what C writes outside",
    "a ctypes array": "what C writes outside",
    "a special method added": "a special method that a class did not have",
    "the level of a logger, as a number": "what a library returns of its own state",
    "a semaphore": OF_C,
    "the name of a thread": "what a library returns of its own state",
    "lru_cache with effects": OF_C,
    "cache_info of lru_cache": OF_C,
    "lru_cache filled from outside": OF_C,
    "a WeakKeyDictionary that is a cache": "an object dies between calls, which no guard tells",
    "inspect.stack-free reflection by sys._getframe": "variables by the frame",
    "_base of a view": "what a captured tensor is a view of",
    "a setting of jax": "settings that the function itself asks for",
    "a setting of ja.config, asked for": "settings that the function itself asks for",
    "the order of __dict__": "the order of attributes",
    "dir of a class": OF_CLASSES,
}
"""Programs that are silently different, as docs/python.md says: by name, with the reason."""
if sys.version_info < (3, 12):  # a profile function is not told of arguments
    NOT_SEEN |= dict.fromkeys(
        ("getattr of a class with a computed name", "getattr of a module with a computed name"), "computed names"
    )

MAY_GROW = {
    "a global that an untaken branch reads": "globals are guarded by the names in the code that ran",
    "a global that stands in code after a return": "globals are guarded by the names in the code that ran",
    "an item of a dict that is set and never read": "a container is guarded whole",
    "what a list in a big dict holds, beside the one that is read": "a container is guarded whole, with those in it",
}
"""Programs that may be made anew for what they do not read: by name, with the reason."""

WARNED = {
    "A4: a logger of the standard library that counts its records",
    "os.environ written",
    "a warning as an error",
    "a StringIO",
}
"""Programs that do something outside, or print."""

N_PARTS = 8


def wanted(case):
    """Returns how a program may compare."""
    if case.name in MAY_RAISE:
        return {"raises"}
    if case.name in NOT_SEEN:
        return {"DIFFERENT"}
    if case.name in WARNED:
        return {*FINE, "warned"}
    if case.name in MAY_GROW:
        return {*FINE, "GROWS"}
    return {*FINE, "warned"} if case.file == "outside" else FINE


@pytest.mark.few(10)
@pytest.mark.parametrize("part", [pytest.param(i, marks=pytest.mark.slow if i else ()) for i in range(N_PARTS)])
@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_state_is_as_eagerly(path, part):
    verdicts = {case.name: (wanted(case), judge(case)) for case in read(path)[part::N_PARTS]}
    wrong = [f"{name}: {it.status}, {it.detail}" for name, (fine, it) in verdicts.items() if it.status not in fine]
    assert not wrong, "\n".join(wrong)


def test_names_are_names_of_programs():
    cases = [(case.file, case.name) for path in files() for case in read(path)]
    assert len(cases) == len(set(cases))
    assert {*MAY_RAISE, *NOT_SEEN, *MAY_GROW} <= {name for _, name in cases}


class Other:
    """What no compiled function may be: a function of which later calls are as the first one was.

    Attributes:
      grows: Whether it has a program for each call.
      n_kept: How many programs it has at the end.
      raises: What its calls raise.
    """

    grows, n_kept, raises = False, 1, None

    def __init__(self, fn):
        self.fn, self.n_programs, self.result = fn, 1, None

    def __call__(self, *args):
        self.n_programs += self.grows
        if self.raises is not None:
            raise self.raises
        if self.result is None:
            self.result = self.fn(*args)
        return self.result

    def cache_info(self):
        return types.SimpleNamespace(currsize=self.n_kept)


NOTHING = "# case: planted\ndef f(x): return x * 2\n# change:\nk = v\n"
READS = "# case: planted\nk = 2\ndef f(x): return x * k\n# change:\nk = v\n"
WRITES = "# case: planted\nl = []\ndef f(x): l.append(1); return x * 2\n# change:\nl.clear()\n"
OUTSIDE = "# case: planted\n_l = []\ndef f(x): _l.append(1); return x * 2\n# change:\n_l.clear()\n# look: len(_l)\n"
BACK = "# case: planted\nk = 2\ndef f(x): return x * k\n# change:\npass\n# back:\nk = v + 1\n"


@pytest.mark.parametrize(
    "code, attributes, status",
    [
        (NOTHING, {}, "same"),
        (READS, {}, "DIFFERENT"),
        (WRITES, {}, "DIFFERENT"),
        (OUTSIDE, {}, "DIFFERENT"),
        (BACK, {}, "DIFFERENT"),
        (NOTHING, {"grows": True}, "GROWS"),
        (NOTHING, {"n_kept": 0}, "EAGER"),
        (NOTHING, {"raises": ValueError("no")}, "raises"),
    ],
)
def test_the_check_finds_what_differs(tmp_path, code, attributes, status):
    path = tmp_path / "unread.py"
    path.write_text(code)
    (case,) = read(path)
    assert judge(case, type("Other", (Other,), attributes)).status == status
