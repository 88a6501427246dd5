"""Names of PyTorch's that are not there: the error says what to write, and that works."""

import traceback

import jax
import pytest

import jaxaot as ja
from jaxaot._absent import HINTS
from tests.cases import each

PLACES = {
    "jaxaot": lambda: ja,
    "jaxaot.nn": lambda: ja.nn,
    "jaxaot.nn.utils": lambda: ja.nn.utils,
    "jaxaot.optim": lambda: ja.optim,
    "jaxaot.compiler": lambda: ja.compiler,
    "jaxaot.distributed": lambda: ja.distributed,
    "Tensor": lambda: ja.ones(2),
}


@each(("place", "name"), [(place, name) for place, names in HINTS.items() for name in names])
def test_a_hint_is_for_a_name_that_is_not_there(place, name):
    holder = PLACES[place]()
    with pytest.raises(AttributeError) as caught:
        getattr(holder, name)
    assert f"has no attribute '{name}'. {HINTS[place][name]}" in str(caught.value)
    assert not hasattr(holder, name) and name not in dir(holder)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: ja.matmull, "Did you mean: 'matmul'"),
        (lambda: ja.ones(2).sofmax, "Did you mean: 'softmax'"),
        (lambda: ja.optim.AdmW, "Did you mean: 'AdamW'"),
        (lambda: ja.nn.Conv2D, "Did you mean: 'Conv2d'"),
        (lambda: ja.utils.data, "`np.random.default_rng(seed).permutation(n)`"),
        (lambda: ja.nothing_like_it, "has no attribute 'nothing_like_it'"),
    ],
)
def test_a_name_that_is_nearly_right_is_told(use, words):
    with pytest.raises(ja.errors.MissingNameError) as caught:
        use()
    assert words in str(caught.value)


def test_python_adds_no_name_behind_a_sentence():
    pair = ja.subclasses.TwoTensor(ja.ones(2), ja.ones(2))
    for use in (lambda: pair._storage, lambda: ja.ones(2).cuda, lambda: ja.nn.Linear(1, 1).cuda, lambda: ja.fx):
        with pytest.raises(AttributeError) as caught:
            use()
        assert "Did you mean" not in "".join(traceback.format_exception(caught.value))


def test_what_the_hints_say_works():
    x = ja.tensor([1.0, 2.0], dtype=ja.float32)
    assert x.to(jax.devices("cpu")[0]).tolist() == [1, 2] and x.to("cpu").device.platform == "cpu"
    assert ja.tensor([1], dtype=ja.int32).dtype == ja.int32 and x.device.id == 0
    assert ja.func.vmap(lambda y: y * 2)(x).tolist() == [2, 4]
    with ja.inference_mode():
        assert (x + 1).tolist() == [2, 3]


def test_hidden_names_are_pythons_own_errors():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute '__cuda_array_interface__'"):
        ja.ones(1).__cuda_array_interface__  # noqa: B018
    assert not hasattr(ja.ones(1), "_mark") and getattr(ja.ones(1), "cuda", None) is None
    with pytest.raises(AttributeError) as caught:
        ja._softmax  # noqa: B018
    assert "Did you mean" not in str(caught.value)
