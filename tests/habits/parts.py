"""What programs of habits are made of: the same numbers for PyTorch and jaxaot."""


def ramp(t, *shape, at=0.0):
    """Returns a tensor of numbers that look like any, (3, 4) by default."""
    shape = shape or (3, 4)
    n = 1
    for size in shape:
        n *= size
    return (t.arange(n, dtype=t.float32).reshape(shape) * 0.7 + float(at)).sin()


def row(t):
    """Returns a tensor of shape (4,)."""
    return ramp(t, 4)


def fill(t, module, at=0.0):
    """Gives the parameters of a module the same numbers in both packages, and returns it."""
    with t.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(ramp(t, *p.shape, at=at + i))
    return module


def linear(t, at=0.0):
    """Returns a layer from 4 to 4."""
    return fill(t, t.nn.Linear(4, 4), at)


def mlp(t):
    """Returns two layers with a ReLU between, and a head of 4."""
    return fill(t, t.nn.Sequential(t.nn.Linear(4, 4), t.nn.ReLU(), t.nn.Linear(4, 4)))


def train(t, model, opt, x):
    """Takes one step, and returns the loss."""
    opt.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    opt.step()
    return loss.detach()
