"""Names of PyTorch's that are not there: the error says what to write, and that works."""

import importlib.util
import sys
import traceback

import jax
import pytest

import jaxaot as ja
from jaxaot.errors.absent import HINTS, MOVED
from tests.cases import each

PLACES = {
    "jaxaot": lambda: ja,
    "jaxaot.nn": lambda: ja.nn,
    "jaxaot.nn.utils": lambda: ja.nn.utils,
    "jaxaot.optim": lambda: ja.optim,
    "jaxaot.compiler": lambda: ja.compiler,
    "jaxaot.aot": lambda: ja.aot,
    "jaxaot.distributed": lambda: ja.distributed,
    "jaxaot.utils": lambda: ja.utils,
    "jaxaot.utils.data": lambda: ja.utils.data,
    "jaxaot.distributions": lambda: ja.distributions,
    "jaxaot.utils.checkpoint": lambda: ja.utils.checkpoint,
    "jaxaot.cuda": lambda: ja.cuda,
    "jaxaot.profiler": lambda: ja.profiler,
    "jaxaot._dynamo": lambda: ja._dynamo,
    "jaxaot.nn.attention": lambda: ja.nn.attention,
    "jaxaot.nn.parallel": lambda: ja.nn.parallel,
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
        (lambda: ja.utils.dlpack, "Write `ja.from_dlpack`"),
        (lambda: ja.nothing_like_it, "has no attribute 'nothing_like_it'"),
    ],
)
def test_a_name_that_is_nearly_right_is_told(use, words):
    with pytest.raises(ja.errors.MissingNameError) as caught:
        use()
    assert words in str(caught.value)


@each("name", MOVED)
def test_a_name_that_moved_says_where_it_is(name):
    with pytest.raises(ja.errors.MissingNameError) as caught:
        getattr(ja, name)
    place = str(caught.value).rpartition("Write `ja.")[2].removesuffix("`.")
    value = ja
    for part in place.partition("(")[0].split("."):
        value = getattr(value, part)
    assert callable(value) and name not in dir(ja)


def test_python_adds_no_name_behind_a_sentence():
    pair = ja.subclasses.TwoTensor(ja.ones(2), ja.ones(2))
    for use in (lambda: pair._storage, lambda: ja.ones(2).xpu, lambda: ja.nn.Linear(1, 1).xpu, lambda: ja.fx):
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
    assert not hasattr(ja.ones(1), "_mark") and getattr(ja.ones(1), "xpu", None) is None
    with pytest.raises(AttributeError) as caught:
        ja._softmax  # noqa: B018
    assert "Did you mean" not in str(caught.value)


IMPORTS = {
    "from jaxaot.utils.cpp_extension import load": "No module named 'jaxaot.utils.cpp_extension'. Write `jax.ffi`",
    "from jaxaot import checkpoint": "cannot import name 'checkpoint' from 'jaxaot'. Write `ja.utils.checkpoint.chec",
    "from jaxaot.utils.checkpoint import CheckpointPolicy": "`ja.policies`",
    "from jaxaot import freeze": "`ja.compiler.freeze`",
    "from jaxaot.cuda import Event": "cannot import name 'Event' from 'jaxaot.cuda'. XLA orders what runs",
    "from jaxaot.nn.parallel import DistributedDataParallel": "Spread the batch over the devices",
    "import jaxaot.cuda.nvtx": "No module named 'jaxaot.cuda.nvtx'. Write `with ja.profiler.record_function(name):`",
    "from jaxaot.profiler import profile, record_function": "`with jax.profiler.trace(folder):`",
    "from jaxaot._dynamo import explain": "explain(*args)",
    "from jaxaot.nn.utils.prune import l1_unstructured": "multiplies by a mask",
    "from jaxaot.distributed import all_reduce": "`x.redistribute(placements=…)`",
    "from jaxaot.compiler import list_backends": "The backends of `ja.compile`",
    "from jaxaot.optim import AdmW": "Did you mean: 'AdamW'",
    "import jaxaot.optin": "Did you mean: 'optim'",
}


@each(("line", "words"), list(IMPORTS.items()))
def test_an_import_line_says_what_an_attribute_says(line, words):
    with pytest.raises(ja.errors.MissingModuleError) as caught:
        exec(line, {})
    assert words in str(caught.value) and isinstance(caught.value, ModuleNotFoundError)


def test_import_lines_of_which_nothing_is_known_are_pythons_own_errors():
    for name in ("jaxaot.utils.dlpack", "jaxaot.nn.utils.prune", "jaxaot.nothing_like_it"):
        assert importlib.util.find_spec(name) is None and name not in sys.modules
    for line in ("import jaxaot.nothing_like_it", "from jaxaot import nothing_like_it", "import jaxaot.compile"):
        with pytest.raises(ImportError) as caught:
            exec(line, {})
        assert type(caught.value) in (ImportError, ModuleNotFoundError)
    exec("from jaxaot import *; from jaxaot.nn import Linear; import jaxaot.optim.lr_scheduler", {})
