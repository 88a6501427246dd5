"""Datasets, samplers and loaders: what PyTorch's give, in orders that a seed of ours decides."""

import collections

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.utils import data
from tests.cases import each

Pair = collections.namedtuple("Pair", "x y")


class Squares(data.Dataset):
    def __init__(self, n=10, bad=None):
        self.n, self.bad = n, bad

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.bad:
            raise KeyError(f"no sample {i}")
        return {"x": np.full(2, i, np.float32), "y": i * i, "name": str(i)}


class Stream(data.IterableDataset):
    def __init__(self, first=0, last=10):
        self.first, self.last = first, last

    def __iter__(self):
        return iter(range(self.first, self.last))

    def __len__(self):
        return self.last - self.first


def share(number):
    info = data.get_worker_info()
    assert info.id == number and info.num_workers == 2
    info.dataset.first, info.dataset.last = (0, 3) if number == 0 else (3, 10)


def listed(loader):
    return [batch["y"].tolist() for batch in loader]


def test_batches_are_stacked_samples():
    (first, *_, last) = data.DataLoader(Squares(), 4)
    assert first["x"].tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]] and first["y"].dtype == ja.tensor(1).dtype
    assert first["name"] == ["0", "1", "2", "3"] and last["y"].tolist() == [64, 81]
    assert listed(data.DataLoader(Squares(), 4, drop_last=True)) == [[0, 1, 4, 9], [16, 25, 36, 49]]
    assert [len(data.DataLoader(Squares(), 4, drop_last=last)) for last in (False, True)] == [3, 2]
    assert data.DataLoader(Squares(3), batch_size=None).dataset[1]["y"] == 1
    assert next(iter(data.DataLoader(Squares(3), None)))["x"].tolist() == [0, 0]
    assert list(data.DataLoader(Squares(3), 2, collate_fn=len)) == [2, 1]


def test_a_shuffle_is_decided_by_a_seed_and_goes_on():
    ja.manual_seed(0)
    loader = data.DataLoader(Squares(100), 100, shuffle=True)
    epochs = [listed(loader)[0] for _ in range(2)]
    ja.manual_seed(0)
    state = ja.get_rng_state()
    again = [listed(data.DataLoader(Squares(100), 100, shuffle=True, num_workers=2))[0] for _ in range(2)]
    assert epochs == again and epochs[0] != epochs[1] and sorted(epochs[0]) == [i * i for i in range(100)]
    ja.set_rng_state(state)
    assert listed(loader)[0] == epochs[0]
    own = [data.DataLoader(Squares(), 10, True, generator=ja.Generator().manual_seed(3)) for _ in range(2)]
    assert listed(own[0]) == listed(own[1])


@each("options", [{}, {"num_workers": 1}, {"num_workers": 3, "prefetch_factor": 1, "persistent_workers": True}])
def test_workers_keep_the_order_and_tell_errors(options):
    loader = data.DataLoader(Squares(), 3, **options)
    assert listed(loader) == listed(loader) == [[0, 1, 4], [9, 16, 25], [36, 49, 64], [81]]
    next(iter(loader))  # an epoch that is left early
    assert listed(loader)[0] == [0, 1, 4]
    with pytest.raises(KeyError, match="no sample 7"):
        list(data.DataLoader(Squares(bad=7), 3, **options))
    assert data.get_worker_info() is None


