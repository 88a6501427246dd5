"""Wrong uses that people try: each error says what was given, by the user's names, and what to write."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors

F = ja.nn.functional


def linear():
    return ja.nn.Linear(3, 4)


def two(x, *more, y, z=1):
    return x


CASES = {
    "a string as an end": (lambda: ja.arange("3"), r"argument 'end' must be Number, not str.*`ja.arange\(3\)`"),
    "a fraction as a size": (lambda: ja.nn.Linear(3.5, 4), r"found 3\.5 of type float\. Divide by `//`"),
    "a list as a tensor": (lambda: linear()([1.0, 2.0, 3.0]), r"argument 'input' must be Tensor, not list.*`ja.tensor"),
    "optax's name of lr": (
        lambda: ja.optim.Adam(linear().parameters(), learning_rate=1e-3),
        r"Adam got an unexpected keyword argument 'learning_rate'\. Did you mean `lr`",
    ),
    "flax's name of bias": (lambda: ja.nn.Linear(3, 4, use_bias=False), r"Linear got an .*Did you mean `bias`"),
    "no name of any": (lambda: ja.nn.Linear(3, 4, foo=1), r"The arguments are: in_features, out_features, bias"),
    "a rate as text": (lambda: ja.optim.SGD(linear().parameters(), lr="0.1"), r"`lr='0\.1'` .* a number is wanted"),
    "one beta": (lambda: ja.optim.Adam(linear().parameters(), betas=0.9), r"`betas=0\.9` .* two numbers"),
    "a function as a module": (lambda: ja.nn.Sequential(linear(), F.relu), r"function is not a Module.*ja.nn.ReLU"),
    "no such module": (lambda: ja.nn.Sequential(linear()).get_submodule("x"), r"`x` that is a module.* are: 0\."),
    "an empty state": (lambda: linear().load_state_dict({}), r"(?s)Missing key.*`strict=False`"),
    "the path of a state": (lambda: linear().load_state_dict("w.safetensors"), r"`ja.load_state\(path\)`"),
    "a module to clip": (lambda: ja.nn.utils.clip_grad_norm_(linear(), 1.0), r"a Linear was given.*`model.parameters"),
    "an unknown gain": (lambda: ja.nn.init.calculate_gain("gelu"), r"gelu.*There are linear"),
    "a folder that is not there": (lambda: ja.save({}, "/nowhere/at/all"), r"os.makedirs\('/nowhere/at'\)"),
    "path and value swapped": (lambda: ja.save("a", {}), r"takes the path second, and was given a dict"),
    "a number as a path": (lambda: ja.load_state(3), r"takes a path, and was given a int"),
    "a word as a flag": (lambda: ja.config(validate_guards="yes"), r"`validate_guards` is True or False, and 'yes'"),
    "a number as a folder": (lambda: ja.config(cache_dir=3), r"`cache_dir` is the path of a folder"),
    "one pass": (lambda: ja.config(passes="cse"), r"`passes` is a tuple of passes: `passes=\('cse',\)`"),
    "a setting without a name": (lambda: ja.config(3), r"settings by name, and was given 3.*`ja.config\(policy="),
    "a setting for all without a name": (lambda: ja.set_config(3), r"`ja.set_config\(policy='save_all'\)`"),
    "a word as a precision": (lambda: ja.autocast(dtype="float16x"), r"'float16x'` is not a dtype.*ja\.bfloat16"),
    "an array to fill": (lambda: ja.nn.init.ones_(np.ones(3)), r"`ones_` writes into .* a numpy\.ndarray.*layer\.wei"),
    "a norm as text": (lambda: ja.nn.utils.clip_grad_norm_([], "1"), r"`max_norm` is a number, and '1'.*`max_norm=1"),
    "a bound as text": (lambda: ja.nn.utils.clip_grad_value_([], "1"), r"`clip_value` is a number, and '1'"),
    "a word as a dim": (lambda: ja.ones(3).flatten("x"), r"`dim` is an int, and 'x' was given"),
    "a word as a length": (lambda: ja.ones(3).narrow(0, 0, "x"), r"`length` is an int, and 'x' was given"),
    "a word as sizes": (lambda: ja.ones(3).unflatten(0, "x"), r"A shape is made of ints, and this is \('x',\)"),
    "a letter as a dtype": (lambda: ja.ones(3).view("S"), r"`'S'` is not a dtype"),
    "a number among tensors": (
        lambda: ja.cat([ja.ones(3), 3]),
        r"\(at position 1\).*nor can a number; write `ja\.stack`",
    ),
    "a number as a line": (lambda: ja.meshgrid(3), r"expected Tensor as element 0, but got int"),
    "a word as dims": (
        lambda: ja.tensordot(ja.ones(3), ja.ones(3), "x"),
        r"an int or a pair of lists of dims, and 'x'",
    ),
    "a word as a norm": (lambda: ja.ones(3).norm("x"), r"a number, 'fro' or 'nuc', and 'x' was given"),
    "a word as a bound": (lambda: ja.linspace("x", 1, 3), r"linspace\(\): bounds are numbers, and 'x' was given"),
    "a fraction of steps": (
        lambda: ja.linspace(0, 1, steps=2.5),
        r"none of these arguments: int, int, steps=float\. Write one of:\n  linspace\(Any start, Any end, int steps",
    ),
    "explain without arguments": (lambda: ja.explain(two), r"`ja\.explain\(two, x, y=…\)`"),
    "explain of a compiled one": (lambda: ja.explain(ja.compile(two)), r"`ja\.explain\(two, x, y=…\)`"),
    "trace without arguments": (lambda: ja.trace(two), r"`ja\.trace\(two, x, y=…\)`"),
    "pareto without arguments": (lambda: ja.pareto(two), r"`ja\.pareto\(two, x, y=…\)`"),
    "profile without arguments": (lambda: ja.profile(two), r"`ja\.profile\(two, x, y=…\)`"),
    "a module in jax.jit": (lambda: jax.jit(lambda m: 1)(linear()), r"`Linear`, a module on tensors.*`ja.compile"),
    "a module in jax.grad": (lambda: jax.grad(lambda m: 1.0)(linear()), r"`ja\.func\.functional_call\(model"),
    "a tensor as the start of narrow": (
        lambda: ja.compile(lambda x, n: x.narrow(0, n, 1) * 2)(ja.ones(3), ja.tensor(1)),
        r"(?s)Use as a Python index.*x\[:, n : n \+ 1\] = y",
    ),
    "bytes that are a number": (lambda: ja.ones(2).untyped_storage().fill_(0.5), r"expects int, but got float.*fill_"),
    "a tensor as bytes": (lambda: ja.ones(2).untyped_storage().copy_(ja.ones(2)), r"not Tensor.*untyped_storage\(\)"),
    "bytes of another size": (
        lambda: ja.ones(2).untyped_storage().copy_(ja.ones(3).untyped_storage()),
        r"self was 8 bytes but src was 12 bytes\. Write `.resize_\(12\)` first",
    ),
    "torch.jit": (lambda: ja.jit.script(linear()), r"no `torch.jit`.*`ja.compile\(fn\)`"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_says_what_to_write(name):
    wrong, words = CASES[name]
    with pytest.raises((errors.JaxaotError, FileNotFoundError), match=words):
        wrong()
