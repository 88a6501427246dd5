"""What the solver makes of arithmetic is what Python makes of it."""

import itertools
import math

import pytest

from jaxaot.facade.indexing.symbolic_numbers import FUNCTIONS
from jaxaot.plan.guards import differs
from tests.cases import each

z3 = pytest.importorskip("z3")
terms_of = pytest.importorskip("jaxaot.validate.terms")

WHOLE = (0, 1, -1, 2, -3, 7, -7, 2**31, -(2**40))
REAL = (0.0, -0.0, 0.1, -2.5, 7.0, 1e300, -1e-320, math.inf, -math.inf, math.nan)
TRUTH = (True, False)
OF_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "xor")
OF_ONE = ("neg", "pos", "abs", "bool", "round", "floor", "ceil", "trunc")


def computed(terms, how, operands, constants):
    """Returns what the solver gives for an operation, and whether it is defined; None where it knows nothing of it."""
    solver, numbers = z3.Solver(), []
    for i, operand in enumerate(operands):
        if constants[i]:
            numbers.append(terms_of.Number(terms.constant(operand), type(operand), (operand,)))
        else:
            place = terms.place((("root", f"x{i}"),))
            solver.add(terms.value(place) == terms.constant(operand))
            numbers.append(terms_of.Number(terms.value(place), type(operand)))
    found = terms._computed(how, numbers)
    if found is None:
        return None
    assert solver.check() == z3.sat
    is_defined = z3.is_true(solver.model().eval(found[1], model_completion=True))
    return is_defined, terms.read(solver.model(), found[0])[1]


def check(how, operands):
    """Asserts that an operation is Python's, with operands as variables and as constants, where it is known."""
    try:
        expected = True, FUNCTIONS[how](*operands)
    except (ArithmeticError, ValueError):
        expected = False, None
    except TypeError:
        return 0
    n_known = 0
    for constants in itertools.product((False, True), repeat=len(operands)):
        found = computed(terms_of.Terms(True, ()), how, operands, constants)
        if found is None:
            continue
        n_known += 1
        assert found[0] is expected[0], (how, operands, found)
        assert not expected[0] or not differs(found[1], expected[1]), (how, operands, found)
    return n_known


def test_inverted_whole_numbers_are_pythons():
    assert all(check("invert", (x,)) for x in WHOLE)


@pytest.mark.slow
@pytest.mark.parametrize("one_in", [53, pytest.param(4, marks=pytest.mark.slow)])
@each("how", OF_TWO)
def test_operations_on_two_numbers_are_pythons(how, one_in):
    pairs = [*itertools.product(WHOLE, WHOLE), *itertools.product(TRUTH, WHOLE[:4])]
    pairs += [*itertools.product(REAL, REAL[:7]), *itertools.product(WHOLE, REAL), *itertools.product(REAL, WHOLE)]
    assert sum(check(how, pair) for pair in [*itertools.product(TRUTH, TRUTH), *pairs[::one_in]]) > 2


@pytest.mark.slow
@each("how", OF_ONE)
def test_operations_on_one_number_are_pythons(how):
    assert sum(check(how, (x,)) for x in (*WHOLE, *REAL, *TRUTH)) > 2


@each("how", [*OF_TWO, *OF_ONE, "pow", "lshift", "rshift"])
def test_the_type_of_a_result_is_pythons(how):
    samples = (2, 3.5, True)
    for operands in itertools.product(samples, repeat=1 if how in OF_ONE else 2):
        try:
            value = FUNCTIONS[how](*operands)
        except TypeError:
            continue
        cls = terms_of.result_class(how, list(map(type, operands)))
        assert cls is type(value) or (cls is None and how == "pow")


def test_large_whole_numbers_are_compared_with_floats_without_rounding():
    assert check("eq", (2**53 + 1, float(2**53))) and check("lt", (float(2**53), 2**53 + 1))


def test_two_paths_to_one_object_lead_to_one_thing():
    terms, solver = terms_of.Terms(False, ()), z3.Solver()
    a, b = (("root", "fn"), ("attr", "a")), (("root", "fn"), ("attr", "b"))
    apart = terms.value(terms.place((*a, ("item", 0)))) != terms.value(terms.place((*b, ("item", 0))))
    solver.add(apart)
    assert solver.check() == z3.sat
    solver.add(terms.place(a) == terms.place(b))
    assert solver.check() == z3.unsat


def test_variables_are_one_however_a_path_leads_to_them():
    terms, fn = terms_of.Terms(False, ()), (("root", "fn"),)
    same = [
        ((("global", "n"),), (("attr", "__globals__"), ("item", "n"))),
        ((("attr", "n"),), (("attr", "__dict__"), ("item", "n"))),
        ((("closure", (0, "n")),), (("closure", (0, "")),)),
    ]
    for one, other in same:
        assert terms.place((*fn, *one)).eq(terms.place((*fn, *other)))
