"""Trains the GPT over processes, and prints the losses: started by the launcher, or by itself on one device."""

import pathlib
import sys

import jaxaot as ja
from jaxaot.distributed import Shard, distribute_tensor, fully_shard, init_device_mesh

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "four"))

from gpt import GPT, train

mesh = init_device_mesh("cpu", mesh_dim_names=("d",))
ja.manual_seed(0)
model = GPT(n_layers=4)
for block in model.blocks:
    fully_shard(block, mesh)
fully_shard(model, mesh)
losses = train(model, lambda ids: distribute_tensor(ja.tensor(ids), mesh, [Shard(0)]), 20, "step", lr=3e-3)
print("losses", *(f"{loss:.7f}" for loss in losses), "total")
