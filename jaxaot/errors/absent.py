"""What is said of names that are not there: what to write instead, or which name was meant.

A name of PyTorch's that has no counterpart here is in a table, with what to write in its place.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Iterable

from jaxaot.errors import ArgumentError, MissingModuleError, MissingNameError

_DEVICE = (
    "Arrays live on JAX's default device, the first accelerator if there is one. `jax.devices()` lists them, "
    "`x.to(jax.devices('gpu')[0])` moves a tensor, `with jax.default_device(d):` makes new ones elsewhere."
)
_PARALLEL = (
    "Spread the batch over the devices, `ja.distributed.distribute_tensor(batch, mesh, [ja.distributed.Shard(0)])`, "
    "and the parameters by `ja.distributed.fully_shard(model, mesh)`."
)
_SCRIPT = "Write `ja.compile(fn)`, which traces, compiles and caches; `ja.aot` exports graphs."
_SPARSE = "Tensors are dense. `jax.experimental.sparse` has sparse arrays."
_SETUP = (
    "One process drives all devices of a machine; `python -m jaxaot.distributed.launch script.py` starts several, and "
    "`jax.distributed.initialize()` connects machines. Write `ja.distributed.init_device_mesh` for the devices."
)
_EXCHANGE = (
    "Tensors that lie over devices are exchanged by `x.redistribute(placements=…)`; inside of "
    "`ja.distributed.local_map` write `jax.lax.psum`, `all_gather` and their like."
)

MOVED = {
    **{
        name: f"{place}.{name}"
        for place, names in {
            "estimate": ("DevicePlan", "Profile", "Target", "largest_batch", "pareto", "plan", "profile"),
            "policies": ("checkpoint_name", "memory_budget", "must_recompute", "must_save"),
            "sizes": ("Dim", "check", "mark_dynamic", "mark_static"),
            "stages": ("Compiled", "JointGraph", "Partition", "Report", "Traced"),
            "interop": ("from_jax", "to_arrays", "to_tensors"),
            "compiler": ("assume_constant", "compiled_autograd", "freeze"),
            "utils.checkpoint": (
                "checkpoint",
                "checkpoint_sequential",
                "set_checkpoint_debug_enabled",
                "set_checkpoint_early_stop",
            ),
            "func": ("functionalize",),
            "random": ("fork_rng",),
            "errors": ("JaxaotError",),
        }.items()
        for name in names
    },
    "load_state": "load(path)",
    "get_config": "config.get()",
    "set_config": "config.set(…)",
    "Config": "config.get()",
}
"""Name that `jaxaot` had before 0.1.0 → where it is now."""

HINTS = {
    "jaxaot": {
        "cudnn": "XLA chooses kernels. Settings are in `ja.config(…)`.",
        "multiprocessing": "Start processes with Python's `multiprocessing`, with the start method `spawn`.",
        "script": _SCRIPT,
        "fx": "Graphs are jaxprs: `ja.trace(fn, *args).jaxpr`.",
        "onnx": "Write `jax.export` on `ja.func.functionalize(fn)`, or a converter of jaxprs such as `jax2onnx`.",
        "sparse": _SPARSE,
        "sparse_coo_tensor": _SPARSE,
        "sparse_csr_tensor": _SPARSE,
        "cpu": _DEVICE,
        "mtia": _DEVICE,
        "get_device_module": _DEVICE,
        "Stream": "XLA orders what runs on a device.",
        "Event": "XLA orders what runs on a device. Write `x.jax().block_until_ready()` before reading a clock.",
        "overrides": "Write a subclass of `ja.Tensor` with `__tensor_dispatch__`, see docs/subclasses.md.",
        "package": "Write `ja.export(fn, *args).save(path)`.",
        "functional": "Write `ja.nn.functional`, or the function itself: `ja.einsum`, `ja.stft`, ….",
        "futures": "JAX runs ahead of Python by itself: a tensor is there before its value is.",
        "fork": "JAX runs ahead of Python by itself: a tensor is there before its value is.",
        "seed": "Write `ja.manual_seed(seed)`.",
        "binary_cross_entropy_with_logits": "Write `ja.nn.functional.binary_cross_entropy_with_logits`.",
        "kl_div": "Write `ja.nn.functional.kl_div`.",
        "lstm": "Write `ja.nn.LSTM`.",
        "gru": "Write `ja.nn.GRU`.",
        "range": "Write `ja.arange`, which leaves the end out.",
        "lstsq": "Write `ja.linalg.lstsq`.",
        "eig": "Write `ja.linalg.eig`.",
        "symeig": "Write `ja.linalg.eigh`.",
        "solve": "Write `ja.linalg.solve`.",
        "matrix_rank": "Write `ja.linalg.matrix_rank`.",
        "SymInt": "Sizes are Python's ints; see docs/sizes.md for sizes that change.",
        "classes": "Write `ja.autograd.Function`, or `jax.custom_vjp` in `ja.func`.",
        "to_dlpack": "Write `jax.dlpack`, or `x.numpy()`.",
        "from_file": "Write `ja.from_numpy(numpy.memmap(path, …))`, or `ja.load(path)` of safetensors.",
        "nested": "Tensors are not nested: pad them, and use masks.",
        "quantization": "Write `qwix` for flax modules, or casts to `ja.float8_e4m3fn` and `ja.int8`.",
        "ao": "Write `qwix` for flax modules, or casts to `ja.float8_e4m3fn` and `ja.int8`.",
        "hub": "Download weights as safetensors, and write `model.load_state_dict(ja.load(path))`.",
        "library": "Write `ja.autograd.Function`, or `jax.custom_vjp` in `ja.func`.",
        "vmap": "Write `ja.func.vmap`.",
        "inference": "Write `with ja.inference_mode():`.",
        **{name: f"Write `ja.{place}`." for name, place in MOVED.items()},
    },
    "jaxaot.cuda": {
        "Stream": "XLA orders what runs on a device.",
        "stream": "XLA orders what runs on a device.",
        "current_stream": "XLA orders what runs on a device.",
        "default_stream": "XLA orders what runs on a device.",
        "Event": "XLA orders what runs on a device. Write `ja.cuda.synchronize()`, and read a clock.",
        "CUDAGraph": "XLA runs a program as a whole: write `ja.compile(fn)`.",
        "graph": "XLA runs a program as a whole: write `ja.compile(fn)`.",
        "make_graphed_callables": "XLA runs a program as a whole: write `ja.compile(fn)`.",
        "nvtx": "Write `with ja.profiler.record_function(name):`.",
        "get_device_properties": "Write `jax.devices()[0]`, which has `device_kind` and `memory_stats()`.",
        "memory_summary": "Write `ja.cuda.memory_stats()`.",
        "set_per_process_memory_fraction": "Set `XLA_PYTHON_CLIENT_MEM_FRACTION` in the environment of the process.",
        "FloatTensor": "Write `ja.FloatTensor`: arrays live on JAX's default device.",
        "LongTensor": "Write `ja.LongTensor`: arrays live on JAX's default device.",
    },
    "jaxaot.profiler": {
        "profile": "Write `with jax.profiler.trace(folder):`, and open the folder with `xprof` or Perfetto.",
        "schedule": "Write `jax.profiler.start_trace(folder)` and `jax.profiler.stop_trace()` around the steps.",
        "tensorboard_trace_handler": "`with jax.profiler.trace(folder):` writes what `xprof` reads.",
        "ProfilerActivity": "`with jax.profiler.trace(folder):` shows all devices.",
    },
    "jaxaot._dynamo": {
        "explain": "Write `print(ja.compile(fn).explain(*args))`.",
        "export": "Write `ja.trace(fn, *args)` for the graph, `ja.export(fn, *args)` for a file.",
        "optimize": "Write `ja.compile(fn)`.",
        "utils": "Write `step.cache_info()` for how many programs a function has.",
        "testing": "Write `step.cache_info()` for how many programs a function has.",
    },
    "jaxaot.nn.attention": {
        "flex_attention": "Write `ja.nn.functional.scaled_dot_product_attention` with a mask or bias.",
        "bias": "Write `ja.nn.functional.scaled_dot_product_attention(…, is_causal=True)`, or a mask.",
    },
    "jaxaot.nn.parallel": {"DistributedDataParallel": _PARALLEL},
    "jaxaot.utils": {
        "dlpack": "Write `ja.from_dlpack`.",
        "tensorboard": "`tensorboardX.SummaryWriter` takes numbers and arrays: `loss.item()`, `x.numpy()`.",
        "benchmark": "Time a later call of a function, and wait for it: `jax.block_until_ready(y.jax())`.",
        "cpp_extension": "Write `jax.ffi`, and `ja.autograd.jax_function` of a function that calls it.",
    },
    "jaxaot.utils.data": {"distributed": "One process loads for all devices of a machine. " + _PARALLEL},
    "jaxaot.distributions": dict.fromkeys(
        ("TransformedDistribution", "transforms"),
        "Write the density by hand: `normal.log_prob(x) - (1 - x.tanh()**2).log()` is that of `x.tanh()`.",
    ),
    "jaxaot.utils.checkpoint": {
        "CheckpointPolicy": "Write `ja.policies.Choice`, see `ja.policies`.",
        "create_selective_checkpoint_contexts": "Write `policy=`, such as `ja.policies.save_only_these_names(…)`.",
        "noop_context_fn": "Write `policy=` for what is saved inside.",
    },
    "jaxaot.nn": {
        "UninitializedBuffer": "Write `ja.nn.Buffer(ja.empty(sizes))`.",
        "quantized": "Write `qwix` for flax modules, or casts to `ja.float8_e4m3fn` and `ja.int8`.",
        "CrossMapLRN2d": "Write `ja.nn.LocalResponseNorm`.",
        "AdaptiveLogSoftmaxWithLoss": "Write `ja.nn.Linear` and `ja.nn.functional.cross_entropy`.",
    },
    "jaxaot.nn.utils": {
        "stateless": "Write `ja.func.functional_call`.",
        "prune": "Write a `ja.nn.utils.parametrize` that multiplies by a mask.",
    },
    "jaxaot.compiler": {
        "compile": "Write `ja.compile(fn)`.",
        "list_backends": "The backends of `ja.compile` are 'xla' and 'interpret'.",
    },
    "jaxaot.aot": {
        "nop": 'Write `"interpret"` for the compiler, which runs one equation at a time.',
        "print_compile": "Write a compiler: `lambda jaxpr, avals: print(jaxpr) or jaxpr`.",
        "draw_graph": "Write `print(ja.trace(fn, *args))`, or `str` of any stage.",
    },
    "jaxaot.distributed": {
        "init_process_group": _SETUP,
        "destroy_process_group": "Nothing has to be ended.",
        "get_rank": "Write `jax.process_index()`.",
        "get_world_size": "Write `jax.device_count()` for devices, `jax.process_count()` for processes.",
        "barrier": "Write `jax.experimental.multihost_utils.sync_global_devices(name)`.",
        "all_reduce": _EXCHANGE,
        "all_gather": _EXCHANGE,
        "reduce_scatter_tensor": _EXCHANGE,
        "broadcast": _EXCHANGE,
        "DeviceMesh": "Write `ja.distributed.init_device_mesh`, which returns a `jax.sharding.Mesh`.",
        "ReduceOp": _EXCHANGE,
        "rpc": "Write one program over all devices, see docs/many_devices.md.",
    },
    "jaxaot.optim": {
        "SparseAdam": "Gradients are dense: write `ja.optim.Adam`.",
        "ASGD": "Write `ja.optim.SGD` and `ja.optim.swa_utils.AveragedModel`.",
        "Lion": "Write `ja.optim.from_optax(optax.lion(lr), params)`.",
        "LAMB": "Write `ja.optim.from_optax(optax.lamb(lr), params)`.",
    },
    "Tensor": {
        "mps": _DEVICE,
        "pin_memory": "Nothing has to be pinned: JAX copies from NumPy arrays without blocking.",
        "is_pinned": "Nothing has to be pinned: JAX copies from NumPy arrays without blocking.",
        "share_memory_": "Send `x.numpy()` to other processes.",
        "record_stream": "XLA orders what runs on a device.",
        **dict.fromkeys(("sparse_dim", "dense_dim", "coalesce", "is_coalesced", "indices", "values"), _SPARSE),
        "to_dense": "Tensors are dense already.",
        "names": "Dims have no names here: `einops` and `ja.einsum` name them where they are used.",
        "rename": "Dims have no names here: `einops` and `ja.einsum` name them where they are used.",
        "at": "Tensors are written in place: `x[i] = y`, `x[i] += y`, on a copy after `x = x.clone()`.",
        "astype": "Write `x.to(ja.float32)`, or `x.float()`, `x.long()` and the like.",
        "block_until_ready": "Write `ja.accelerator.synchronize()`, or `jax.block_until_ready(x.jax())`.",
        "copy": "Write `x.clone()`, or `x.numpy().copy()` for an array of NumPy.",
        "resize": "Write `x.reshape(sizes)`, or `x.resize_(sizes)` in place.",
        "is_shared": "Send `x.numpy()` to other processes.",
        "lstsq": "Write `ja.linalg.lstsq`.",
        "eig": "Write `ja.linalg.eig`.",
        "symeig": "Write `ja.linalg.eigh`.",
        "solve": "Write `ja.linalg.solve`.",
        "to_sparse": "Tensors are dense. `jax.experimental.sparse.BCOO.fromdense(x.jax())` is a sparse array.",
        "to_mkldnn": "XLA chooses layouts.",
        "quantize": "Write casts to `ja.float8_e4m3fn` or `ja.int8`.",
        "xpu": _DEVICE,
    },
}
"""Place → name → what to write instead."""


def missing_name(place: str, name: str, known: Iterable[str], obj: object = None) -> MissingNameError:
    """Returns the error for a name that is not there.

    Args:
      place: The module, `jaxaot.nn`, or `Tensor`.
      name: What was asked for.
      known: What is there.
      obj: The module or tensor, for Python's own words.
    """
    what = f"'{place}' object" if place == "Tensor" else f"module '{place}'"
    words = f"{what} has no attribute '{name}'"
    hint = HINTS.get(place, {}).get(name)
    if hint is not None:
        words += f". {hint}"
    elif not name.startswith("_"):  # what Python and tools look for on any module costs no search
        near = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 1, 0.75)
        if near:
            words += f". Did you mean: '{near[0]}'?"
    is_whole = hint is not None or "Did you mean" in words  # Python would add a name that it finds alike
    return MissingNameError(words, name=name, obj=None if is_whole else obj)


class Finder:
    """Stands last in `sys.meta_path`, and says of an import line of ours that fails what attribute access would say.

    It finds no module. Whoever asks whether there is one, as `importlib.util.find_spec` does, is told that there is
    none.
    """

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Raises if an import line names what a module of ours has not, and there is something to say of that.

        Raises:
          MissingModuleError: If so.
        """
        if not fullname.startswith("jaxaot."):
            return
        place, _, name = fullname.rpartition(".")
        steps, frame = set(), sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            steps.add(frame.f_code.co_name)
            frame = frame.f_back
        if "_find_and_load" not in steps or place not in sys.modules:  # nobody imports it
            return
        try:
            getattr(sys.modules[place], name)
        except MissingNameError as error:
            advice = str(error).partition(f"has no attribute '{name}'")[2]
            if not advice:
                return
            is_from = "_handle_fromlist" in steps
            what = f"cannot import name '{name}' from '{place}'" if is_from else f"No module named '{fullname}'"
            # Python drops the error of a line `from jaxaot import name` that has the name of a module
            raise MissingModuleError(what + advice, name=place if is_from else fullname) from None


_KEYWORDS = {
    "learning_rate": "lr", "alpha": "lr", "b1": "betas", "b2": "betas", "beta": "betas", "beta1": "betas",
    "decay": "weight_decay", "epsilon": "eps", "use_bias": "bias", "rate": "p", "dropout_rate": "p",
    "strides": "stride",
    "kernel_dilation": "dilation", "feature_group_count": "groups", "num_features": "out_features",
    "features": "out_features", "in_dim": "in_features", "out_dim": "out_features",
}  # fmt: skip
"""What other libraries call an argument, and what PyTorch does."""


def check_keywords(cls: type, given: Iterable[str]) -> None:
    """Raises if a class is made with an argument by a name that its `__init__` does not know.

    Raises:
      ArgumentError: If so.
    """
    known = inspect.signature(cls.__init__).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    names = [name for name in known if name != "self"]
    for name in given:
        if name not in names:
            meant = _KEYWORDS.get(name)
            near = [meant] if meant in names else difflib.get_close_matches(name, names, 1, 0.6)
            advice = f"Did you mean `{near[0]}`?" if near else f"The arguments are: {', '.join(names)}."
            raise ArgumentError(f"{cls.__name__} got an unexpected keyword argument '{name}'. {advice}")
