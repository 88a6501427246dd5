"""Writes jaxaot/facade/members/_forms.py, the Python functions of the op table: `python tools/forms.py`.

They are made from the schemas of rows, see `jaxaot/facade/members/methods.py`. That they are there as a file makes
their first use faster: Python compiles a file once. A form that is missing there is compiled when it is first used.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from typing import Any

from jaxaot.facade.members import methods

PAGE = pathlib.Path(methods.__file__).with_name("_forms.py")
HEAD = '''"""The functions of the op table, written by tools/forms.py: each by the fingerprint of its text."""
# pyright: reportUndefinedVariable=false, reportRedeclaration=false

from collections.abc import Callable
from typing import Any

from jaxaot.facade.dispatch.signatures import same_as
from jaxaot.ops.schema import REQUIRED as _required

{names}
FORMS: dict[str, Callable[..., Any]] = {{}}
'''


def render() -> str:
    """Returns the text of the file."""
    sources: dict[str, str] = {}
    compiled = methods.compiled

    def noted(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
        sources[methods.fingerprint(source)] = f'{source}\n\nFORMS["{methods.fingerprint(source)}"] = {name}\n'
        return compiled(name, source, scope)

    methods.compiled = noted
    methods._bind()
    for functions in methods.FUNCTIONS.values():
        list(functions.values())  # reads, and so makes, them all
    for name in dir(methods.Tensor):
        getattr(methods.Tensor, name)
    found = sorted(set(re.findall(r"=_same_(\w+)", "".join(sources.values()))))
    names = "".join(f'_same_{name} = same_as("{name}")\n' for name in found)
    return "\n\n".join([HEAD.format(names=names), *sources.values()])


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
