"""Archives for several sizes: one program for a bucket, with exact values; other sizes are errors."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import WITHOUT_SOURCE
from tests.archive.test_calls import check_alike
from tests.laws.test_random_sizes import make_program, tolerances
from tests.runtime.sized import rows

OLD = pathlib.Path(__file__).parents[1] / "data" / "format1_sizes.jaxaot"


def make():
    """Returns a function with state, writes, a view, randomness and a number, and the parameters that it reaches."""
    ja.manual_seed(0)
    w, seen = ja.randn(3, 2, requires_grad=True), ja.zeros(2)

    def fn(x, y, cache, scale):
        out = ja.nn.functional.dropout(x @ w * scale, 0.5, True)
        with ja.no_grad():
            seen.add_(out.mean(0))
            cache[1:].add_(y.sum())
        return ((out - y) ** 2).mean(), out, x[0], cache[0]

    return fn, w, seen


def batch(n, seed=0):
    ja.manual_seed(seed)
    return ja.randn(n, 3), ja.randn(n, 2), ja.zeros(3), 2.0


def saved(folder, **options):
    fn, _, _ = make()
    dim = ja.sizes.Dim("batch", min=7, max=10)
    exported = ja.export(fn, *batch(9), dynamic_shapes={"x": {0: dim}, "y": {0: dim}}, buckets=[8, 16], **options)
    exported.save(folder / "f.jaxaot")
    return exported, folder / "f.jaxaot"


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("sizes"))


def test_sizes_that_are_exported_in_turn_have_the_buckets_that_are_promised():
    batch = ja.sizes.Dim("batch", min=4, max=14)
    text = str(ja.export(lambda x: x * 2, ja.ones(4), dynamic_shapes=({0: batch},), with_gradients=False))
    assert [line.partition(": ")[0] for line in text.splitlines() if "one program" in line] == [
        f"  without gradients, batch {span}" for span in ("4 to 8", "9 to 12", "13 to 14")
    ]


def run(fn, w, n):
    """Returns what two calls and a backward leave behind."""
    w.grad = None
    given = batch(n, seed=n)
    ja.manual_seed(1)
    results = [fn(*given) for _ in range(2)]
    (results[0][0] + results[1][1].sum()).backward()
    with ja.no_grad():
        results.append(fn(*given))
    return results, list(given), w.grad


@pytest.mark.slow
def test_each_size_does_what_the_function_does(held):
    fn, w, seen = make()
    fn, loaded = ja.compile(fn, dynamic=False), ja.load(held[1])
    (mine,) = loaded.parameters()
    for n in (9, 7, 10):
        check_alike(run(fn, w, n), run(loaded, mine, n))
        np.testing.assert_allclose(loaded.state_dict()["seen"].numpy(), seen.numpy(), rtol=1e-5, atol=1e-6)
    assert len({id(program.owner) for program in loaded._calls.programs}) <= 2 * 2, "a bucket has one program"


@pytest.mark.slow
def test_what_an_exported_function_says_of_its_sizes(held):
    text = str(held[0])
    assert "for batch of 7 to 10" in text
    assert "with gradients, batch 7 to 8: one program for 2 sizes" in text
    assert "without gradients, batch 9 to 10: one program for 2 sizes" in text


@pytest.mark.slow
def test_views_of_a_whole_storage_have_sizes_too(tmp_path):
    exported = ja.export(lambda y: y * 2, ja.ones(8, 3), dynamic_shapes=({0: ja.sizes.Dim("n", max=8)},))
    exported.save(tmp_path / "f.jaxaot")
    loaded = ja.load(tmp_path / "f.jaxaot")
    for n in (4, 5):
        x = ja.arange(3.0 * n)
        assert loaded(x.view(n, 3)).tolist() == (x.view(n, 3) * 2).tolist()


@pytest.mark.slow
def test_other_sizes_are_errors(held):
    loaded = ja.load(held[1])
    for n in (6, 11):
        with pytest.raises(ja.errors.SignatureMismatchError, match=f"`batch` is {n} as dim 0 of `x`"):
            loaded(*batch(n))
    x, y, cache, scale = batch(8)
    with pytest.raises(ja.errors.SignatureMismatchError, match="is 8 as dim 0 of `x` and 4 as dim 0 of `y`"):
        loaded(x, y[:4].clone(), cache, scale)
    with pytest.raises(ja.errors.SignatureMismatchError, match=r"`y` is float32\[8, 3\] instead of float32\[8, 2\]"):
        loaded(x, x, cache, scale)
    with pytest.raises(ja.errors.SignatureMismatchError, match="structure"):
        loaded(x, y)
    with ja.autograd.detect_anomaly(), pytest.raises(ja.errors.SignatureMismatchError, match="what is padded"):
        loaded(*batch(7))
    assert cache.abs().sum().item() == 0, "nothing was done"


def test_what_is_said_of_sizes_is_read():
    fn, _, _ = make()
    dim, said = ja.sizes.Dim("batch", max=8), ja.errors.UsageError
    for dynamic, words in (
        ({"z": {0: dim}}, "names `z`, and the example has the arguments x, y, cache, scale"),
        ({"x": {5: dim}}, "dim 5 of `x` changes, and it has 2 dims"),
        ({"x": {0: 4}}, "says no dims"),
        ({"x": 0}, "says no dims"),
        ({}, "says no dims"),
        ({"x": {0: dim, 1: dim}}, "is 4 as dim 0 of `x` and 3 as dim 1 of `x` in the example"),
        (
            {"x": {0: ja.sizes.Dim("batch", min=5, max=8)}},
            "is 4 in the example, and the archive is for batch of 5 to 8",
        ),
        ({"x": {0: ja.sizes.Dim("batch", min=4, max=10**6)}}, "sizes, batch of 4 to 1000000, and each is traced"),
        ({"x": {0: dim}, "y": {0: ja.sizes.Dim("batch", max=9)}}, "have one name"),
    ):
        with pytest.raises(said, match=words):
            ja.export(fn, *batch(4), dynamic_shapes=dynamic)
    with pytest.raises(said, match="has no sizes"):
        ja.sizes.Dim("batch", min=4, max=3)
    x = ja.randn(8, 3)
    with pytest.raises(said, match=r"Pass `x.clone\(\)` as the example"):
        ja.export(lambda x: x + 1, x[:4], dynamic_shapes=({0: dim},))


@pytest.mark.slow
def test_sizes_in_steps_of_two_arguments_and_what_is_compiled_exactly(tmp_path):
    rows, columns = ja.sizes.Dim("rows", min=3, max=9, step=3), ja.sizes.Dim("columns", min=4, max=6)
    fn = lambda *, x: x.repeat(2, 1) if x.shape[1] == 5 else x.cumsum(1)
    exported = ja.export(fn, x=ja.ones(6, 4), dynamic_shapes={"x": {0: rows, 1: columns}}, with_gradients=False)
    exported.save(tmp_path / "f.jaxaot")
    loaded = ja.load(tmp_path / "f.jaxaot")
    assert "because" in str(exported)
    for n in (3, 6, 9):
        for m in (4, 5, 6):
            x = ja.tensor(np.random.default_rng(n).normal(size=(n, m)).astype("f"))
            right = np.tile(x.numpy(), (2, 1)) if m == 5 else x.numpy().cumsum(1)
            np.testing.assert_allclose(loaded(x=x).numpy(), right, rtol=1e-6)
    with pytest.raises(ja.errors.SignatureMismatchError, match="`rows` is 4 as dim 0 of `x`, and it was exported for"):
        loaded(x=ja.ones(4, 4))


def test_what_does_not_hold_for_a_size_is_an_error_of_the_export():
    def fn(x):
        ja.sizes.check(x.shape[0] != 6, lambda: f"{x.shape[0]} is no size")
        return x * 2

    with pytest.raises(ja.errors.CheckError, match="6 is no size"):
        ja.export(fn, ja.ones(4), dynamic_shapes={"x": {0: ja.sizes.Dim("n", max=8)}})


@pytest.mark.slow
def test_layouts_and_gradients_of_examples_are_kept(tmp_path):
    made = lambda n: ja.zeros(3, n).t().clone().requires_grad_()
    x = made(4)
    x.grad = ja.zeros(4, 3)
    fn = lambda x: (x * 2, x.grad + 1, x.stride())
    ja.export(fn, x, dynamic_shapes=[{0: ja.sizes.Dim("n", min=3, max=6)}]).save(tmp_path / "f.jaxaot")
    loaded = ja.load(tmp_path / "f.jaxaot")
    x = made(5)
    x.grad = ja.ones(5, 3)
    doubled, more, stride = loaded(x)
    assert stride == (1, 5) and more.sum().item() == 30 and doubled.stride() == (1, 5)


@pytest.mark.slow
def test_weights_apart(tmp_path):
    model, n = ja.nn.Linear(3, 2), ja.sizes.Dim("n", max=4)
    ja.export(model, ja.ones(2, 3), dynamic_shapes=({0: n},)).save(tmp_path / "f.jaxaot", weights=False)
    loaded = ja.load(tmp_path / "f.jaxaot", weights=model.state_dict())
    x = ja.randn(3, 3)
    np.testing.assert_allclose(loaded(x).detach().numpy(), model(x).detach().numpy(), rtol=1e-6)


BARE = (
    WITHOUT_SOURCE
    + """fn = ja.load(sys.argv[1])
