"""Wrong uses that people try: each error says what was given, by the user's names, and what to write."""

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors

F = ja.nn.functional
L = ja.optim.lr_scheduler


def linear():
    return ja.nn.Linear(3, 4)


def two(x, *more, y, z=1):
    return x


def sgd(**options):
    return ja.optim.SGD(linear().parameters(), lr=0.1, **options)


def moved(source, target):
    """Loads the state of one optimizer, after a step, into another of the same parameter."""
    w = ja.ones(2, requires_grad=True)
    w.grad = ja.ones(2)
    first, second = (getattr(ja.optim, name)([w], lr=0.1) for name in (source, target))
    first.step()
    second.load_state_dict(first.state_dict())


X3 = ja.ones(4, 1, 2)
H = ja.ones(1, 1, 3)

LOSSES = {
    "label_smoothing must be between 0.0 and 1.0. Got: 2": lambda x: F.cross_entropy(x, x, label_smoothing=2),
    "huber_loss does not support non-positive values for delta, and 0": lambda x: F.huber_loss(x, x, delta=0),
    "smooth_l1_loss does not support negative values for beta": lambda x: F.smooth_l1_loss(x, x, beta=-1),
    "var has negative entry": lambda x: F.gaussian_nll_loss(x, x, -x),
    "expected margin to be greater than 0, got -1": lambda x: ja.nn.TripletMarginLoss(margin=-1),
    "min_val cannot be greater than max_val": lambda x: F.hardtanh(x, 3, 1),
    "alpha cannot be 0 for CELU": lambda x: F.celu(x, alpha=0),
    "argument 'alpha' must be a number, and 'a'": lambda x: F.elu(x, alpha="a"),
    "argument 'label_smoothing' must be a number": lambda x: F.cross_entropy(x, x, label_smoothing="a"),
    "size is how many channels": lambda x: F.local_response_norm(ja.ones(1, 1, 2), 0),
}

