"""The tape: forward and backward, eagerly, compiled, with hooks and under autocast, against PyTorch eager.

    python -m benchmarks.autograd [ops] [layers] [gpt] [hooks]

Single ops forward and backward, ten layers of matmul and tanh, a GPT of four layers (the tape, one compiled step with
its backward inside, a compiled forward with a backward outside), and what hooks and autocast add to the ten layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jaxaot as ja
from benchmarks.eager import layers
from benchmarks.runner import Result, arguments, find_torch, measure, report

WIDTH, HEADS, DEPTH, LENGTH, BATCH, VOCABULARY = 128, 4, 4, 64, 4, 256

OPS: dict[str, Callable[[Any, Any], Any]] = {
    "x * x": lambda m, x: x * x,
    "x.tanh()": lambda m, x: x.tanh(),
    "x @ x": lambda m, x: x @ x,
    "x.sum(0)": lambda m, x: x.sum(0),
    "x.t()": lambda m, x: x.t(),
    "softmax": lambda m, x: m.nn.functional.softmax(x, 1),
    "layer_norm": lambda m, x: m.nn.functional.layer_norm(x, (32,)),
    "cross_entropy": lambda m, x: m.nn.functional.cross_entropy(x, m.arange(32)),
}


def ops(torch: Any, n_rounds: int) -> list[Result]:
    """Times single ops of 32 by 32, with the backward from ones."""

    def contestant(m: Any, op: Callable[[Any, Any], Any]) -> Callable[[], Any]:
        x = m.ones(32, 32, requires_grad=True)
        ones = m.ones_like(op(m, x))

        def run() -> Any:
            x.grad = None
            op(m, x).backward(ones)
            return x.grad

        return run

    libraries = {"jaxaot": ja} | ({} if torch is None else {"torch": torch})
    return [
        measure(name, {label: contestant(m, op) for label, m in libraries.items()}, "jaxaot", n_rounds=n_rounds)
        for name, op in OPS.items()
    ]


def parameters(m: Any) -> list[Any]:
    """Returns the weights of a GPT: the embedding, and for each layer those of attention and of the two products."""
    shapes = [(VOCABULARY, WIDTH)]
    shapes += [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)] * DEPTH
    return [(m.randn(*shape) * 0.05).requires_grad_() for shape in shapes]


def gpt_loss(m: Any, weights: list[Any], tokens: Any) -> Any:
    """Returns the mean loss of predicting each token's successor."""
    f = m.nn.functional
    embedding, *blocks = weights
    x = f.embedding(tokens, embedding)
    for i in range(0, len(blocks), 4):
        qkv, out, up, down = blocks[i : i + 4]
        h = f.linear(f.layer_norm(x, (WIDTH,)), qkv).reshape(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = (h[:, :, j].transpose(1, 2) for j in range(3))
        mixed = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + f.linear(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH), out)
        x = x + f.linear(f.gelu(f.linear(f.layer_norm(x, (WIDTH,)), up)), down)
    logits = f.linear(x, embedding)
    return f.cross_entropy(logits[:, :-1].reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))


def gpt(torch: Any, n_rounds: int) -> Result:
    """Times loss and gradients of a GPT."""

    def gradients(m: Any, loss: Callable[..., Any], weights: list[Any], tokens: Any) -> Callable[[], Any]:
        def run() -> Any:
            for w in weights:
                w.grad = None
            loss(m, weights, tokens).backward()
            return weights[0].grad

        return run

    weights, tokens = parameters(ja), ja.randint(0, VOCABULARY, (BATCH, LENGTH))

    step = ja.compile(lambda weights, tokens: ja.autograd.grad(gpt_loss(ja, weights, tokens), weights))
    forward = ja.compile(lambda weights, tokens: gpt_loss(ja, weights, tokens))
    contestants = {
        "jaxaot tape": gradients(ja, gpt_loss, weights, tokens),
        "jaxaot compiled forward, its backward": gradients(
            ja, lambda _, weights, tokens: forward(weights, tokens), weights, tokens
        ),
        "jaxaot one compiled step": lambda: step(weights, tokens)[0],
    }
    tapes = ja.autograd.TapeCompiler()
    tape = contestants["jaxaot tape"]

    def compiled_tape() -> Any:
        with ja.compiler.compiled_autograd(tapes):
            return tape()

    contestants["jaxaot tape, its backward compiled"] = compiled_tape
    if torch is not None:
        theirs = parameters(torch)
        contestants["torch"] = gradients(torch, gpt_loss, theirs, torch.randint(0, VOCABULARY, (BATCH, LENGTH)))
    return measure("GPT of four layers, loss and gradients", contestants, "jaxaot one compiled step", n_rounds=n_rounds)


def hooks(torch: Any, n_rounds: int) -> list[Result]:
    """Times ten layers with hooks on what is saved and on gradients, and under autocast."""

    def contestants(m: Any, prefix: str) -> dict[str, Callable[[], Any]]:
        x, weights = m.randn(8, 32), [m.randn(32, 32, requires_grad=True) for _ in range(10)]

        def run(hook: Any = None) -> Any:
            h = x
            for w in weights:
                w.grad = None
                h = (h @ w).tanh()
                if hook is not None:
                    h.register_hook(hook)
            h.float().sum().backward()
            return weights[0].grad

        def packed() -> Any:
            with m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                return run()

        def cast() -> Any:
            with m.autocast("cpu", dtype=m.bfloat16):
                return run()

        return {
            prefix: run,
            f"{prefix}, tensor hooks": lambda: run(lambda grad: None),
            f"{prefix}, saved tensor hooks": packed,
            f"{prefix}, autocast": cast,
        }

    results = [measure("ten layers, jaxaot", contestants(ja, "plain"), "plain", n_rounds=n_rounds)]
    if torch is not None:
        results.append(measure("ten layers, torch", contestants(torch, "plain"), "plain", n_rounds=n_rounds))
    return results


def main() -> None:
    """Prints the table."""
    parts: dict[str, Callable[[Any, int], Any]] = {"ops": ops, "layers": layers, "gpt": gpt, "hooks": hooks}
    parser = arguments(__doc__)
    parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    options = parser.parse_args()
    torch = find_torch()
    results: list[Result] = []
    for name in options.parts or parts:
        found = parts[name](torch, options.rounds)
        results += found if isinstance(found, list) else [found]
    report("The tape", results, options)


if __name__ == "__main__":
    main()
