"""Files of tensors: what comes back, what PyTorch reads and writes, what is refused, and that writes are whole."""

import argparse
import os
import stat
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

import jaxaot as ja
from tests.seeds import seeds

DTYPES = [
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "int8",
    "int32",
    "uint8",
    "bool",
    "complex64",
]


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        return all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        return all(map(same, one, other))
    if isinstance(one, (ja.Tensor, jax.Array, np.ndarray)):
        assert one.dtype == other.dtype and tuple(one.shape) == tuple(other.shape)
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
        return True
    return one == other or one != one


def nested(rng, depth=0):
    """Returns a random value that can be saved."""
    kind = rng.integers(0, 8 if depth < 3 else 5)
    if kind < 3:
        shape = tuple(rng.integers(0, 4, rng.integers(0, 3)))
        array = rng.normal(size=shape).astype(rng.choice([np.float32, np.int32, np.bool_]))
        return [ja.from_numpy, jnp.asarray, np.array][kind](array)
    if kind == 3:
        return [3, -2.5, True, None, "text", "é", 10**30, float("inf")][rng.integers(0, 8)]
    if kind == 4:
        return []
    items = [nested(rng, depth + 1) for _ in range(rng.integers(0, 4))]
    keys = ["a", "a.b", 3, "", "0"]
    return [items, tuple(items), {keys[i]: item for i, item in enumerate(items)}][kind - 5]


@pytest.mark.parametrize("seed", seeds(12, 4))
def test_random_values_come_back(seed, tmp_path):
    value = {"a": nested(np.random.default_rng(seed)), "b": nested(np.random.default_rng(seed + 100))}
    ja.save(value, tmp_path / "x")
    assert same(ja.load(tmp_path / "x"), value)
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.few(6)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_comes_back(dtype, tmp_path):
    x = ja.tensor([[0, 1], [2, 3]]).to(dtype).t()
    ja.save({"x": x, "one": x[0, 1]}, tmp_path / "x")
    assert same(ja.load(tmp_path / "x"), {"x": x, "one": x[0, 1]})


@pytest.mark.slow
def test_a_run_is_saved_and_resumed(tmp_path):
    def made():
        ja.manual_seed(0)
        model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.BatchNorm1d(4), ja.nn.Dropout(0.5))
        optimizer = ja.optim.AdamW(model.parameters(), lr=0.1)
        schedule = ja.optim.lr_scheduler.StepLR(optimizer, 2)

        @ja.compile
        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss

        return model, optimizer, schedule, step

    x = ja.linspace(-1, 1, 12).reshape(4, 3)
    parts = made()
    for _ in range(3):
        parts[3](x)
    states = {"parts": [part.state_dict() for part in parts[:3]], "rng": ja.get_rng_state()}
    ja.save(states, tmp_path / "run.safetensors")
    expected = [parts[3](x).item() for _ in range(3)]
    others = made()
    ja.manual_seed(7)
    loaded = ja.load(tmp_path / "run.safetensors")
    for part, state in zip(others[:3], loaded["parts"], strict=True):
        part.load_state_dict(state)
    ja.set_rng_state(loaded["rng"])
    assert [others[3](x).item() for _ in range(3)] == expected


def test_a_dict_of_tensors_is_a_plain_file(tmp_path):
    model = ja.nn.Linear(2, 3)
    ja.save(model.state_dict(), tmp_path / "w.safetensors")
    assert set(safetensors.numpy.load_file(tmp_path / "w.safetensors")) == {"weight", "bias"}
    safetensors.numpy.save_file({"weight": np.ones((3, 2)), "bias": np.zeros(3)}, tmp_path / "other.safetensors")
    model.load_state_dict(ja.load(tmp_path / "other.safetensors"))
    assert model.weight.tolist() == [[1, 1]] * 3 and model.weight.dtype == ja.float32