ja.manual_seed(5)
print(*(fn(ja.ones(n, 3), ja.ones(n, 2), ja.zeros(3), 2.0)[0].item() for n in (7, 10)))
"""
)


@pytest.mark.slow
def test_a_process_without_the_source(held):
    command = [sys.executable, "-c", BARE, str(held[1])]
    found = subprocess.run(command, capture_output=True, text=True, cwd=held[1].parent, timeout=300)
    assert found.returncode == 0, found.stderr
    fn, _, _ = make()
    ja.manual_seed(5)
    fn = ja.compile(fn, dynamic=False)
    expected = [fn(ja.ones(n, 3), ja.ones(n, 2), ja.zeros(3), 2.0)[0].item() for n in (7, 10)]
    np.testing.assert_allclose([float(text) for text in found.stdout.split()], expected, rtol=1e-5)


def test_an_archive_of_format_1_with_sizes_loads():
    """It is of `lambda x: (x * w).sum()`, and for 2 to 9 rows."""
    loaded = ja.load(OLD)
    (w,) = loaded.parameters()
    for n in (2, 8, 9):
        w.grad = None
        loss = loaded(ja.ones(n, 3))
        loss.backward()
        assert loss.item() == 6 * n and w.grad.tolist() == [n] * 3


def check_random_program(seed: int, folder: pathlib.Path) -> None:
    """Saves and loads a random function of the laws on sizes, and compares its calls at three sizes."""
    body, steps = make_program(seed)
    w, needs_grad = ja.tensor(rows(4, 4), requires_grad=True), bool(seed % 4)
    fn, dim = lambda x, y: body(x, y, w), ja.sizes.Dim("n", min=13, max=15)
    given = lambda n: (ja.tensor(rows(n, 4), requires_grad=needs_grad), ja.tensor(rows(n)))
    path = folder / "f.jaxaot"
    ja.export(fn, *given(14), dynamic_shapes=({0: dim}, {0: dim}), buckets=[16]).save(path)
    loaded, compiled = ja.load(path), ja.compile(fn, dynamic=False)
    mine = next(iter(loaded.parameters()), w)
    for n in (13, 15, 13):
        outcomes = []
        for call, weight in ((compiled, w), (loaded, mine)):
            ja.manual_seed(n)
            x, y = given(n)
            results, weight.grad = call(x, y), None
            if wanted := [result.sum() for result in results if result.requires_grad]:
                sum(wanted).backward()
            outcomes.append([results, x, y, x.grad, weight.grad])
        check_alike(*outcomes, **tolerances(steps))


def test_a_random_program(tmp_path):
    check_random_program(1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 40))
def test_random_programs(seed, tmp_path):
    check_random_program(seed, tmp_path)
