"""Checks what users' type checkers say of jaxaot: `python tools/check_types.py`, with pyright and mypy installed.

Both read, in strict mode, the code of README.md, of the notebooks and of the examples, and `PROBE`, which is annotated
and says what types are expected. What the code leaves unannotated of its own, and what JAX's types leave unknown, is no
fault of jaxaot's and is not counted.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]

PROBE = """
import jax
import jaxaot as ja
import jaxaot.nn.functional as F
from jaxaot.autograd import Function
from jaxaot.autograd.graph import saved_tensors_hooks

x = ja.zeros(2, 3)
y = ja.matmul(x, x.T).relu().add_(1)
y[1:].mul_(2)
parts = ja.split(x, 1)
z = 2 * x + x / 3 - x**2
inverse = ja.linalg.inv(ja.eye(3, dtype=ja.float32))
pooled, places = F.max_pool2d(ja.randn(1, 1, 4, 4), 2, return_indices=True)
with saved_tensors_hooks(lambda t: t, lambda t: t), ja.no_grad(), ja.config(policy="save_all"):
    pass

@ja.compile
def step(a: ja.Tensor, n: int) -> ja.Tensor:
    return a * n

@ja.compile(memory_budget=0.5)
def budgeted(a: ja.Tensor) -> ja.Tensor:
    return a

@ja.jit
def jitted(a: jax.Array) -> jax.Array:
    return a

@ja.remat
def loss(a: jax.Array) -> jax.Array:
    return a.sum()

@ja.utils.checkpoint.checkpoint
def block(a: ja.Tensor) -> ja.Tensor:
    return a.sin()

class Net(ja.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = ja.nn.Sequential(ja.nn.Linear(3, width), ja.nn.BatchNorm1d(width), ja.nn.ReLU(), ja.nn.Dropout(0.1))
        self.head = ja.nn.Linear(width, 2)
        self.scale = ja.nn.Parameter(ja.ones(1))

    def forward(self, x: ja.Tensor) -> ja.Tensor:
        return self.head(self.body(x)) * self.scale

net = Net(4).train()
optimizer = ja.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
schedule = ja.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)

@ja.compile(mode="reduce-overhead", fullgraph=True)
def train(images: ja.Tensor, labels: ja.Tensor) -> ja.Tensor:
    optimizer.zero_grad(set_to_none=True)
    with ja.autocast("cpu", dtype=ja.bfloat16):
        loss = F.cross_entropy(net(images), labels, label_smoothing=0.1)
    loss.backward()
    ja.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return loss.detach()

for epoch in range(2):
    average = float(train(x, ja.tensor([0, 1])).mean())
    schedule.step()
ja.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, "run.safetensors")
net.load_state_dict(ja.load("run.safetensors")["model"])
names = [name for name, weight in net.named_parameters() if weight.requires_grad]
flat = ja.cat([weight.detach().flatten() for weight in net.parameters()])
mask = (x > 0) & ~(x == 1)
x[mask] = 0.0
array = x.detach().cpu().numpy()

partition = ja.trace(step, x, 3).joint().partition(policy="min_cut", memory_budget=0.3)
print(partition.plan.saved_bytes, step.cache_info().hits)
step.explain(x, 3)

reveal_type(x)  # Tensor
reveal_type(y)  # Tensor
reveal_type(z)  # Tensor
reveal_type(x.shape)  # Size
reveal_type(x.size(0))  # int
reveal_type(parts)  # tuple[Tensor, ...]
reveal_type(ja.max(x, 1).values)  # Tensor
reveal_type(x.max(dim=0)[1])  # Tensor
reveal_type(pooled)  # Tensor
reveal_type(F.max_pool2d(pooled, 2))  # Tensor
reveal_type(step(x, 3))  # Tensor
reveal_type(budgeted(x))  # Tensor
reveal_type(jitted)  # Jitted[(a: Array), Array]
reveal_type(block(x))  # Tensor
reveal_type(ja.utils.checkpoint.checkpoint(block, x))  # Tensor
reveal_type(train(x, y))  # Tensor
reveal_type(net.head.weight.grad)  # Tensor | None
reveal_type(x.detach().cpu().float())  # Tensor
reveal_type(x.mean().item())  # Any
reveal_type(F.cross_entropy(x, y))  # Tensor
reveal_type(net.train())  # Net
reveal_type(ja.nn.utils.clip_grad_norm_(net.parameters(), 1.0))  # Tensor
reveal_type(flat)  # Tensor
reveal_type(mask)  # Tensor
reveal_type(array)  # ndarray[tuple[Any, ...], dtype[Any]]
reveal_type(ja.value_and_grad(loss))  # (a: Array) -> tuple[Array, Any]
reveal_type(ja.remat(loss))  # Rematerialized[(a: Array), Array]
reveal_type(loss.partition(jax.numpy.ones(3)))  # Partition
step("no tensor", 3)  # error
"""

OWN = {
    "reportMissingParameterType", "reportUnknownParameterType", "reportUnknownArgumentType", "reportUnknownLambdaType",
    "union-attr", "assignment", "reportAssignmentType", "reportOptionalMemberAccess", "reportOptionalOperand",
    "reportUnusedExpression", "reportUnusedImport", "reportUnusedVariable", "reportRedeclaration", "no-untyped-def",
    "reportConstantRedefinition", "no-redef", "reportMissingTypeArgument", "type-arg", "reportMissingModuleSource",
    "reportUnusedFunction", "reportMissingTypeStubs", "import-untyped", "import-not-found", "reportMissingImports",
    "reportUntypedBaseClass", "reportUnusedClass", "reportUnknownVariableType", "no-untyped-call", "var-annotated",
    "reportPossiblyUnboundVariable", "reportPossiblyUnbound", "reportUndefinedVariable", "name-defined",
    "no-any-return",
    "reportUnusedCoroutine", "reportIncompatibleMethodOverride", "override", "reportUnnecessaryComparison",
    "reportPrivateUsage",
}  # fmt: skip
"""Rules on what the code itself leaves out, or on what it does not import."""

ELSEWHERE = re.compile(r"\b(jnp|jax|nnx|linen|optax|np|numpy|plt|axes|ax|flax|matplotlib)\b")
"""Where a line with an unknown member names one of these, its type is not jaxaot's."""


