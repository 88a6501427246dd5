"""What scripts ask of devices and set before they train: answered as by PyTorch without CUDA, and in force."""

import importlib
import subprocess
import sys
import warnings

import jax
import pytest

import jaxaot as ja
from jaxaot.backends import cudnn
from jaxaot.cuda.amp import GradScaler, autocast
from jaxaot.nn.attention import SDPBackend, sdpa_kernel

ANSWERS = """
cuda.is_available() cuda.device_count() cuda.is_bf16_supported() cuda.is_initialized() cuda.empty_cache()
cuda.memory_allocated() cuda.max_memory_allocated() cuda.max_memory_reserved() cuda.get_rng_state_all()
cuda.manual_seed(0) cuda.manual_seed_all(0) cuda.seed() mps.is_available() mps.device_count() xpu.is_available()
xpu.device_count() accelerator.is_available() accelerator.device_count() accelerator.current_accelerator()
version.cuda version.hip backends.mps.is_available() backends.mps.is_built() backends.cuda.is_built()
backends.cudnn.is_available() backends.cudnn.enabled backends.cudnn.benchmark backends.cudnn.deterministic
backends.cudnn.version() backends.cuda.flash_sdp_enabled() backends.cuda.matmul.allow_tf32
backends.cuda.matmul.allow_bf16_reduced_precision_reduction backends.mkldnn.enabled
are_deterministic_algorithms_enabled() get_float32_matmul_precision() get_default_device().type
float32.is_floating_point complex64.is_complex float16.itemsize device(type="cpu").type
FloatTensor([1,2]).tolist() LongTensor([1.5]).tolist() FloatTensor(2,3).size() FloatTensor(size=(2,)).size()
FloatTensor.__name__ ByteTensor([1]).type() HalfTensor([1]).type() ones(2).type(BoolTensor).tolist()
ones(2).type("torch.BoolTensor").tolist() autograd.Variable(ones(2),requires_grad=True).is_leaf
autograd.Variable(ones(2,requires_grad=True)).requires_grad embedding(eye(3),tensor([2])).tolist()
embedding(weight=eye(3),indices=tensor([0]),padding_idx=1).tolist() _dynamo.config.suppress_errors
_inductor.config.coordinate_descent_tuning compiler.is_dynamo_compiling()
lstm_cell(ones(1,2),(zeros(1,1),ones(1,1)),ones(4,2),ones(4,1))[1].tolist()
gru_cell(ones(1,2),ones(1,1),ones(3,2),ones(3,1)).tolist()
rnn_relu_cell(ones(1,2),ones(1,1),ones(1,2),ones(1,1)).tolist()
"""


def answer(library, question):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return repr(eval(question, {"__builtins__": __builtins__}, vars_of(library))).replace("torch.", "ja.")


class vars_of(dict):
    def __init__(self, library):
        super().__init__()
        self.library = library

    def __missing__(self, name):
        return getattr(self.library, name)


@pytest.mark.oracle
def test_answers_are_those_of_pytorch_without_cuda():
    torch = pytest.importorskip("torch")
    importlib.import_module("torch._inductor.config")
    questions = ANSWERS.split()
    assert {q: answer(ja, q) for q in questions} == {q: answer(torch, q) for q in questions}


def test_a_script_that_asks_runs_on_what_there_is():
    device = ja.device("cuda" if ja.cuda.is_available() else "mps" if ja.backends.mps.is_available() else "cpu")
    model = ja.nn.Linear(2, 1).to(device)
    scaler = ja.amp.GradScaler("cpu", enabled=ja.cuda.is_available())
    with ja.autocast(device.type, enabled=False):
        scaler.scale(model(ja.ones(3, 2, device=device)).sum()).backward()
    assert device.type == "cpu" and next(model.parameters()).grad.device == device
    ja.cuda.synchronize()
    with ja.autograd.set_grad_enabled(False), pytest.warns(UserWarning, match="JAX has no GPU"):
        assert not GradScaler().is_enabled()
    with autocast():
        assert (ja.ones(1, 1) @ ja.ones(1, 1)).dtype == ja.float32


def test_what_needs_a_gpu_says_what_to_write():
    for use in (
        lambda: ja.ones(1).cuda(),
        lambda: ja.nn.Linear(1, 1).cuda(),
        lambda: ja.ones(1).to("cuda:0"),
        lambda: ja.zeros(1, device="cuda"),
        lambda: ja.cuda.current_device(),
        lambda: ja.cuda.set_device(0),
        lambda: ja.set_default_device("cuda"),
    ):
        with pytest.raises(ja.errors.TensorTypeError, match=r"not compiled with CUDA enabled.*Leave it out"):
            use()