@each("workers", [0, 2])
def test_a_stream_is_shared_among_workers(workers):
    loader = data.DataLoader(Stream(), 2, num_workers=workers, worker_init_fn=share if workers else None)
    expected = [[0, 1], [3, 4], [2], [5, 6], [7, 8], [9]] if workers else [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert [batch.tolist() for batch in loader] == expected and len(loader) == 5
    assert (loader.dataset.first, loader.dataset.last) == (0, 10)  # workers have copies
    assert [x.tolist() for x in data.DataLoader(Stream(0, 5), 2, drop_last=True)] == [[0, 1], [2, 3]]


@pytest.mark.slow
def test_workers_are_processes_where_that_is_asked_for():
    loader = data.DataLoader(Squares(), 4, num_workers=2, multiprocessing_context="spawn", persistent_workers=True)
    assert listed(loader) == listed(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    options = {"num_workers": 2, "multiprocessing_context": "spawn"}
    stream = data.DataLoader(Stream(), 2, worker_init_fn=share, **options)
    assert [batch.tolist() for batch in stream] == [[0, 1], [3, 4], [2], [5, 6], [7, 8], [9]]
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 1"):
        list(data.DataLoader(Squares(bad=7), 4, **options))


def test_rows_of_tensors_are_batches():
    x, y = ja.arange(20).reshape(10, 2), ja.arange(10)
    rows = data.TensorDataset(x, y)
    assert len(rows) == 10 and [part.tolist() for part in rows[3]] == [[6, 7], 3]
    batches = list(data.DataLoader(data.Subset(rows, [1, 3, 5]), 2))
    assert [[part.tolist() for part in batch] for batch in batches] == [[[[2, 3], [6, 7]], [1, 3]], [[[10, 11]], [5]]]
    w = ja.ones(3, requires_grad=True)
    (found,) = next(iter(data.DataLoader(data.TensorDataset(w * 2), 3)))
    found.sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="Size mismatch"):
        data.TensorDataset(x, y[1:])


def test_datasets_are_put_together_and_split():
    both = Squares(3) + Squares(2)
    assert [both[i]["y"] for i in (0, 2, 3, -1)] == [0, 4, 0, 1] and len(both) == 5 and both.cumulative_sizes == [3, 5]
    assert list(Stream(0, 2) + Stream(5, 7)) == [0, 1, 5, 6]
    assert data.StackDataset(a=range(3), b=range(3, 6))[1] == {"a": 1, "b": 4}
    parts = data.random_split(range(10), [0.5, 0.3, 0.2], ja.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [5, 3, 2] and sorted(x for part in parts for x in part) == list(range(10))
    assert [len(part) for part in data.random_split(range(10), [7, 3])] == [7, 3]
    assert [len(part) for part in data.random_split(range(10), [1 / 3, 1 / 3, 1 / 3])] == [4, 3, 3]
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(range(10), [7, 4])


def test_samplers():
    ja.manual_seed(0)
    assert list(data.BatchSampler(data.SequentialSampler(range(5)), 2, False)) == [[0, 1], [2, 3], [4]]
    assert len(list(data.RandomSampler(range(3), num_samples=7))) == 7
    assert len(set(data.RandomSampler(range(100), replacement=True))) < 90
    assert sorted(data.SubsetRandomSampler([4, 6, 8])) == [4, 6, 8]
    drawn = list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 1000))
    assert 0 not in drawn and 650 < drawn.count(2) < 850
    assert sorted(data.WeightedRandomSampler([1.0, 1.0, 5.0], 3, replacement=False)) == [0, 1, 2]


COLLATED = {
    "numbers": [1.5, 2.5],
    "bools": [True, False],
    "tuples": [(1, np.zeros(2)), (2, np.ones(2))],
    "lists": [[1, 2], [3, 4]],
    "named": [Pair(1, "a"), Pair(2, "b")],
    "nested": [{"a": {"b": [np.float32(1)]}}, {"a": {"b": [np.float32(2)]}}],
}


@pytest.mark.oracle
@each("case", COLLATED)
def test_what_is_collated_is_what_pytorch_makes(case):
    torch = pytest.importorskip("torch")

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value).__name__, [plain(item) for item in value]
        return value.tolist() if hasattr(value, "tolist") else value

    assert plain(data.default_collate(COLLATED[case])) == plain(torch.utils.data.default_collate(COLLATED[case]))


REFUSED = {
    "shuffled-stream": (lambda: data.DataLoader(Stream(), shuffle=True), "has its own order"),
    "both": (lambda: data.DataLoader(Squares(), sampler=[1], shuffle=True), "sampler option is mutually exclusive"),
    "batches": (lambda: data.DataLoader(Squares(), 2, batch_sampler=[[1]]), "batch_sampler option is mutually"),
    "prefetch": (lambda: data.DataLoader(Squares(), prefetch_factor=2), "prefetch_factor option could only"),
    "fork": (lambda: data.DataLoader(Squares(), num_workers=1, multiprocessing_context="fork"), "='spawn'"),
    "empty": (lambda: data.RandomSampler([]), "num_samples should be a positive integer"),
    "generator": (lambda: list(data.DataLoader(Squares(), shuffle=True, generator=3)), "is a `ja.Generator`"),
    "lengths": (lambda: data.default_collate([[1], [1, 2]]), "should be of equal size"),
    "objects": (lambda: data.default_collate([object()]), "Write a `collate_fn`"),
    "shapes": (lambda: data.default_collate([ja.ones(2), ja.ones(3)]), "stack"),
}


@each(("use", "words"), list(REFUSED.values()))
def test_what_does_not_go_together_says_so(use, words):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=words):
        use()


def test_a_loader_inside_of_a_compiled_function_has_it_run_eagerly():
    rows = data.DataLoader(data.TensorDataset(ja.arange(4.0)), 2, shuffle=True)

    def total(w):
        return sum((x * w).sum() for (x,) in rows)

    step = ja.compile(total)
    with pytest.warns(ja.errors.RecompileWarning, match="A `DataLoader` is iterated"):
        assert step(ja.tensor(2.0)).item() == 12.0
    rows.dataset.tensors[0].add_(1.0)
    assert step(ja.tensor(2.0)).item() == 20.0
    with pytest.raises(ja.errors.VolatileError):
        ja.compile(total, fullgraph=True)(ja.tensor(2.0))
