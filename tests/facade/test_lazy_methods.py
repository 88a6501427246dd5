"""Functions and methods of the op table are made when they are first used, and look as if they always were there."""

import subprocess
import sys

import pytest

from jaxaot.facade.members.lazy_methods import Form, Functions, Method, form_of


@pytest.mark.slow
def test_a_method_is_made_at_its_first_use_and_is_the_function_where_python_looks():
    code = """
import jaxaot as ja
from jaxaot.facade.members.lazy_methods import Method
from jaxaot.facade.members.methods import FUNCTIONS
import sys
left = lambda: {name for name, x in vars(ja.Tensor).items() if isinstance(x, Method)}
before = left()
assert not {"jaxaot.ops.sentences", "jaxaot.facade.members._forms"} & {*sys.modules}
x = ja.ones(2)
(x.add(1).mul_(2) - x).view(1, 2)
assert {"add", "mul_", "view"} <= before - left() and len(before - left()) < 10 < len(before), before - left()
assert not {"relu", "where"} & FUNCTIONS["nn.functional"].made().keys()

import pydoc
assert ja.Tensor.sinh is ja.sinh and isinstance(vars(ja.Tensor)["cosh"], Method)
assert ja.compile(lambda x: x.cosh())(ja.zeros(1)).item() == 1  # made while a trace runs
assert (-ja.ones(1)).abs().item() == 1 and ja.Tensor.cosh.__name__ == "cosh"
assert "hyperbolic" in pydoc.render_doc(ja.Tensor.acosh) and "acosh" in dir(ja.ones(1))

class Mine(ja.Tensor):
    def tan(self):
        return super().tan() + 1

assert Mine(ja.zeros(1)).tan().item() == 1 and not isinstance(vars(ja.Tensor)["tan"], Method)
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # nothing has used these methods there


def test_a_form_is_made_once_and_around_it_another():
    made = []

    def make():
        made.append(1)
        return lambda x: x + 1

    functions = Functions()
    functions["f"] = form = Form(make)
    functions["g"] = functions.form("f").around(lambda fn: lambda x: fn(x) * 10)
    assert "f" in functions and not made and functions.made() == {}
    assert functions["g"](1) == 20 and functions["f"] is form.made and form(1) == 2 and made == [1]

    class Owner:
        pass

    Owner.f = Method("f", Form(lambda: lambda self, x: x + 1))
    assert form_of(Owner, "f").made is Owner.f is form_of(Owner, "f").made and Owner().f(1) == 2
