"""A long run: mixed precision, accumulated and clipped gradients, averaged weights, and a run that is resumed."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np

import jaxaot as ja
from jaxaot import nn
from jaxaot.optim.swa_utils import AveragedModel, get_ema_avg_fn

sys.path.insert(0, os.path.dirname(__file__))
from real_digits import read_digits


class Run:
    """A model in training, with everything that has to be saved to go on as if nothing had happened."""

    def __init__(self, n_parts: int = 4) -> None:
        ja.manual_seed(0)
        layers = [nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)]
        self.model = nn.Sequential(nn.Flatten(), *layers)
        self.average = AveragedModel(self.model, avg_fn=get_ema_avg_fn(0.95))
        self.optimizer = ja.optim.AdamW(self.model.parameters(), lr=1e-2)
        self.n_parts, self.n_steps = n_parts, 0
        self.images, self.digits = read_digits(1300)
        self.step = ja.compile(self._step)

    def _step(self, x: ja.Tensor, y: ja.Tensor) -> ja.Tensor:
        """Takes one step with the gradients of several parts of a batch, and returns the mean loss."""
        self.optimizer.zero_grad()
        total = ja.zeros(())
        for part, labels in zip(x.chunk(self.n_parts), y.chunk(self.n_parts), strict=True):
            with ja.autocast("cpu", dtype=ja.bfloat16):
                loss = nn.functional.cross_entropy(self.model(part), labels) / self.n_parts
            loss.backward()  # gradients add up
            total += loss.detach()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.average.update_parameters(self.model)
        return total

    def train(self, n_steps: int, batch: int = 128) -> list[float]:
        """Goes on for some steps, and returns their losses."""
        losses = []
        for _ in range(n_steps):
            rows = np.random.default_rng(self.n_steps).integers(0, len(self.images), batch)
            losses.append(self.step(ja.from_numpy(self.images[rows]), ja.from_numpy(self.digits[rows])).item())
            self.n_steps += 1
        return losses

    def state(self) -> dict[str, Any]:
        """Returns all that the next step depends on."""
        state = {"model": self.model.state_dict(), "average": self.average.state_dict()}
        return state | {"optimizer": self.optimizer.state_dict(), "rng": ja.get_rng_state(), "n_steps": self.n_steps}

    def save(self, folder: str) -> None:
        """Writes a checkpoint by orbax, in a folder of its own that is there as a whole or not at all."""
        ja.distributed.save(os.path.join(folder, f"step_{self.n_steps:06}"), self.state())

    def resume(self, folder: str) -> None:
        """Goes on from the latest checkpoint of a folder."""
        state = ja.distributed.load(os.path.join(folder, max(os.listdir(folder))), self.state())
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        ja.set_rng_state(state["rng"])
        self.n_steps = state["n_steps"]

    def accuracy(self) -> float:
        """Returns the share of test images that the average of the weights recognises."""
        images, digits = read_digits(400, first=1300)
        self.average.eval()
        with ja.no_grad():
            found = self.average(ja.from_numpy(images)).argmax(1)
        self.average.train()
        return (found == ja.from_numpy(digits)).float().mean().item()


def main(n_steps: int = 200, n_parts: int = 4) -> tuple[list[float], list[float], float]:
    """Returns the second half's losses, the same of a run that was resumed in between, and the share that is right."""
    run = Run(n_parts)
    with tempfile.TemporaryDirectory() as folder:
        first = run.train(n_steps // 4)
        run.save(folder)
        first += run.train(n_steps // 2 - n_steps // 4)
        run.save(folder)
        straight = run.train(n_steps - n_steps // 2)
        resumed = Run(n_parts)
        resumed.resume(folder)
    again = resumed.train(n_steps - n_steps // 2)
    print(f"loss {first[0]:.3f} to {straight[-1]:.3f}; resumed in between, to {again[-1]:.3f}")
    accuracy = run.accuracy()
    print(f"right: {accuracy:.1%}")
    return straight, again, accuracy


if __name__ == "__main__":
    main()
