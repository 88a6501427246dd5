"""The words of errors: what happened, why, and what to write instead."""

import copy
import pathlib
import pickle
import queue
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors
from tests.cases import each

ROOT = pathlib.Path(__file__).parents[1]


def said(error, fn, *args):
    """Returns the message with which `fn` fails, on one line."""
    with pytest.raises(error) as caught:
        fn(*args)
    return " ".join(str(caught.value).split())


# -- views and writes --------------------------------------------------------------------------------------------------


def test_a_view_that_strides_cannot_express():
    words = said(errors.ViewError, lambda: ja.zeros(2, 3).t().view(6))
    assert "view size is not compatible with input tensor's size and stride" in words
    assert "Use .reshape(...) instead" in words


def test_a_view_of_another_number_of_elements():
    assert "shape '[4]' is invalid for input of size 6" in said(RuntimeError, lambda: ja.zeros(6).view(4))


def test_a_write_to_overlapping_memory():
    words = said(errors.OverlappingWriteError, lambda: ja.zeros(1, 3).expand(2, 3).add_(1))
    assert "more than one element of the written-to tensor refers to a single memory location" in words
    assert "Please clone() the tensor before performing the operation" in words


def test_a_result_larger_than_its_target():
    words = said(errors.ShapeMismatchError, lambda: ja.zeros(3).add_(ja.zeros(2, 3)))
    assert "output with shape [3] doesn't match the broadcast shape [2, 3]" in words
    assert "write the op out of place instead" in words


def test_shapes_that_do_not_broadcast():
    words = said(errors.ShapeMismatchError, lambda: ja.zeros(3) + ja.zeros(4))
    assert words.startswith("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0")


def test_a_dtype_that_cannot_be_stored():
    words = said(errors.DtypeError, lambda: ja.tensor([1, 2]).mul_(0.5))
    assert re.search(r"result type Float can't be cast to the desired output type (Int|Long)", words)


def test_an_index_out_of_range():
    x = ja.zeros(2, 3)
    assert said(IndexError, lambda: x[5]) == "index 5 is out of bounds for dimension 0 with size 2"
    assert said(IndexError, lambda: x[0, -4]) == "index -4 is out of bounds for dimension 1 with size 3"
    assert "out of bounds for dimension 0 with size 2" in said(IndexError, lambda: x[ja.tensor([0, 7])])
    assert "too many indices for tensor of dimension 2" in said(IndexError, lambda: x[0, 0, 0])
    assert "only integers, slices (`:`), ellipsis" in said(TypeError, lambda: x["a"])


def test_a_dim_out_of_range():
    expected = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    assert expected in said(errors.DimError, lambda: ja.zeros(2, 3).sum(2))
    assert expected in said(IndexError, lambda: ja.zeros(2, 3).select(2, 0))


def test_a_value_that_does_not_fit_its_place():
    def assign():
        ja.zeros(2, 3)[0] = ja.zeros(4)

    words = said(errors.ShapeMismatchError, assign)
    assert "(3)" in words and "(4)" in words


def test_a_storage_that_was_shrunk():
    x = ja.ones(4)
    x.untyped_storage().resize_(0)
    words = said(errors.StorageSizeError, lambda: x + 1)
    assert "requiring a storage size of 16 are out of bounds for storage of size 0" in words
    assert ".untyped_storage().resize_(nbytes)" in words


