"""Functions and methods of the op table, each made when it is first used: there are a thousand, and few are."""

from __future__ import annotations

import hashlib
import os
import threading
import types
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

_lock = threading.RLock()


class Form:
    """A function that is made when somebody asks for it."""

    __slots__ = ("_function", "_make")

    def __init__(self, make: Callable[[], Callable[..., Any]]):
        """Notes how the function is made."""
        self._make, self._function = make, None

    def __call__(self, *args: object, **kwargs: Any) -> Any:
        return self.made(*args, **kwargs)

    @property
    def made(self) -> Callable[..., Any]:
        """The function, always the same one."""
        if self._function is None:
            with _lock:
                if self._function is None:
                    self._function = self._make()
        return self._function

    def around(self, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Form:
        """Returns the form of what a wrapper makes of this function."""
        return Form(lambda: wrap(self.made))


class Method:
    """A method of a class, which replaces this descriptor when it is first read."""

    def __init__(self, name: str, form: Form):
        self._name, self.form = name, form

    def __get__(self, instance: object, owner: type) -> Any:
        function: Any = self.form.made
        for cls in owner.__mro__:
            if vars(cls).get(self._name) is self:
                setattr(cls, self._name, function)
        return function.__get__(instance, owner)


class Functions(MutableMapping[str, Callable[..., Any]]):
    """The functions of a namespace by name; values may be forms, and who reads them gets functions."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Callable[..., Any]:
        found = self._found[name]
        if isinstance(found, Form):
            found = self._found[name] = found.made
        return found

    def __setitem__(self, name: str, value: Form | Callable[..., Any]) -> None:
        self._found[name] = value

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._found))

    def __len__(self) -> int:
        return len(self._found)

    def form(self, name: str) -> Form:
        """Returns a function as a form, without making it."""
        found = self._found[name]
        return found if isinstance(found, Form) else Form(lambda: found)

    def made(self) -> dict[str, Callable[..., Any]]:
        """Returns the functions that are made."""
        return {name: value for name, value in self._found.items() if not isinstance(value, Form)}


def form_of(cls: type, name: str) -> Form:
    """Returns a method of a class as a form, without making it."""
    found = vars(cls)[name]
    return found.form if isinstance(found, Method) else Form(lambda: found)


def fingerprint(name: str, source: str) -> str:
    """Returns what a function of the op table goes by in `_forms.py`, which tools/forms.py writes."""
    return "_" + hashlib.sha256(source.replace(f"def {name}(", "def (", 1).encode()).hexdigest()[:24]


def compiled(name: str, source: str, scope: dict[str, Any]) -> Any:
    """Returns a function of its text, which may be in `_forms.py` already."""
    from jaxaot.facade.members._forms import FORMS  # a process of arrays alone needs none

    found: Any = FORMS.get(fingerprint(name, source))
    if found is None:  # a file name inside the package, so that user lines are looked for above it
        exec(compile(source, os.path.join(os.path.dirname(__file__), f"<op {name}>"), "exec"), scope)
        return scope[name]
    code = found.__code__.replace(co_name=name, co_qualname=name)  # one of its own: Python's caches lie in it
    fn = types.FunctionType(code, scope, name, found.__defaults__)
    fn.__kwdefaults__ = found.__kwdefaults__
    return fn
