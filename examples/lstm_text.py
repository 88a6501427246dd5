"""A language model of characters: an LSTM whose state is carried from step to step, saved and resumed."""

from __future__ import annotations

import os
import tempfile

import numpy as np

import jaxaot as ja
from jaxaot import nn

TEXT = " ".join(
    f"{n} times {m} is {n * m}, and {n * m} is {n} times {m}; {n} and {m} make {n + m}."
    for n in range(12)
    for m in range(12)
)
LETTERS = sorted(set(TEXT))
State = tuple[ja.Tensor, ja.Tensor]


class Model(nn.Module):
    """Characters to logits of those that follow."""

    def __init__(self, n_features: int = 96) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 24)
        self.lstm = nn.LSTM(24, n_features, batch_first=True)
        self.head = nn.Linear(n_features, len(LETTERS))

    def forward(self, letters: ja.Tensor, state: State | None = None) -> tuple[ja.Tensor, State]:
        hidden, after = self.lstm(self.embedding(letters), state)
        return self.head(hidden), after


def rows_of(batch: int) -> np.ndarray:
    """Returns the text as rows of numbers, which go on where the row before ends."""
    numbers = np.array([LETTERS.index(letter) for letter in TEXT], np.int32)
    return numbers[: len(numbers) // batch * batch].reshape(batch, -1)


def main(n_epochs: int = 8, batch: int = 16, n_steps: int = 32) -> list[float]:
    """Trains, and returns the mean loss of each epoch, in nats for a character."""
    ja.manual_seed(0)
    model = Model()
    optimizer = ja.optim.AdamW(model.parameters(), lr=1e-2)
    rows = rows_of(batch)
    n_parts = (rows.shape[1] - 1) // n_steps
    schedule = ja.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=n_epochs * n_parts, cycle_momentum=False)

    @ja.compile
    def step(letters: ja.Tensor, following: ja.Tensor, state: State) -> tuple[ja.Tensor, State]:
        optimizer.zero_grad()
        logits, (hidden, cell) = model(letters, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach(), (hidden.detach(), cell.detach())

    path, losses = os.path.join(tempfile.mkdtemp(), "run.safetensors"), []
    for epoch in range(n_epochs):
        state = (ja.zeros(1, batch, 96), ja.zeros(1, batch, 96))
        found = []
        for part in range(n_parts):
            here = rows[:, part * n_steps : (part + 1) * n_steps + 1]
            loss, state = step(ja.from_numpy(here[:, :-1]), ja.from_numpy(here[:, 1:]), state)
            schedule.step()
            found.append(loss)
        losses.append(ja.stack(found).mean().item())
        print(f"epoch {epoch}: {losses[-1]:.3f} nats for a character")
        # what a run that was interrupted goes on from
        ja.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": ja.get_rng_state()}, path)
    saved = ja.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    print(sampled(model, "7 times 8 is "))
    return losses


def sampled(model: Model, text: str, n: int = 40) -> str:
    """Returns a text with the most likely characters that follow."""

    @ja.compile
    def following(
        letter: ja.Tensor, state: tuple[ja.Tensor, ja.Tensor]
    ) -> tuple[ja.Tensor, tuple[ja.Tensor, ja.Tensor]]:
        with ja.no_grad():
            logits, state = model(letter, state)
            return logits[:, -1].argmax(1, keepdim=True), state

    state = (ja.zeros(1, 1, 96), ja.zeros(1, 1, 96))
    for letter in text:
        found, state = following(ja.tensor([[LETTERS.index(letter)]]), state)
    for _ in range(n):
        text += LETTERS[found.item()]
        found, state = following(found, state)
    return text


if __name__ == "__main__":
    main()
