"""PyTorch's own modules on JAX; `pip install "jaxaot[torch]"`.

    import jax, jaxaot as ja, torch

    jax.config.update("jax_enable_x64", True)
    model = ja.torch.move(torch.nn.Linear(3, 1))
    optimizer = torch.optim.AdamW(model.parameters())

    @ja.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step(*ja.torch.to_jax((torch.randn(8, 3), torch.randn(8, 1))))

`functional` gives a module as a pure function of arrays, for `jax.jit` and `jax.grad`.

PyTorch is imported when one of these names is first used.
"""

import importlib as _importlib
from importlib.util import find_spec as _find_spec
from typing import Any as _Any

from jaxaot.errors.absent import missing_name as _missing_name

_NAMES = {
    "Tensor": "tensor",
    "backend": "backend",
    "device": "scope",
    "functional": "functional",
    "move": "modules",
    "scope": "scope",
    "to_jax": "exchange",
    "to_torch": "exchange",
}
"""Name → the module of the bridge that has it."""


def __dir__() -> list[str]:
    return sorted(_NAMES) if _find_spec("torch") is not None else []


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        return __dir__()
    if name not in _NAMES:
        raise _missing_name("jaxaot.torch", name, __dir__())
    _importlib.import_module("jaxaot.bridge.modules")  # whose handlers are there then
    found = globals()[name] = getattr(_importlib.import_module(f"jaxaot.bridge.{_NAMES[name]}"), name)
    return found