TOO_LARGE = {
    "zeros": lambda: ja.zeros(2**62),
    "zeros of two dims": lambda: ja.zeros(2**31, 2**31),
    "more than an integer holds": lambda: ja.ones(10**30),
    "nothing, by a large dim": lambda: ja.zeros(2**62, 0),
    "empty": lambda: ja.empty(2**61),
    "full": lambda: ja.full((2**62,), 1.0),
    "like": lambda: ja.ones_like(ja.ones(1).expand(2**62)),
    "new": lambda: ja.ones(1).new_zeros(2**62),
    "arange": lambda: ja.arange(2**62),
    "arange of floats": lambda: ja.arange(0.0, 2.0**62),
    "linspace": lambda: ja.linspace(0, 1, 2**62),
    "logspace": lambda: ja.logspace(0, 1, 2**62),
    "eye": lambda: ja.eye(2**31),
    "tril_indices": lambda: ja.tril_indices(2**40, 2**40),
    "window": lambda: ja.hann_window(2**62),
    "frequencies": lambda: ja.fft.fftfreq(2**62),
    "rand": lambda: ja.rand(2**62),
    "randint": lambda: ja.randint(0, 3, (2**62,)),
    "strides": lambda: ja.empty_strided((4,), (2**62,)),
    "repeat": lambda: ja.ones(4).repeat(2**60),
    "tile": lambda: ja.ones(4).tile((2**60,)),
    "repeat_interleave": lambda: ja.ones(1).repeat_interleave(2**62),
    "expand": lambda: ja.ones(1).expand(2**62) + 1,
    "clone": lambda: ja.ones(1).expand(2**62).clone(),
    "broadcast_to": lambda: ja.ones(1).broadcast_to((2**62,)).sin(),
    "broadcasting": lambda: ja.ones(1, 1).expand(2**31, 1) + ja.ones(1, 1).expand(1, 2**31),
    "sum": lambda: ja.ones(1).expand(2**62).sum(),
    "pad": lambda: ja.nn.functional.pad(ja.ones(4), (2**61, 0)),
    "interpolate": lambda: ja.nn.functional.interpolate(ja.ones(1, 1, 2, 2), size=(2**31, 2**31)),
    "one_hot": lambda: ja.nn.functional.one_hot(ja.zeros(3, dtype=ja.int32), 2**61),
    "compiled": lambda: ja.compile(lambda x: (x.expand(2**62) + 1).sum())(ja.ones(1)),
    "jitted": lambda: ja.jit(lambda x: jnp.broadcast_to(x, (2**62,)).sum())(1.0),
    "in a loop": lambda: ja.compile(lambda x: ja.scan(lambda c, _: (c + ja.ones(2**62).sum(), None), x, ja.ones(3)))(
        ja.ones(())
    ),
}


@each("name", TOO_LARGE)
def test_more_bytes_than_memory_has_addresses(name):
    assert re.match(
        r"(Storage size|Stride) calculation overflowed with sizes=\[\d.*bytes", said(RuntimeError, TOO_LARGE[name])
    )


def test_a_storage_that_cannot_grow_stays_as_it_was():
    x = ja.arange(4.0)
    view, version = x[1:], x._version
    assert "sizes=[2305843009213693952]" in said(errors.StorageSizeError, x.resize_, (2**61,))
    assert "sizes=[9223372036854775808]" in said(errors.StorageSizeError, x.untyped_storage().resize_, 2**63)
    x.add_(1)
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0] and view.tolist() == [2.0, 3.0, 4.0]
    assert x._version == version + 1 and x.shape == (4,)
    assert ja.ones(1).expand(2**62).shape == (2**62,)  # a view takes no memory


def test_arguments_that_are_no_tensors():
    words = said(errors.ArgumentError, lambda: ja.exp("a"))
    assert "exp(): argument 'self' must be Tensor, not str" in words
    assert "The signature is `exp(Tensor self" in words


def test_data_that_is_no_number():
    assert "a tensor is made of numbers" in said(TypeError, lambda: ja.tensor("text"))
    assert "expected sequences of equal length" in said(ValueError, lambda: ja.tensor([[1, 2], [3]]))


def test_truth_of_several_values():
    assert "Boolean value of Tensor with 2 values is ambiguous" in said(ValueError, lambda: bool(ja.zeros(2)))
    assert "a Tensor with 2 elements cannot be converted to Scalar" in said(RuntimeError, lambda: ja.zeros(2).item())


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_a_leaf_written_in_place():
    w = ja.ones(3, requires_grad=True)
    words = said(errors.LeafWriteError, lambda: w.add_(1))
    assert "a leaf Variable that requires grad is being used in an in-place operation" in words
    assert "`with ja.no_grad():`" in words
    assert "a view of a leaf Variable that requires grad" in said(errors.LeafWriteError, lambda: w[0].add_(1))