_SUM = re.compile(r"\bsum\(.* for ")
"""Python's `sum` begins with the int 0, so that its type is not that of the summands alone."""


def sources() -> dict[str, str]:
    """Returns the code of README.md and of each notebook, by the name of a module, and the probe."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = {"probe": PROBE, "readme": "\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        lines = "\n".join(code).splitlines()
        found[f"notebook_{path.stem}"] = "\n".join("" if line.startswith(("%", "!")) else line for line in lines)
    for path in sorted((ROOT / "examples").glob("*.py")):
        if not path.stem.endswith("_torch"):
            found[f"example_{path.stem}"] = path.read_text(encoding="utf-8")
    return found


def run_pyright(folder: pathlib.Path) -> list[tuple[str, int, str, str]]:
    """Returns what pyright says: (module, line, rule, message)."""
    settings = {"typeCheckingMode": "strict", "include": ["."], "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable]
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    return [
        (
            pathlib.Path(d["file"]).stem,
            d["range"]["start"]["line"] + 1,
            d.get("rule", d["severity"]),
            d["message"].splitlines()[0],
        )
        for d in json.loads(output)["generalDiagnostics"]
    ]


def run_mypy(folder: pathlib.Path) -> list[tuple[str, int, str, str]]:
    """Returns what mypy says, in the same form."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    files = sorted(path.name for path in folder.glob("*.py"))
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    result = subprocess.run(
        [*command, *files], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    pattern = re.compile(r"^(\w+)\.py:(\d+): (error|note): (.*?)(?:  \[([\w-]+)\])?$", re.MULTILINE)
    return [(m[1], int(m[2]), m[5] or m[3], m[4]) for m in pattern.finditer(result.stdout)]


def problems(name: str, said: list[tuple[str, int, str, str]], lines: dict[str, list[str]]) -> list[str]:
    """Returns what a checker finds wrong with jaxaot's types."""
    found, is_refused = [], False
    for module, line, rule, message in said:
        text = lines[module][line - 1] if module in lines else ""
        shown = f"{name}: {module}:{line}: {message} [{rule}]\n    {text.strip()}"
        if text.startswith("reveal_type("):
            if rule in ("information", "note"):
                expected = text.partition("#")[2].strip()
                if name == "pyright" and f'is "{expected}"' not in message:
                    found.append(shown)
                if name == "mypy" and ("Any" in message) > ("Any" in expected):
                    found.append(shown)
            continue
        if text.endswith("# error"):
            is_refused = True
        elif (
            rule not in OWN
            and rule not in ("information", "note", "warning")
            and not _is_elsewhere(rule, text, message)
        ):
            found.append(shown)
    return found if is_refused else [*found, f"{name}: a wrong argument of a compiled function is not refused"]


def _is_elsewhere(rule: str, text: str, message: str) -> bool:
    """Returns whether a type that is not jaxaot's is at fault, or a gradient that may be None."""
    if rule == "reportUnknownMemberType":  # of a value whose type the code leaves open, or of JAX's
        unknown = re.match(r'Type of "(\w+)"', message)
        return unknown is None or not re.search(rf"\bja\.[\w.]*\b{unknown[1]}\b", text)
    is_open = "Unknown" in message or "None" in message or message.startswith('"Array"')
    return is_open or bool(ELSEWHERE.search(text)) or bool(_SUM.search(text))


def main() -> int:
    """Prints what is wrong, and returns how much."""
    code = sources()
    lines = {module: text.splitlines() for module, text in code.items()}
    with tempfile.TemporaryDirectory() as folder:
        for module, text in code.items():
            pathlib.Path(folder, f"{module}.py").write_text(text, encoding="utf-8")
        found = problems("pyright", run_pyright(pathlib.Path(folder)), lines)
        found += problems("mypy", run_mypy(pathlib.Path(folder)), lines)
    print("\n".join(found) or f"pyright and mypy find nothing wrong with jaxaot's types in {len(code)} files")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