CASES = {
    "a key as a size": (
        lambda: ja.randn(jax.random.key(0), (3,)),
        r"come from generators, not from keys: `ja.manual_s",
    ),
    "an array as a size": (
        lambda: ja.zeros(jax.numpy.array([2])),
        r"'size' takes numbers of Python, not an array of J",
    ),
    "an array as a rate": (
        lambda: F.dropout(ja.ones(2, requires_grad=True), jax.numpy.array(0.5)),
        r"'p' takes .*`int\(n\)` or `float\(",
    ),
    "a number as a schedule": (lambda: L.LambdaLR(sgd(), 3), r"`lr_lambda` is a function of the epoch.* and 3 was"),
    "a list of numbers as schedules": (lambda: L.MultiplicativeLR(sgd(), [3]), r"`lr_lambda` is a function of the ep"),
    "a schedule that returns text": (lambda: L.LambdaLR(sgd(), lambda e: "a"), r"return a factor.* returned 'a'"),
    "a milestone": (lambda: L.MultiStepLR(sgd(), 3), r"`milestones` is a list of epochs, and 3.*`milestones=\[30, 60"),
    "no epochs": (lambda: L.CosineAnnealingLR(sgd(), 0), r"`T_max` counts epochs, and 0 was given"),
    "a decay as text": (lambda: L.ExponentialLR(sgd(), "a"), r"`gamma` is a number, and 'a' was given"),
    "a metric as text": (lambda: L.ReduceLROnPlateau(sgd()).step("a"), r"the metric of the epoch, a number, and 'a'"),
    "a number as schedules": (lambda: L.ChainedScheduler(3), r"takes a list of schedules, and 3 was given"),
    "a kernel of nothing": (lambda: ja.nn.Conv2d(1, 1, 0)(ja.ones(1, 1, 4, 4)), r"kernel size should be greater than"),
    "a transposed one": (lambda: ja.nn.ConvTranspose1d(1, 1, 0)(ja.ones(1, 1, 4)), r"kernel size should be greater"),
    "no groups": (lambda: ja.nn.GroupNorm(0, 4), r"num_channels \(4\) must be divisible by num_groups \(0\)"),
    "no features": (lambda: ja.nn.Bilinear(0, 1, 1), r"in1_features must be > 0, but got 0"),
    "a rate of dropout as text": (lambda: ja.nn.Dropout("a"), r"has to be between 0 and 1, but got a"),
    "a number as modules": (lambda: ja.nn.ModuleList(3), r"ModuleList takes several modules, and 3 was given"),
    "a GRU's state as a pair": (lambda: ja.nn.GRU(2, 3)(X3, (H, H)), r"GRU: the state is one tensor, `h_0`.*tuple"),
    "an LSTM's state as one": (
        lambda: ja.nn.LSTM(2, 3)(X3, H),
        r"LSTM: the state is a pair of tensors, `\(h_0, c_0\)`",
    ),
    "a cell's state as one": (lambda: ja.nn.LSTMCell(2, 3)(X3[0], H[0]), r"LSTMCell: the state is a pair of tensors"),
    "a list to a GRU": (lambda: ja.nn.GRU(2, 3)([1.0]), r"GRU: argument 'input' must be Tensor, not list"),
    "a number as an optimizer": (lambda: ja.amp.GradScaler().step(3), r"steps with an optimizer, and 3 was given"),
    "a group without params": (lambda: ja.optim.SGD([{"lr": 0.1}]), r"a dict with `params`, and one of 'lr' was given"),
    "a group of param": (lambda: sgd().add_param_group({"param": []}), r"Write `params` for 'param'"),
    "a number as params": (lambda: sgd().add_param_group({"params": 3}), r"a list of parameters, and 3.*`\[w\]`"),
    "a number as a state": (lambda: sgd().load_state_dict(3), r"takes what `state_dict\(\)` returned, and a int"),
    "a state of nothing": (
        lambda: sgd().load_state_dict({"state": {}, "param_groups": [{}]}),
        r"Each group of a state dict.*`params`",
    ),
    "Adam's state in SGD": (
        lambda: moved("Adam", "SGD"),
        r"has no `momentum`, `dampening`, `nesterov`, and has `betas`, `eps`.*another optimizer than SGD",
    ),
    "SGD's state in Adam": (lambda: moved("SGD", "Adam"), r"no `betas`, `eps`, and has `momentum`.* than Adam"),
    "Adam's state in Adamax": (lambda: moved("Adam", "Adamax"), r"keeps .*`exp_avg_sq`.* needs `exp_inf`"),
    "a state in RMSprop": (lambda: moved("Adam", "RMSprop"), r"has no `momentum`, `alpha`.* than RMSprop"),
    **{words: (lambda fn=fn: fn(ja.ones(2, 2)), words) for words, fn in LOSSES.items()},
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
    "the path of a state": (lambda: linear().load_state_dict("w.safetensors"), r"`ja.load\(path\)`"),
    "a module to clip": (lambda: ja.nn.utils.clip_grad_norm_(linear(), 1.0), r"a Linear was given.*`model.parameters"),
    "an unknown gain": (lambda: ja.nn.init.calculate_gain("gelu"), r"gelu.*There are linear"),
    "a folder that is not there": (lambda: ja.save({}, "/nowhere/at/all"), r"os.makedirs\('/nowhere/at'\)"),
    "path and value swapped": (lambda: ja.save("a", {}), r"takes the path second, and was given a dict"),
    "a number as a path": (lambda: ja.load(3), r"takes a path, and was given a int"),
    "a word as a flag": (lambda: ja.config(validate_guards="yes"), r"`validate_guards` is True or False, and 'yes'"),
    "a number as a folder": (lambda: ja.config(cache_dir=3), r"`cache_dir` is the path of a folder"),
    "one pass": (lambda: ja.config(passes="cse"), r"`passes` is a tuple of passes: `passes=\('cse',\)`"),
    "a setting without a name": (lambda: ja.config(3), r"settings by name, and was given 3.*`ja.config\(policy="),
    "a setting for all without a name": (lambda: ja.config.set(3), r"`ja.config.set\(policy='save_all'\)`"),
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
    "pareto without arguments": (lambda: ja.estimate.pareto(two), r"`ja\.estimate\.pareto\(two, x, y=…\)`"),
    "profile without arguments": (lambda: ja.estimate.profile(two), r"`ja\.estimate\.profile\(two, x, y=…\)`"),
    "a module in jax.jit": (lambda: jax.jit(lambda m: 1)(linear()), r"`Linear`, a module on tensors.*`ja.compile"),
    "a module in jax.grad": (lambda: jax.grad(lambda m: 1.0)(linear()), r"`ja\.func\.functional_call\(model"),
    "a tensor as the start of narrow": (
        lambda: ja.compile(lambda x, n: x.narrow(0, n, 1) * 2, fullgraph=True)(ja.ones(3), ja.tensor(1)),
        r"(?s)Use as a Python index.*x\[:, n : n \+ 1\] = y",
    ),
    "bytes that are a number": (lambda: ja.ones(2).untyped_storage().fill_(0.5), r"expects int, but got float.*fill_"),
    "a tensor as bytes": (lambda: ja.ones(2).untyped_storage().copy_(ja.ones(2)), r"not Tensor.*untyped_storage\(\)"),
    "bytes of another size": (
        lambda: ja.ones(2).untyped_storage().copy_(ja.ones(3).untyped_storage()),
        r"self was 8 bytes but src was 12 bytes\. Write `.resize_\(12\)` first",
    ),
    "torch.jit": (lambda: ja.jit.freeze(linear()), r"no `torch.jit`.*`ja.compiler.freeze"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_error_says_what_to_write(name):
    wrong, words = CASES[name]
    with pytest.raises((errors.JaxaotError, FileNotFoundError), match=words):
        wrong()


def test_states_of_optimizers_that_keep_the_same_are_taken():
    moved("Adam", "AdamW")
    moved("SGD", "SGD")
    older = sgd().state_dict()
    for name in ("maximize", "foreach", "differentiable", "fused"):
        older["param_groups"][0].pop(name, None)
    sgd().load_state_dict(older)


def test_an_array_of_jax_on_the_left_leaves_the_operator_to_a_tensor_with_a_gradient():
    w, x = ja.tensor([2.0, 3.0], requires_grad=True), jax.numpy.array([[5.0, 7.0]])
    for found, grad in (
        (x * w, [5, 7]), (x + w, [1, 1]), (x - w, [-1, -1]), (x / w, [-1.25, -7 / 9]), (x @ w, [5, 7]),
        (x**w, (np.log(x) * x ** w.detach().jax()).ravel().tolist()),
    ):  # fmt: skip
        assert isinstance(found, ja.Tensor)
        assert ja.autograd.grad(found.sum(), w)[0].tolist() == pytest.approx(grad, rel=1e-5)
    assert isinstance(x < w, ja.Tensor)
    step = ja.compile(lambda x, w: (x * w).sum())
    step(x, w).backward()
    assert w.grad.tolist() == [5, 7]
    for plain in (x * w.detach(), jax.numpy.asarray(w)):  # what has no gradient to lose is an array, as before
        assert isinstance(plain, jax.Array)
    with ja.no_grad():
        assert isinstance(x * w, jax.Array)
    assert jax.jit(lambda x: x * w.detach())(x).tolist() == [[10, 21]]