@pytest.mark.oracle
def test_weights_of_pytorch_are_loaded(tmp_path):
    torch = pytest.importorskip("torch")
    import safetensors.torch

    make = lambda nn: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(18, 2))
    theirs, ours = make(torch.nn).eval(), make(ja.nn).eval()
    safetensors.torch.save_file(theirs.state_dict(), tmp_path / "w.safetensors")
    ours.load_state_dict(ja.load(tmp_path / "w.safetensors"))
    x = np.random.default_rng(0).normal(size=(2, 1, 5, 5)).astype(np.float32)
    np.testing.assert_allclose(ours(ja.tensor(x)).tolist(), theirs(torch.tensor(x)).tolist(), rtol=1e-5)
    ja.save(ours.state_dict(), tmp_path / "back.safetensors")
    theirs.load_state_dict(safetensors.torch.load_file(tmp_path / "back.safetensors"))
    half = torch.arange(3, dtype=torch.bfloat16)
    safetensors.torch.save_file({"x": half}, tmp_path / "half.safetensors")
    assert ja.load(tmp_path / "half.safetensors")["x"].dtype == ja.bfloat16


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"loss": lambda x: x}, "`loss` is of type function"),
        ({"model": ja.nn.ModuleList([type("Own", (ja.nn.Module,), {})()])}, "Save `value.state_dict()`"),
        ({"key": jax.random.key(0)}, "jax.random.key_data"),
    ],
)
def test_what_cannot_be_saved_says_what_to_save(value, words, tmp_path):
    (tmp_path / "x").write_text("before")
    with pytest.raises(ja.errors.SavedFileError) as caught:
        ja.save(value, tmp_path / "x")
    assert words in str(caught.value)
    assert (tmp_path / "x").read_text() == "before" and os.listdir(tmp_path) == ["x"]


def test_other_objects_are_read_where_the_file_is_trusted(tmp_path):
    model = ja.nn.Linear(2, 1)
    value = {"model": model, "args": argparse.Namespace(lr=0.1), "by": {(1, 2): 3j}, "words": np.array(["a"])}
    with open(tmp_path / "x", "wb") as file:
        ja.save(value, file)
    with pytest.raises(ja.errors.SavedFileError, match=r"`model` is a pickled Linear.*weights_only=False"):
        ja.load(tmp_path / "x")
    with open(tmp_path / "x", "rb") as file:
        loaded = ja.load(file, map_location="cpu", weights_only=False)
    assert same(loaded["model"].weight.detach(), model.weight.detach())
    assert (loaded["args"], loaded["by"], loaded["words"].tolist()) == (value["args"], value["by"], ["a"])


def test_tensors_lie_where_they_are_asked_for(tmp_path):
    ja.save({"x": ja.ones(2)}, tmp_path / "x")
    for where in ("meta", ja.device("meta")):
        assert ja.load(tmp_path / "x", map_location=where)["x"].device.type == "meta"
    for mapped in (None, lambda storage, place: storage, {"cuda:0": "cpu"}):
        assert ja.load(tmp_path / "x", mapped)["x"].tolist() == [1, 1]


@pytest.mark.parametrize("part", [0, 4, 8, 30, 0.5, 0.95])
def test_a_damaged_file_is_named(part, tmp_path):
    ja.save({"a": [ja.arange(100), {"b": 2}]}, tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(content[: part if isinstance(part, int) else int(len(content) * part)])
    with pytest.raises(ja.errors.SavedFileError, match="is not a whole file of safetensors"):
        ja.load(tmp_path / "x")


def test_a_file_that_is_not_there_is_pythons_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ja.load(tmp_path / "x")


def test_a_write_that_fails_leaves_the_file_before(tmp_path, monkeypatch):
    ja.save({"x": ja.ones(2)}, tmp_path / "x")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(safetensors.numpy, "save_file", fail)
    with pytest.raises(OSError, match="no space"):
        ja.save({"x": ja.zeros(2)}, tmp_path / "x")
    assert ja.load(tmp_path / "x")["x"].tolist() == [1, 1] and os.listdir(tmp_path) == ["x"]


def test_files_are_written_as_by_any_program(tmp_path):
    """New files have the mode that the umask leaves, those that are there keep theirs, and links are followed."""
    exported = ja.export(lambda x: x + 1, ja.ones(2))
    for name, save in {"tensors": lambda path: ja.save({"x": ja.ones(2)}, path), "archive": exported.save}.items():
        path, link, gone = tmp_path / name, tmp_path / f"{name}.link", tmp_path / f"{name}.new"
        before = os.umask(0o027)
        try:
            save(path)
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.write_bytes(b"")
        path.chmod(0o604)
        link.symlink_to(name)
        save(link)
        assert link.is_symlink() and path.stat().st_size and stat.S_IMODE(path.stat().st_mode) == 0o604
        (tmp_path / f"{name}.dangling").symlink_to(gone.name)
        save(tmp_path / f"{name}.dangling")
        assert gone.stat().st_size
        with pytest.raises(IsADirectoryError, match=str(tmp_path)):
            save(tmp_path)
        with pytest.raises(FileNotFoundError, match="nowhere"):
            save(tmp_path / "nowhere" / "x")
        if os.path.exists("/dev/full"):
            with pytest.raises(OSError, match="No space left"):
                save("/dev/full")
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_without_safetensors_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ja.errors.MissingExtraError, match="pip install safetensors"):
        ja.save({}, tmp_path / "x")