def test_backward_without_a_path():
    words = said(errors.NoGradPathError, lambda: ja.ones(1).sum().backward())
    assert words.startswith("element 0 of tensors does not require grad and does not have a grad_fn. ")
    assert "`requires_grad=True`" in words


def test_backward_from_several_values():
    words = said(RuntimeError, lambda: ja.ones(2, requires_grad=True).mul(2).backward())
    assert (
        words.startswith("grad can be implicitly created only for scalar outputs") and "`y.sum().backward()`" in words
    )


def test_backward_twice():
    y = ja.ones(2, requires_grad=True).exp().sum()
    y.backward()
    words = said(errors.BackwardTwiceError, y.backward)
    assert "Trying to backward through the graph a second time" in words
    assert "retain_graph=True" in words


def test_a_gradient_of_what_was_not_used():
    x, y = ja.ones(1, requires_grad=True), ja.ones(1, requires_grad=True)
    words = said(errors.UnusedInputError, lambda: ja.autograd.grad(x.sum(), y))
    assert "appears to not have been used in the graph" in words and "allow_unused=True" in words


def test_integers_have_no_gradient():
    words = said(RuntimeError, lambda: ja.tensor([1, 2], requires_grad=True))
    assert words.startswith("only Tensors of floating point and complex dtype can require gradients")
    assert "`x.float().requires_grad_()`" in words


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda: ja.autograd.grad(ja.ones(1), ja.ones(1)), errors.AutogradError, "`x.requires_grad_()`"),
        (lambda: ja.cat(ja.ones(2), ja.ones(2)), errors.TensorTypeError, "`ja.cat([x, y])`"),
        (lambda: ja.optim.SGD(ja.nn.Linear(2, 2), lr=0.1), errors.TensorTypeError, "Pass `model.parameters()`"),
        (lambda: ja.optim.SGD([jnp.ones(2)], lr=0.1), errors.TensorTypeError, "`ja.nn.Parameter(array)`"),
        (lambda: ja.optim.from_optax([ja.ones(2)], None), errors.TensorTypeError, "takes a transformation of optax"),
        (lambda: ja.optim.lr_scheduler.StepLR(None, 3), errors.TensorTypeError, "Write `StepLR(optimizer, …)`"),
        (lambda: ja.manual_seed("abc"), errors.TensorTypeError, "a seed is an int, and 'abc' was given"),
        (
            lambda: ja.utils.checkpoint.checkpoint(3, ja.ones(1)),
            errors.TensorTypeError,
            "Write `ja.utils.checkpoint.checkpoint(f, x)`",
        ),
        (lambda: ja.zeros(2, device="tpu"), errors.TensorTypeError, 'pip install "jax[tpu]"'),
        (lambda: ja.zeros(2, device=0.5), errors.TensorTypeError, "a device is named by a string"),
    ],
)
def test_a_wrong_use_is_told_what_to_write(use, error, words):
    assert words in said(error, use)


def test_one_of_several_views_written_in_place():
    def write():
        first, _ = ja.ones(2, requires_grad=True).mul(2).unbind()
        first.add_(1)

    words = said(errors.AutogradError, write)
    assert "is the output of a function that returns multiple views" in words and "Backward0 is a view and is" in words
    assert "replace the inplace operation by an out-of-place one" in words


def test_numpy_of_what_requires_grad():
    words = said(RuntimeError, lambda: ja.ones(1, requires_grad=True).numpy())
    assert words.endswith("Use tensor.detach().numpy() instead.")


# -- traces ------------------------------------------------------------------------------------------------------------


