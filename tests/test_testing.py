"""`ja.testing.assert_close` says what PyTorch's says."""

import re

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

USES = {
    "equal": lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.0 + 1e-6])),
    "apart": lambda t: (t.tensor([[1.0, 2.0], [3.0, 4.0]]), t.tensor([[1.0, 2.5], [3.0, 8.0]])),
    "half": lambda t: (t.tensor([1.0, 2.0], dtype=t.bfloat16), t.tensor([1.01, 2.0], dtype=t.bfloat16)),
    "half-apart": lambda t: (t.tensor([1.0, 2.0], dtype=t.float16), t.tensor([1.5, 2.0], dtype=t.float16)),
    "ints": lambda t: (t.tensor([1, 2], dtype=t.int32), t.tensor([1, 5], dtype=t.int32)),
    "bools": lambda t: (t.tensor([True, False]), t.tensor([True, True])),
    "scalar": lambda t: (t.tensor(1.0), t.tensor(2.0)),
    "numbers": lambda t: (1.0, 1.1),
    "int-for-float": lambda t: (1, 1.0),
    "shape": lambda t: (t.ones(2), t.ones(3)),
    "nan": lambda t: (t.tensor([float("nan")]), t.tensor([float("nan")])),
    "list": lambda t: ([t.ones(2), 1], [t.ones(2), 2]),
    "dict": lambda t: ({"a": [t.ones(2)]}, {"a": [t.zeros(2)]}),
    "keys": lambda t: ({"a": 1, "c": 1}, {"a": 1, "b": 1}),
    "length": lambda t: ([1], [1, 2]),
    "none": lambda t: (None, 1),
    "arrays": lambda t: (np.ones(2, np.float32), np.zeros(2, np.float32)),
    "text": lambda t: ("a", "a"),
}


def short(words):
    """Returns a text with three digits of each number: ours divides numbers of 16 bits in 32."""
    return re.sub(r"(\d\.\d{3})\d*", r"\1", words)


def said(library, use, **options):
    try:
        library.testing.assert_close(*use(library), **options)
    except (AssertionError, TypeError) as error:
        return type(error).__mro__[-4 if isinstance(error, TypeError) else 0].__name__, str(error)
    return None


@pytest.mark.oracle
@each("case", USES)
def test_what_differs_is_told_as_by_pytorch(case):
    torch = pytest.importorskip("torch")
    options = [{}, {"rtol": 0.2, "atol": 0.1}, {"equal_nan": True, "check_dtype": False}, {"rtol": 0, "atol": 0}]
    for given in options:
        found, expected = said(ja, USES[case], **given), said(torch, USES[case], **given)
        assert (found is None) == (expected is None)
        if found is not None and case != "text":
            assert found[1].replace("ja.Size", "torch.Size") == expected[1] or short(found[1]) == short(expected[1])


def test_values_that_differ_are_told():
    x = ja.tensor([1.0, 2.0, 3.0])
    ja.testing.assert_close(x, x + 1e-6)
    with pytest.raises(
        AssertionError, match=r"Mismatched elements: 1 / 3 \(33.3%\)\nGreatest absolute .* index \(2,\)"
    ):
        ja.testing.assert_close(x, ja.tensor([1.0, 2.0, 4.0]))
    with pytest.raises(AssertionError, match=r"attribute 'dtype' do not match: .*float32 != .*int32"):
        ja.testing.assert_close(x, x.int())
    with pytest.raises(AssertionError, match="attribute 'shape'"):
        ja.testing.assert_close(x, x[:2])
    with pytest.raises(AssertionError, match=r"item \['a'\]\[1\]$"):
        ja.testing.assert_close({"a": [x, x]}, {"a": [x, -x]})
    with pytest.raises(AssertionError, match=r"^mine: Scalars"):
        ja.testing.assert_close(1, 2, msg=lambda words: f"mine: {words}")
    with pytest.raises(ValueError, match="both be specified"):
        ja.testing.assert_close(x, x, rtol=1.0)
    with pytest.raises(TypeError, match="No comparison pair"):
        ja.testing.assert_close(x, 1.0)
