"""Deep Q-learning: a walker learns a row of places; its target network follows in place."""

from __future__ import annotations

import copy

import numpy as np

import jaxaot as ja
from jaxaot import nn

N_PLACES, GOAL = 8, 7


def moved(places: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns places after steps to the left (0) or right (1), rewards, and whether that was the end."""
    after = np.clip(places + 2 * actions - 1, 0, N_PLACES - 1)
    ends = after == GOAL
    return after, np.where(ends, 1.0, -0.01).astype(np.float32), ends


def main(n_steps: int = 400, batch: int = 64, discount: float = 0.9, follow: float = 0.05) -> tuple[list[int], float]:
    """Returns the best action at each place but the goal, and the value of the first place."""
    ja.manual_seed(0)
    online = nn.Sequential(nn.Embedding(N_PLACES, 16), nn.ReLU(), nn.Linear(16, 2))
    target = copy.deepcopy(online).requires_grad_(False)
    optimizer = ja.optim.Adam(online.parameters(), lr=1e-2)

    @ja.compile
    def learn(
        places: ja.Tensor, actions: ja.Tensor, rewards: ja.Tensor, after: ja.Tensor, ends: ja.Tensor
    ) -> ja.Tensor:
        optimizer.zero_grad()
        value = online(places).gather(1, actions[:, None])[:, 0]
        with ja.no_grad():
            goal = rewards + discount * target(after).amax(1) * ~ends
        loss = nn.functional.smooth_l1_loss(value, goal)
        loss.backward()
        optimizer.step()
        with ja.no_grad():
            for slow, fast in zip(target.parameters(), online.parameters(), strict=True):
                slow.lerp_(fast, follow)
        return loss

    rng = np.random.default_rng(0)
    for n in range(n_steps):
        places = rng.integers(0, GOAL, batch).astype(np.int32)
        actions = rng.integers(0, 2, batch).astype(np.int32)
        after, rewards, ends = moved(places, actions)
        loss = learn(*map(ja.from_numpy, (places, actions, rewards, after.astype(np.int32), ends)))
        if n % 100 == 0:
            print(f"step {n}: loss {loss.item():.4f}")
    with ja.no_grad():
        values = online(ja.arange(GOAL))
    policy = values.argmax(1).tolist()
    print("policy:", "".join("←→"[action] for action in policy))
    return policy, values[0].max().item()


if __name__ == "__main__":
    main()
