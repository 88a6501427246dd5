"""A small GPT, for one device and for many: its code does not say which."""

import numpy as np

import jaxaot as ja

F = ja.nn.functional


class Block(ja.nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2 = ja.nn.LayerNorm(width), ja.nn.LayerNorm(width)
        self.qkv, self.out = ja.nn.Linear(width, 3 * width), ja.nn.Linear(width, width)
        self.up, self.down = ja.nn.Linear(width, 4 * width), ja.nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, d = x.shape
        heads = self.qkv(self.norm1(x)).view(b, t, 3, self.n_heads, d // self.n_heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(ja.nn.Module):
    def __init__(self, n_layers=2, width=32, n_heads=4, n_characters=32, context=16):
        super().__init__()
        self.characters, self.places = ja.nn.Embedding(n_characters, width), ja.nn.Embedding(context, width)
        self.blocks = ja.nn.ModuleList([Block(width, n_heads) for _ in range(n_layers)])
        self.norm, self.head = ja.nn.LayerNorm(width), ja.nn.Linear(width, n_characters)

    def forward(self, ids):
        x = self.characters(ids) + self.places(ja.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Wide(ja.nn.Module):
    """A layer of two matrices."""

    def __init__(self, width):
        super().__init__()
        self.up, self.down = ja.nn.Linear(width, 2 * width), ja.nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(self.up(x).tanh())


class Net(ja.nn.Module):
    """A network that compiles in little time, with the inputs and outputs of the GPT."""

    def __init__(self, n_layers=2, width=32, n_characters=32):
        super().__init__()
        self.characters = ja.nn.Embedding(n_characters, width)
        self.blocks = ja.nn.ModuleList([Wide(width) for _ in range(n_layers)])
        self.head = ja.nn.Linear(width, n_characters)

    def forward(self, ids):
        x = self.characters(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_of(model, ids):
    """Returns the loss of predicting each character from those before it."""
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def batches(n, n_rows=8, n_columns=17, n_characters=32, seed=0):
    """Returns batches of sequences that rise by small steps."""
    rng = np.random.default_rng(seed)
    return [np.cumsum(rng.integers(0, 3, (n_rows, n_columns)), 1) % n_characters for _ in range(n)]


def train(model, place, n_steps, how, kind="AdamW", **options):
    """Returns the losses of some steps: eagerly, with a compiled forward, or as one compiled step."""
    optimizer = getattr(ja.optim, kind)(model.parameters(), **options)
    forward = ja.compile(lambda ids: loss_of(model, ids)) if how == "forward" else lambda ids: loss_of(model, ids)

    def step(ids):
        optimizer.zero_grad()
        loss = forward(ids)
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = ja.compile(step) if how == "step" else step
    return [float(step(place(ids))) for ids in batches(n_steps)]
