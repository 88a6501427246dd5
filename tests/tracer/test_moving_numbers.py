"""Numbers that change from call to call, where they are indices or arguments of `math`: one program for all of them."""

from __future__ import annotations

import dataclasses
import logging
import math
import threading
from math import cos
from types import SimpleNamespace

import numpy as np
import pytest

import jaxaot as ja

LOGGER = logging.getLogger(__name__)


def plain(state):
    """Returns attributes with lists in the place of tensors."""
    return {name: value.tolist() if isinstance(value, ja.Tensor) else value for name, value in vars(state).items()}


def agree(make, n=8):
    """Asserts that a function and what it leaves are as eagerly, and returns how many programs were made."""
    (fn, state), (eager, eager_state) = make(), make()
    compiled = ja.compile(fn)
    for i in range(n):
        x = ja.arange(3.0) + i
        assert np.allclose(compiled(x).numpy(), eager(x).numpy(), rtol=1e-6)
        assert plain(state) == plain(eager_state)
    return compiled.cache_info().currsize


def rows_written(s):
    def fn(x):
        s.buf[s.n] = x
        s.n += 1
        return s.buf.sum()

    return fn


def columns_written(s):
    def fn(x):
        s.wide[:, s.n] = x
        s.n += 1
        return s.wide * 2

    return fn


def numbers_written(s):
    def fn(x):
        s.buf[s.n, 1] = 7
        s.n += 1
        return x + s.buf.sum()

    return fn


def slices_written(s):
    def fn(x):
        s.buf[s.n : s.n + 1] = x[None]
        s.n += 1
        return s.buf + x

    return fn


def rows_added_to(s):
    def fn(x):
        s.buf[s.n] += x
        s.n = (s.n + 1) % 4
        return s.buf.sum()

    return fn


def rows_read(s):
    def fn(x):
        s.n += 1
        return s.table[s.n] * x + s.table[s.n - 3]

    return fn


def ring(s):
    def fn(x):
        s.buf[s.n % 4] = x
        s.n += 1
        return s.buf.mean(0)

    return fn


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "body", [rows_written, columns_written, numbers_written, slices_written, rows_added_to, rows_read, ring]
)
def test_indices_that_change_make_no_new_program(body):
    def make():
        state = SimpleNamespace(n=2, buf=ja.zeros(16, 3), wide=ja.zeros(3, 16), table=ja.arange(48.0).reshape(16, 3))
        return body(state), state

    assert agree(make) == 1


@pytest.mark.parametrize("dtype", [ja.bfloat16, ja.int32, ja.bool])
def test_caches_of_any_dtype(dtype):
    s = SimpleNamespace(n=0, cache=ja.zeros(2, 8, 3, dtype=dtype))

    @ja.compile
    def fn(x):
        n = x.shape[1]
        s.cache[:, s.n : s.n + n] = x.to(dtype)
        s.n += n
        return s.cache[:, s.n - 1] * 1

    for i in range(4):
        assert fn(ja.full((2, 2, 3), float(i % 2))).tolist() == [[i % 2] * 3] * 2
    assert fn.cache_info().misses == 1


def test_an_index_that_leaves_the_tensor_is_an_error_and_one_that_turns_negative_another_program():
    s = SimpleNamespace(n=3, buf=ja.zeros(4))

    @ja.compile
    def fn(x):
        s.buf[s.n] = x
        s.n -= 1
        return s.buf + 0

    for expected in ([0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 2]):
        assert fn(ja.tensor(1.0 if s.n >= 0 else 2.0)).tolist() == expected
    assert fn.cache_info().currsize == 2
    s.n = 4
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        fn(ja.tensor(1.0))
    assert s.n == 4


@pytest.mark.slow
def test_what_is_read_and_then_written_through_is_the_view_that_it_is_eagerly():
    s = SimpleNamespace(n=0, buf=ja.zeros(4, 3))

    @ja.compile
    def fn(x):
        row = s.buf[s.n]
        s.n += 1
        s.buf.add_(1)
        row.mul_(x)
        return row + 0

    for n in range(3):
        before = s.buf.clone()
        assert fn(ja.tensor(2.0)).tolist() == ((before[n] + 1) * 2).tolist()


