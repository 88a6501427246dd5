"""Files that `torch.save` wrote are read without PyTorch, and nothing of them is run."""

import io
import pickle
import sys
import types
import zipfile

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.archive.of_pytorch import _Unpickler


@pytest.fixture
def wrote(tmp_path, monkeypatch):
    """Returns what writes a value as `torch.save` does; pairs of an array and strides in elements are tensors in it."""
    fake = types.ModuleType("torch")
    made = types.ModuleType("torch._utils")
    for name in ("FloatStorage", "LongStorage"):
        setattr(fake, name, type(name, (), {"__module__": "torch", "__qualname__": name}))

    def _rebuild_tensor_v2():
        pass

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    made._rebuild_tensor_v2 = _rebuild_tensor_v2
    for module in (fake, made):
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def write(value):
        class Pickler(pickle.Pickler):
            def persistent_id(self, given):
                if not isinstance(given, np.ndarray):
                    return None
                stored[str(len(stored))] = given.tobytes()
                kind = fake.FloatStorage if given.dtype == np.float32 else fake.LongStorage
                return ("storage", kind, str(len(stored) - 1), "cuda:0", given.size)

            def reducer_override(self, given):
                if isinstance(given, range):  # stands for a tensor: 2 by 3 of six numbers, transposed
                    return made._rebuild_tensor_v2, (np.arange(8, dtype=np.float32), 2, (2, 3), (1, 2), False, {})
                return NotImplemented

        stored, path = {}, tmp_path / "x.pt"
        with zipfile.ZipFile(path, "w") as archive:
            with archive.open("x/data.pkl", "w") as file:
                Pickler(file, 2).dump(value)
            for key, content in stored.items():
                archive.writestr(f"x/data/{key}", content)
        return path

    return write


def test_tensors_and_what_is_around_them_come_back(wrote):
    loaded = ja.load(wrote({"w": range(1), "epoch": 3, "names": ["a", None]}), map_location="cpu")
    assert loaded["w"].tolist() == [[2, 4, 6], [3, 5, 7]] and loaded["w"].is_contiguous()
    assert (loaded["epoch"], loaded["names"]) == (3, ["a", None])


def test_no_object_is_made_where_the_file_is_not_trusted(wrote):
    path = wrote({"path": types.SimpleNamespace(a=1)})
    with pytest.raises(ja.errors.SavedFileError, match=r"`types.SimpleNamespace`.*weights_only=False"):
        ja.load(path)
    assert ja.load(path, weights_only=False)["path"].a == 1


def test_a_damaged_file_is_named(wrote):
    path = wrote({"w": range(1)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02cut")
    with pytest.raises(ja.errors.SavedFileError, match=r"x.pt is damaged"):
        ja.load(path)


@pytest.mark.oracle
def test_a_checkpoint_of_pytorch_is_resumed(tmp_path):
    import torch

    make = lambda t: t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4))
    theirs, ours = make(torch), make(ja)
    optimizer = torch.optim.Adam(theirs.parameters())
    theirs(torch.ones(5, 3)).square().sum().backward()
    optimizer.step()
    extra = {"half": torch.arange(6, dtype=torch.bfloat16).view(2, 3).t(), "size": torch.Size([1]), "d": torch.float16}
    torch.save({"model": theirs.state_dict(), "optimizer": optimizer.state_dict(), **extra}, tmp_path / "c.pt")
    loaded = ja.load(tmp_path / "c.pt")
    ours.load_state_dict(loaded["model"])
    ja.optim.Adam(ours.parameters()).load_state_dict(loaded["optimizer"])
    for name, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[name].detach().numpy(), value.numpy())
    assert loaded["half"].dtype == ja.bfloat16 and loaded["half"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (loaded["size"], loaded["d"]) == ((1,), ja.float16)


@pytest.mark.parametrize("tensor", [(3, (2, 3), (1, 2)), (0, (9,), (1,)), (0, (2,), (-1,)), (-1, (2,), (1,))])
def test_a_tensor_that_leaves_its_storage_is_refused(tensor):
    storage = np.arange(8, dtype=np.float32)
    with pytest.raises(ValueError, match="leaves its storage of 8 elements"):
        _Unpickler(io.BytesIO(), lambda key: b"", None, False)._tensor(storage, *tensor, False, {})
