"""Trains a layer over processes, and prints the losses: started by the launcher, or by itself on one device."""

import jax
import numpy as np

import jaxaot as ja
from jaxaot.distributed import Shard, distribute_tensor, from_local, fully_shard, init_device_mesh

mesh = init_device_mesh("cpu", mesh_dim_names=("d",))
ja.manual_seed(0)
model = fully_shard(ja.nn.Linear(8, 8), mesh)
optimizer = ja.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
rng = np.random.default_rng(0)


@ja.compile
def step(x, y):
    optimizer.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


losses = []
for _ in range(3):
    x, y = (distribute_tensor(rng.normal(size=(4, 8)).astype("f"), mesh, [Shard(0)]) for _ in range(2))
    losses.append(float(step(x, y)))
assert model.weight.grad.placements == model.weight.placements == (Shard(0),)
mine = from_local(np.full((2, 3), jax.process_index(), np.float32), mesh, [Shard(0)])
print("losses", *(f"{loss:.7f}" for loss in losses), "total", float(mine.sum()), "devices", jax.device_count())