def test_settings_are_taken_and_read_back():
    with cudnn.flags(benchmark=True, deterministic=True):
        assert ja.backends.cudnn.benchmark and cudnn.deterministic
    assert not cudnn.benchmark and not hasattr(cudnn, "no_such_setting")
    cudnn.of_mine = 3
    assert ja.backends.cudnn.of_mine == 3 and "of_mine" in dir(cudnn)
    with sdpa_kernel([SDPBackend.MATH]):
        assert ja.backends.cuda.math_sdp_enabled() and not ja.backends.cuda.flash_sdp_enabled()
    ja.backends.cuda.enable_flash_sdp(True)
    assert ja.backends.cuda.flash_sdp_enabled()
    with ja._dynamo.config.patch("verbose", True), ja._dynamo.config.patch(cache_size_limit=64):
        assert ja._dynamo.config.verbose and ja._dynamo.config.cache_size_limit == 64
    ja.set_num_threads(3)
    ja.use_deterministic_algorithms(True, warn_only=True)
    assert ja.get_num_threads() == 3 and ja.is_deterministic_algorithms_warn_only_enabled()
    ja.use_deterministic_algorithms(False)
    for use in (
        lambda: ja.set_num_threads(0),
        lambda: ja.set_float32_matmul_precision("exact"),
        lambda: sdpa_kernel(1).__enter__(),
    ):
        with pytest.raises(ja.errors.ArgumentError):
            use()


def test_the_precision_of_products_is_in_force_in_compiled_functions_too():
    step = ja.compile(lambda x: x @ x, fullgraph=True)
    x = ja.ones(2, 2)
    try:
        for word in ("high", "medium", "highest"):
            ja.set_float32_matmul_precision(word)
            assert ja.get_float32_matmul_precision() == word
            assert ja.backends.cuda.matmul.allow_tf32 == (word != "highest")
            graph = str(step.trace(x).jaxpr)
            assert {"high": "HIGH", "medium": "DEFAULT", "highest": "HIGHEST"}[word] in graph
            step(x)
        assert step.cache_info().currsize == 3
        ja.backends.cuda.matmul.allow_tf32 = True
        assert ja.get_float32_matmul_precision() == "high"
    finally:
        jax.config.update("jax_default_matmul_precision", None)


def test_the_default_device_is_where_tensors_are_made():
    try:
        ja.set_default_device("meta")
        assert ja.ones(2).device.type == "meta" and ja.get_default_device() == ja.device("meta")
        ja.set_default_device(ja.device("cpu"))
        assert ja.ones(2).tolist() == [1, 1] and ja.get_default_device() == ja.device("cpu")
    finally:
        ja.set_default_device(None)


DEFAULT_DTYPE = """
import jaxaot as ja
makers = (
    lambda: ja.tensor(1.5), lambda: ja.zeros(2), lambda: ja.rand(2), lambda: ja.arange(0, 1, 0.5), lambda: ja.Tensor(2),
    lambda: ja.tensor([1, 2]) / 2, lambda: ja.tensor([1, 2]) * 1.5, lambda: ja.where(ja.tensor([True]), 1.0, 2.0),
    lambda: ja.nn.Linear(2, 2).weight,
)
compiled = ja.compile(lambda x: (ja.zeros(2) + x / 2, x * 1.5), fullgraph=True)
for wanted in (ja.float32, ja.float16, ja.float32):
    ja.set_default_dtype(wanted)
    assert [make().dtype for make in makers] == [wanted] * len(makers), [make().dtype for make in makers]
    assert [y.dtype for y in compiled(ja.tensor([1, 2]))] == [wanted] * 2
    assert ja.get_default_dtype() == wanted and repr(ja.zeros(1)) == "tensor([0.])"
    assert ja.ones(2, dtype=ja.bfloat16).mul(1.5).dtype == ja.bfloat16
"""


def test_the_default_dtype_is_in_force_everywhere():
    subprocess.run([sys.executable, "-c", DEFAULT_DTYPE], check=True)  # it forgets all kernels of its process


def test_what_is_no_default_dtype_is_refused():
    with pytest.raises(TypeError, match="only floating-point types"):
        ja.set_default_dtype(ja.int32)
    ja.set_default_tensor_type("torch.FloatTensor")
    with pytest.raises(ja.errors.UsageError, match="Call it before"):
        ja.compile(lambda x: ja.set_default_dtype(ja.float16), fullgraph=True)(ja.ones(1))


def test_classes_of_tensors_know_their_instances():
    x = ja.ones(2)
    assert isinstance(x, ja.FloatTensor) and not isinstance(x, ja.IntTensor) and not isinstance(3, ja.FloatTensor)
    assert isinstance(x, ja.autograd.Variable) and isinstance(ja.nn.Parameter(x), ja.FloatTensor)
    assert ja.FloatTensor.dtype == ja.float32 and ja.FloatTensor(ja.ones(2)).tolist() == [1, 1]
    y = ja.autograd.Variable(x, requires_grad=True)
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2, 2] and y.data_ptr() == x.data_ptr()
    with pytest.raises(ja.errors.TensorTypeError, match=r"`ja.tensor\(data, requires_grad=True\)`"):
        ja.autograd.Variable([1.0])


def test_a_recorded_function_names_its_operations():
    @ja.profiler.record_function("whole")
    def fn(x):
        with ja.profiler.record_function("part"):
            return x * 2

    assert fn(ja.ones(2)).tolist() == [2, 2] and ja.compile(fn, fullgraph=True)(ja.ones(2)).tolist() == [2, 2]
    (eqn, *_) = ja.trace(fn, ja.ones(2)).jaxpr.eqns
    assert "whole/part" in str(eqn.source_info.name_stack)