def test_python_needs_a_value_that_is_a_symbol():
    def branches(x):
        return x if x.sum() > 0 else -x

    words = said(errors.ConcretizationError, lambda: ja.trace(branches, ja.ones(2)))
    assert "needs the value of a traced tensor" in words
    assert "test_messages.py:" in words and "return x if x.sum() > 0 else -x" in words
    assert "y = ja.where(x > 0, a, b)" in words and "ja.cond(x.sum() > 0, true_fn, false_fn, (x,))" in words
    assert "ja.while_loop(" in words and "fn(x, 3)" in words and "fn = ja.compile(fn)" in words
    assert ja.compile(branches)(-ja.ones(2)).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda x: x.sum().item(), "`.item()` needs the value"),
        (lambda x: int(x.sum()), "needs the value"),
        (lambda x: [0 for _ in iter(lambda: bool(x.sum() > 0), False)], "needs the value"),
        (lambda x: x.tolist()[0], "needs the value"),
        (lambda x: x.nonzero().shape[0], "how many elements there are"),
        (lambda x: x[x > 0].shape[0], "how many elements the mask selects"),
    ],
)
def test_every_question_names_parts_as_a_way_out(ask, words):
    error = said(errors.ConcretizationError, lambda: ja.compile(lambda x: x * ask(x), fullgraph=True)(ja.ones(2)))
    assert words in error and "test_messages.py:" in error and "ja.compile(fn)" in error


def test_a_question_in_an_iteration_of_a_loop_says_that_parts_end_there():
    def fn(xs):
        return ja.map(lambda x: x * x.item(), xs)

    words = said(errors.ConcretizationError, lambda: ja.compile(fn, fullgraph=True)(ja.ones(2)))
    assert "not in a branch of `ja.cond`, nor in an iteration of a loop" in words


def test_a_tensor_that_would_outlive_its_trace():
    waiting = queue.SimpleQueue()
    words = said(errors.LeakedTensorError, lambda: ja.trace(lambda x: waiting.put(x * 2) or x, ja.ones(2)))
    assert "made a tensor and kept it in" in words and "`waiting`" in words
    assert "Return it from the function" in words and "`self.cache.copy_(new)`" in words


def test_an_argument_that_cannot_be_compared():
    words = said(errors.StaticArgumentError, lambda: ja.trace(lambda x, s: x + 1, ja.ones(2), slice(ja.ones(1))))
    assert "An argument of type slice is not hashable" in words
    assert "Pass tensors, arrays, numbers, strings, or containers of them" in words


def test_nothing_to_differentiate():
    words = said(errors.NotDifferentiableError, ja.trace(lambda x: x + 1, ja.ones(2)).joint)
    assert "There is nothing to differentiate" in words and "`requires_grad=True`" in words


def test_a_setting_that_does_not_exist():
    def use():
        with ja.config(polcy="save_all"):
            pass

    words = said(errors.UnknownSettingError, use)
    assert "Unknown setting 'polcy'. The settings are: policy, memory_budget" in words
    assert "`with ja.config(policy='save_all'): ...`" in words


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"policy": "mincut"}, errors.PolicyError, "The policies are: min_cut, save_all"),
        ({"memory_budget": "64 megs"}, errors.BudgetError, "such as `memory_budget='512MiB'`"),
        ({"costs": "rtx4090"}, errors.CompilerError, "or a device: cpu, a100"),
    ],
)
def test_a_value_that_a_setting_cannot_have(settings, error, words):
    assert words in said(error, lambda: ja.config(**settings))  # at once, without `with`


# -- graphs ------------------------------------------------------------------------------------------------------------


def joint_of(fn, *args):
    from jaxaot.joint import build_joint

    return build_joint(jax.make_jaxpr(fn)(*args), (0,), (0,))


def test_a_policy_that_does_not_exist():
    from jaxaot.partition.partition import partition

    joint = joint_of(lambda x: jnp.sin(x).sum(), np.ones(3, np.float32))
    words = said(errors.PolicyError, lambda: partition(joint, "min_kut"))
    assert words.startswith("There is no partition policy 'min_kut'. The policies are: min_cut, save_all")
    assert "a function from an equation to `Choice.SAVE`" in words


@each("budget", ["12 parsecs", "", -1, 1.5, "5XiB", float("nan")])
def test_a_budget_that_cannot_be_read(budget):
    from jaxaot.partition.partition import partition

    joint = joint_of(lambda x: jnp.sin(x).sum(), np.ones(3, np.float32))
    words = said(errors.BudgetError, lambda: partition(joint, memory_budget=budget))
    assert re.search(r"fraction|bytes|MiB", words), words
    assert repr(budget) in words