def cosine(s):
    def fn(x):
        s.n += 1
        return x * (0.1 * 0.5 * (1 + math.cos(math.pi * s.n / 50)))

    return fn


def functions_by_name(s):
    def fn(x):
        s.n += 1
        return x * cos(s.n / 9) / float(s.n) + math.sqrt(s.n) + int(s.n / 2)

    return fn


def types_asked_for(s):
    def fn(x):
        s.n += 1
        is_plain = isinstance(s.n, int) and not isinstance(s.n, float) and type(s.scale) in (float,)
        return x * float(s.n) if is_plain and int("3") == 3 else x

    return fn


@pytest.mark.parametrize("body", [cosine, functions_by_name, types_asked_for])
def test_schedules_by_math_make_no_new_program(body):
    def make():
        state = SimpleNamespace(n=0, scale=2.0)
        return body(state), state

    assert agree(make) == 1
    assert isinstance(1.0, float) and math.cos(0) == 1.0 and "float" not in globals()


def test_arithmetic_that_fails_does_so_where_it_does_eagerly():
    def make():
        s = SimpleNamespace(n=3)

        def fn(x):
            s.n -= 1
            y = x / (6 // s.n)
            s.n -= 0
            return y

        return fn, s

    (fn, s), (eager, eager_s) = make(), make()
    compiled = ja.compile(fn)
    for _ in range(2):
        assert compiled(ja.ones(2)).tolist() == eager(ja.ones(2)).tolist()
    for each in (compiled, eager):
        with pytest.raises(ZeroDivisionError):
            each(ja.ones(2))
    assert s.n == eager_s.n == 0


def test_numbers_of_threads_are_put_back():
    local = threading.local()

    @ja.compile
    def fn(x):
        return x * local.scale

    for scale in (1.0, 2.0, 3.0, 4.0):
        local.scale = scale
        assert fn(ja.ones(2)).tolist() == [scale] * 2
        assert type(local.scale) is float


def test_zeros_of_either_sign_are_two_numbers():
    s = SimpleNamespace(n=1)

    @ja.compile
    def fn(x):
        s.n += 1
        return x / (s.n * 0.0), x / (s.n * -0.0)

    for _ in range(3):
        up, down = fn(ja.ones(1))
        assert (up.item(), down.item()) == (math.inf, -math.inf)


def test_a_number_that_a_class_counts_makes_no_program_each():
    class Layer:
        n_calls = 0

    @ja.compile
    def fn(x):
        Layer.n_calls += 1
        return x * Layer.n_calls

    assert [fn(ja.ones(())).item() for _ in range(5)] == [1, 2, 3, 4, 5]
    assert Layer.n_calls == 5 and fn.cache_info().misses == 1


def printed(s, x):
    print(f"step {s.n:03d}:", s.n, f"of {s.n + 1}")


def logged(s, x):
    LOGGER.warning("step %d of %s, %.2f", s.n, s.n, s.n / 3)
    LOGGER.warning(f"step {s.n}")


@pytest.mark.parametrize("show", [printed, logged])
def test_a_number_that_is_only_shown_makes_no_new_program(show, caplog, capsys):
    s = SimpleNamespace(n=0)

    @ja.compile(fullgraph=True)
    def fn(x):
        s.n += 1
        show(s, x)
        return x * s.n

    with pytest.warns(ja.errors.TracedPrintWarning):
        assert [fn(ja.ones(1)).item() for _ in range(4)] == [1, 2, 3, 4]
    assert fn.cache_info().misses == 1
    if show is printed:
        assert capsys.readouterr().out == "step 001: 1 of 2\n"  # once, when it was traced
    else:
        assert caplog.messages[:2] == ["step 1 of 1, 0.33", "step 1"]


KEPT = ["f'{s.n}'", "str(s.n)", "'%d' % s.n", "'{}'.format(s.n)", "f'{s.n}' + TEXTS[f'{s.n % 2}']"]


@pytest.mark.parametrize("keep", KEPT)
def test_a_number_whose_text_is_kept_is_that_of_the_call(keep):
    s = SimpleNamespace(n=0)
    scope = {"TEXTS": {"0": "even", "1": "odd"}, "s": s}
    source = f"def fn(x):\n    s.n += 1\n    s.text = {keep}\n    print(s.text, f'{{s.text}}')\n    return x * s.n\n"
    exec(source, scope)
    fn = ja.compile(scope["fn"])
    for n in range(1, 5):
        assert fn(ja.ones(1)).item() == n and s.text == eval(keep, scope)


def test_text_in_a_text_that_is_shown_may_decide_something():
    s, words = SimpleNamespace(n=0), {"1": "one", "2": "two", "3": "three"}
    seen = []

    @ja.compile
    def fn(x):
        s.n += 1
        print(f"step {words[f'{s.n}']}")
        seen.append(f"{s.n}")
        return x * s.n

    for n in range(1, 4):
        assert fn(ja.ones(1)).item() == n
    assert seen == ["1", "2", "3"]


def test_the_log_says_which_numbers_have_a_program_for_each_value(caplog):
    s = SimpleNamespace(n=0)

    @ja.compile
    def fn(x):
        s.n += 1
        return x * np.sqrt(s.n)

    with caplog.at_level("INFO", "jaxaot.recompiles"):
        fn(ja.ones(1)), fn(ja.ones(1))
    assert "`fn` has a program for each value of `s.n`: TypeError" in caplog.text


@dataclasses.dataclass(frozen=True)
class Place:
    """A record that is replaced, not changed."""

    row: int
    width: float


def test_numbers_in_containers_that_are_replaced_are_plain_numbers_afterwards():
    s = SimpleNamespace(n=0, pair=(0, 1.5), of={"p": (0, (1, 2))}, rates=[0.5], kept=None, place=Place(1, 2.0))

    def fn(x):
        s.n += 1
        s.pair = (s.n, s.pair[1] * 0.5)
        a, (b, c) = s.of["p"]
        s.of["p"] = (a + 1, (b * 2, c))
        s.rates = [s.rates[0] * 2]
        s.place = Place(s.place.row + 1, s.place.width * 0.5)
        s.kept = [(s.n, "word"), (3, 4)]
        return x * s.pair[1] + b

    def kinds(value):
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        return type(value).__name__, *map(kinds, inside)

    found, start = [], dict(vars(s))
    call = ja.compile(fn)
    for one in (call, fn):
        vars(s).update(start, of={"p": (0, (1, 2))})
        found.append([(one(ja.ones(1)).item(), repr(s), kinds(vars(s))) for _ in range(4)])
    assert found[0] == found[1]
    assert call.cache_info().misses == 2, call.explain_recompiles()  # `kept` is None at first


@pytest.mark.slow
def test_a_tuple_in_two_places_is_one_only_while_it_is():
    s = SimpleNamespace()

    def fn(x):
        u, v = s.a
        y = x * u + s.b[0]
        s.a = (u + 1, v)
        return y

    def values(call):
        for given in ((1, 1), (5, 5), (), (), (6, 9), (8, 8)):
            if given:
                s.a = (given[0], 2)
                s.b = s.a if given[0] == given[1] else (given[1], 2)
            yield call(ja.ones(1)).item()

    assert list(values(ja.compile(fn))) == list(values(fn)) == [2, 10, 11, 12, 15, 16]


def test_a_rate_that_changes_and_decays_weights_has_one_program():
    weight = ja.nn.Parameter(ja.ones(3))
    optimizer = ja.optim.AdamW([weight], lr=0.1)

    @ja.compile
    def step(x):
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()

    for _ in range(4):
        step(ja.ones(3))
        optimizer.param_groups[0]["lr"] *= 0.9
    assert step.cache_info().misses == 1, step.explain_recompiles()
