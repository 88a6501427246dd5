"""Writes jaxaot/facade/_forms.py, the Python functions of the op table: `python tools/forms.py`.

They are made from the schemas of rows, see `jaxaot/facade/methods.py`. That they are there as a file makes their first
use faster: Python compiles a file once. A form that is missing there is compiled when it is first used.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

from jaxaot.facade import methods

PAGE = pathlib.Path(methods.__file__).with_name("_forms.py")
HEAD = '''"""The functions of the op table, written by tools/forms.py: each by the fingerprint of its text."""
# pyright: reportUndefinedVariable=false, reportRedeclaration=false

from collections.abc import Callable
from typing import Any

from jaxaot.facade.signatures import SAME_DIM as _same_dim
from jaxaot.facade.signatures import SAME_KEEPDIM as _same_keepdim
from jaxaot.ops.schema import REQUIRED as _required

FORMS: dict[str, Callable[..., Any]] = {}
'''


def render() -> str:
    """Returns the text of the file."""
    sources: dict[str, str] = {}
    compiled = methods._compile

    def noted(name: str, source: str, spec: Any) -> Callable[..., Any]:
        sources[methods.fingerprint(source)] = f'{source}\n\nFORMS["{methods.fingerprint(source)}"] = {name}\n'
        return compiled(name, source, spec)

    methods._compile = noted
    methods._bind()
    for functions in methods.FUNCTIONS.values():
        list(functions.values())  # reads, and so makes, them all
    for name in dir(methods.Tensor):
        getattr(methods.Tensor, name)
    return "\n\n".join([HEAD, *sources.values()])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