def test_integers_cannot_be_differentiated():
    words = said(errors.NotDifferentiableError, lambda: joint_of(lambda x: x * 2, np.ones(3, np.int32)))
    assert "input 0 is i32[3], which has no gradient" in words
    assert "output 0 is i32[3], which has no gradient" in words  # all the problems, not the first
    assert "`x.float()`" in words


# -- the page of errors ------------------------------------------------------------------------------------------------

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.JaxaotError)]
WARNINGS = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Warning)]


@each("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_explains_itself(cls):
    assert cls.__doc__ and cls.__name__ in errors.__doc__, (
        f"{cls.__name__} is missing in the tree of errors/__init__.py"
    )
    if cls is not errors.JaxaotError:
        builtin = [base for base in cls.__mro__ if base.__module__ == "builtins"][:-3]
        assert builtin, f"{cls.__name__} subclasses no builtin"


@each("cls", [*CLASSES, *WARNINGS], ids=lambda cls: cls.__name__)
def test_every_error_is_pickled(cls):
    error = cls(["polcy"], ["policy"]) if cls is errors.UnknownSettingError else cls("what happened")
    error.add_note("where")
    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is cls and str(copied) == str(error) and copied.__notes__ == error.__notes__
    assert error.__notes__[-1] == "where"


@pytest.mark.parametrize(
    "use",
    [
        lambda x: ja.jit(lambda y: y * 2)(x),
        lambda x: ja.jit(lambda tree: tree["a"] * 2)({"a": x}),
        lambda x: jax.jit(lambda y: y * 2)(x),
        lambda x: jax.grad(lambda y: (y * y).sum())(x),
        lambda x: jax.vmap(lambda y: y * 2)(x),
        lambda x: jax.checkpoint(lambda y: y * 2)(x),
        lambda x: jnp.sin(x),
        lambda x: jax.lax.add(x, x),
        lambda x: jax.make_jaxpr(lambda y: y * 2)(x),
    ],
)
def test_a_tensor_passed_to_jax(use):
    x = ja.ones(3)
    words = said(ValueError, lambda: use(x))
    assert "`ja.Tensor` of shape [3] was passed to a function of JAX" in words
    assert "`x.jax()`" in words
    assert "ja.compile(f)" in words
    assert jnp.sin(x.jax()).shape == (3,)
    assert jnp.asarray(x).shape == (3,)


def hold_a_cycle(tree):
    tree.append(tree)
    return tree


def deleted():
    array = jnp.ones(3)
    array.delete()
    return array


X = ja.ones(4)
W = ja.ones(2, requires_grad=True)
BAD_USES = {
    "a dim without an end": (ValueError, lambda: ja.sizes.Dim("n"), "Write `ja.sizes.Dim('n', max=64)`"),
    "a dim without a name": (ValueError, lambda: ja.sizes.Dim(3, max=4), "`3` is none"),  # pyright: ignore
    "a loss for a closure": (TypeError, lambda: ja.optim.SGD([ja.ones(1)]).step(3), "then `optimizer.step()`"),  # pyright: ignore
    "a negative size": (errors.StorageSizeError, lambda: ja.ones(4).untyped_storage().resize_(-1), "-1 bytes"),
    "a state that is none": (TypeError, lambda: ja.set_rng_state(X), "what `get_state()`"),  # pyright: ignore
    "a seed of more than 64 bits": (ValueError, lambda: ja.manual_seed(10**30), "64 bits"),
    "a size that is a string": (TypeError, lambda: ja.zeros("3"), "'3' of type str"),
    "a shape that is a string": (TypeError, lambda: X.reshape("a"), "made of ints"),
    "a list as out": (TypeError, lambda: ja.add(X, X, out=[X]), "'out' must be Tensor, not list"),
    "a hook that is none": (TypeError, lambda: W.register_hook(3), "A hook is a function"),  # pyright: ignore
    "no function to compile": (TypeError, lambda: ja.compile(3), "`ja.compile` takes a function"),  # pyright: ignore
    "no function to trace": (TypeError, lambda: ja.trace(None), "`ja.trace` takes a function"),  # pyright: ignore
    "no function to jit": (TypeError, lambda: ja.jit(3), "`ja.jit` takes a function"),  # pyright: ignore
    "no function to map": (TypeError, lambda: ja.func.vmap(3), "`ja.func.vmap` takes a function"),  # pyright: ignore
    "no function to differentiate": (TypeError, lambda: ja.func.grad(X), "`ja.func.grad(f)` with the function"),  # pyright: ignore
    "no function of a Jacobian": (TypeError, lambda: ja.func.jacrev(X), "`ja.func.jacrev(f)`"),  # pyright: ignore
    "no function of a vjp": (TypeError, lambda: ja.func.vjp(X, X), "`ja.func.vjp(f, x)`"),  # pyright: ignore
    "no branch": (TypeError, lambda: ja.cond(True, X, X), "`ja.cond(pred, f, g, (x,))`"),  # pyright: ignore
    "a list in a row": (TypeError, lambda: ja.nn.Sequential([ja.nn.ReLU()]), "`ja.nn.Sequential(*modules)`"),  # pyright: ignore
    "a class in a row": (TypeError, lambda: ja.nn.Sequential(ja.nn.ReLU), "ReLU is a class"),  # pyright: ignore
    "one module as many": (TypeError, lambda: ja.nn.ModuleList(ja.nn.ReLU()), "Write `[module]`"),  # pyright: ignore
    "a path that comes second": (TypeError, lambda: ja.distributed.save({"x": X}, "d"), "'run/step_100', state"),  # pyright: ignore
    "two dtypes": (RuntimeError, lambda: ja.nn.Linear(4, 2)(X.half()), "`x.to(ja.float32)`"),
    "a batch of one": (ValueError, lambda: ja.nn.BatchNorm1d(4)(X[None]), "`model.eval()`"),
    "nothing to explain": (ValueError, lambda: ja.explain(3), "ja.explain(f, x)"),  # pyright: ignore
    "a name that is none": (TypeError, lambda: ja.policies.checkpoint_name(X, 3), "A name is a string"),  # pyright: ignore
    "requires_grad of a string": (TypeError, lambda: ja.ones(2).requires_grad_("a"), "must be a bool"),  # pyright: ignore
    "requires_grad of a factory": (TypeError, lambda: ja.ones(2, requires_grad="a"), "must be a bool"),  # pyright: ignore
    "a deleted array": (errors.DeletedArrayError, lambda: ja.interop.from_jax(deleted()) + 1, "donated"),
    "a deleted operand": (errors.DeletedArrayError, lambda: ja.ones(3) + deleted(), "donated"),
    "a copy of nothing": (TypeError, lambda: X.copy_(None), "must be Tensor, not NoneType"),  # pyright: ignore
    "a gradient that is a string": (TypeError, lambda: W.sum().backward("a"), "either Tensors or None"),  # pyright: ignore
    "a gradient of nothing": (TypeError, lambda: ja.autograd.grad(None, W), "of a tensor"),  # pyright: ignore
    "a gradient by name": (TypeError, lambda: ja.autograd.grad(W.sum(), ["w"]), "'w' is none"),  # pyright: ignore
    "a generator that is none": (TypeError, lambda: ja.rand(2, generator="g"), "must be Generator, not str"),
    "a pass that is none": (ValueError, lambda: ja.config(passes=(3,)).__enter__(), "3 is neither"),
    "a cyclic argument": (TypeError, lambda: ja.compile(lambda t: t[0])(hold_a_cycle([X])), "contains itself"),
    "a cyclic result": (TypeError, lambda: ja.compile(lambda x: hold_a_cycle([x]))(X), "contains itself"),
    "a cyclic tree": (TypeError, lambda: ja.remat(lambda t: t[0])(hold_a_cycle([jnp.ones(2)])), "contains itself"),
}


@each("use", BAD_USES)
def test_bad_uses_say_what_to_write(use):
    error, call, words = BAD_USES[use]
    before = X.tolist()
    assert words in said(error, call)
    assert X.tolist() == before
    assert ja.compile(lambda x: x + 1)(X).tolist() == [2.0] * 4  # what comes after works


def test_a_line_that_was_typed_at_a_prompt_is_named():
    scope = {"ja": ja}
    exec(compile("f = ja.compile(lambda x: x if x.sum() > 0 else -x, fullgraph=True)", "<stdin>", "exec"), scope)
    assert "<stdin>:1" in said(errors.ConcretizationError, lambda: scope["f"](ja.ones(2)))
    exec(
        compile("g = ja.compile(lambda x: x if x.sum() > 0 else -x, fullgraph=True)", "<python-input-7>", "exec"), scope
    )
    assert "<python-input-7>:1" in said(errors.ConcretizationError, lambda: scope["g"](ja.ones(())))
    exec("h = ja.compile(lambda x: x.item(), fullgraph=True)", scope)  # as `python -c` names it
    assert "<string>:1" in said(errors.ConcretizationError, lambda: scope["h"](ja.ones(())))


# -- advice after the words of PyTorch ---------------------------------------------------------------------------------


def test_shapes_that_do_not_fit_say_what_to_write():
    ones, functional = ja.ones, ja.nn.functional
    for wanted, fn in (
        ("[3] and [4] are aligned at their last dims; insert a dim of 1", lambda: ones(3) + ones(4)),
        ("`a @ b.mT`", lambda: ones(2, 3) @ ones(2, 3)),
        ("to be the size before the last of the second, 4.", lambda: ones(2, 3) @ ones(4, 5)),
        ("`ja.cat(tensors, 1)`", lambda: ja.cat([ones(2, 3), ones(2, 4)])),
        ("`ja.nn.functional.pad(x, (0, n))`", lambda: ja.cat([ones(2, 3), ones(3, 2)])),
        ("`x.permute(0, 3, 1, 2)`", lambda: functional.conv2d(ones(1, 8, 8, 4), ones(4, 4, 3, 3))),
        ("`x.permute(2, 0, 1)`", lambda: functional.conv2d(ones(8, 8, 4), ones(4, 4, 3, 3))),
        ("has in_channels=3", lambda: functional.conv2d(ones(1, 3, 8, 8), ones(4, 4, 3, 3))),
        ("`x.flatten(1)`", lambda: ja.nn.Linear(64, 2)(ones(5, 1, 8, 8))),
        ("has in_features=3", lambda: ja.nn.Linear(4, 2)(ones(5, 3))),
        ("make 5, of which 6 is no multiple", lambda: ones(6).reshape(5, -1)),
        ("It has 8 elements; one size may be -1", lambda: ones(6).view(4, 2)),
    ):
        assert wanted in said(errors.ShapeMismatchError, fn), wanted
    assert ones(1, 8, 8, 4).permute(0, 3, 1, 2).shape == (1, 4, 8, 8)


def test_numbers_and_dtypes_that_do_not_fit_say_what_to_write():
    x, ints = ja.ones(3), ja.tensor([1, 2])
    for wanted, fn in (
        ("`x.tolist()` for all values, or make them one, `x.mean().item()`", lambda: x.item()),
        ("`x.any()` or `x.all()`", lambda: bool(x)),
        ("`x.sum().item()`", lambda: int(x)),
        ("has 1 dim, and dims are counted from 0", lambda: x.sum(4)),
        ("It is one number: `x.item()`", lambda: len(ja.tensor(3))),
        ("It is one number: `x.item()`", lambda: list(ja.tensor(3))),
        ("`x.float()`", lambda: ints.mean()),
        ("`index.long()`", lambda: ja.gather(x, 0, x)),
        ("`x.long()`", lambda: ja.nn.functional.embedding(x, ja.ones(4, 5))),
        ("`condition > 0`", lambda: ja.where(x, 1, 2)),
    ):
        assert wanted in said(errors.TensorError, fn), wanted
