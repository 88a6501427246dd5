"""Datasets, samplers and loaders (`torch.utils.data`), in plain Python on NumPy.

Shuffles are drawn by jaxaot's generators: the same seed gives the same order, which is not PyTorch's.
"""

import sys as _sys

from jaxaot._util import show_only_public as _show_only_public
from jaxaot.utils.data.collate import default_collate as default_collate
from jaxaot.utils.data.collate import default_convert as default_convert
from jaxaot.utils.data.datasets import ChainDataset as ChainDataset
from jaxaot.utils.data.datasets import ConcatDataset as ConcatDataset
from jaxaot.utils.data.datasets import Dataset as Dataset
from jaxaot.utils.data.datasets import IterableDataset as IterableDataset
from jaxaot.utils.data.datasets import StackDataset as StackDataset
from jaxaot.utils.data.datasets import Subset as Subset
from jaxaot.utils.data.datasets import TensorDataset as TensorDataset
from jaxaot.utils.data.datasets import random_split as random_split
from jaxaot.utils.data.loader import DataLoader as DataLoader
from jaxaot.utils.data.samplers import BatchSampler as BatchSampler
from jaxaot.utils.data.samplers import RandomSampler as RandomSampler
from jaxaot.utils.data.samplers import Sampler as Sampler
from jaxaot.utils.data.samplers import SequentialSampler as SequentialSampler
from jaxaot.utils.data.samplers import SubsetRandomSampler as SubsetRandomSampler
from jaxaot.utils.data.samplers import WeightedRandomSampler as WeightedRandomSampler
from jaxaot.utils.data.workers import get_worker_info as get_worker_info

for _theirs, _ours in {"dataloader": "loader", "dataset": "datasets", "sampler": "samplers"}.items():
    globals()[_theirs] = _sys.modules[f"{__name__}.{_theirs}"] = _sys.modules[f"{__name__}.{_ours}"]
_show_only_public(globals())
