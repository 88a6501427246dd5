"""The contract: every name that users type exists, says what it does, and follows PyTorch where PyTorch has it."""

import ast
import dataclasses
import inspect

import pytest

import jaxaot as ja
from tests.cases import each
from tests.source import ROOT, WRITTEN, place_of, tree_of

MAKE = """
tensor as_tensor from_numpy from_dlpack interop.from_jax
zeros ones full empty eye arange linspace rand randn randint randperm
zeros_like ones_like full_like empty_like rand_like randn_like randint_like tril triu manual_seed Generator Tensor
"""

MATH = """
add sub mul div neg abs exp log log1p sqrt rsqrt pow sin cos tan tanh sigmoid erf floor ceil round trunc sign clamp
maximum minimum where eq ne lt le gt ge logical_and logical_or logical_not isnan isinf isfinite
sum mean prod amax amin max min argmax argmin any all var std norm logsumexp cumsum cumprod softmax log_softmax
matmul mm bmm mv dot outer einsum addmm baddbmm tensordot
cat stack split chunk unbind gather scatter scatter_add index_select index_add index_copy index_fill masked_fill
masked_select masked_scatter take nonzero sort argsort topk unique flip roll repeat_interleave tril triu diag
reshape flatten permute transpose t squeeze unsqueeze narrow select movedim swapaxes broadcast_to diagonal as_strided
relu dropout bernoulli multinomial normal allclose equal
"""

DTYPES = "float32 float16 bfloat16 int8 int16 int32 int64 uint8 bool complex64"

MODES = """
no_grad enable_grad inference_mode set_grad_enabled is_grad_enabled
autocast is_autocast_enabled get_autocast_dtype is_autocast_cache_enabled clear_autocast_cache
amp.autocast amp.is_autocast_available amp.GradScaler amp.custom_fwd amp.custom_bwd
"""

NAMESPACES = """
autograd.backward autograd.grad
nn.functional.relu nn.functional.gelu nn.functional.silu nn.functional.softmax nn.functional.log_softmax
nn.functional.layer_norm nn.functional.batch_norm nn.functional.embedding nn.functional.dropout
nn.functional.cross_entropy nn.functional.nll_loss nn.functional.mse_loss nn.functional.linear nn.functional.conv2d
nn.functional.scaled_dot_product_attention nn.functional.max_pool2d nn.functional.pad nn.functional.one_hot
linalg.norm linalg.solve linalg.inv linalg.det special.expit special.logsumexp
"""

FOREACH = """
_foreach_add_ _foreach_mul_ _foreach_div_ _foreach_sqrt _foreach_norm _foreach_lerp_ _foreach_addcmul_
_foreach_addcdiv_ _foreach_copy_ _foreach_zero_
"""

COMPILE = """
compile jit remat grad value_and_grad trace explain export load save config config.get config.set errors.JaxaotError
func.functionalize utils.checkpoint.checkpoint utils.checkpoint.checkpoint_sequential
estimate.plan estimate.profile estimate.largest_batch estimate.pareto estimate.Target
compiler.freeze compiler.compiled_autograd compiler.assume_constant
sizes.Dim sizes.mark_dynamic sizes.mark_static sizes.check interop.to_arrays interop.to_tensors
stages.Traced stages.JointGraph stages.Partition stages.Compiled stages.Report
policies.memory_budget policies.must_save policies.must_recompute policies.checkpoint_name
policies.from_jax policies.save_only_these_names policies.save_any_names_but_these
policies.save_anything_except_these_names policies.min_cut policies.save_all policies.Choice policies.register_policy
aot.aot_function aot.aot_module aot.aot_export_module aot.aot_export_joint_simple
aot.default_partition aot.min_cut_rematerialization_partition aot.memory_efficient_fusion aot.clear_compile_cache
aot.GraphSignature aot.BackwardSignature aot.ExportedGraph aot.AotModule
"""

METHODS = """
shape size stride storage_offset dtype device ndim dim numel is_contiguous _version _base _is_view is_leaf
requires_grad requires_grad_ grad grad_fn untyped_storage set_ resize_ data jax numpy item tolist backward register_hook
retain_grad detach detach_ clone contiguous to type_as float half bfloat16 int long bool
view view_as reshape flatten unflatten permute transpose t squeeze unsqueeze expand expand_as narrow select split chunk
unbind diagonal movedim swapaxes as_strided unfold T mT
t_ transpose_ squeeze_ unsqueeze_ swapaxes_ as_strided_
add_ sub_ mul_ div_ neg_ exp_ clamp_ fill_ zero_ copy_ masked_fill_ index_add_ index_copy_ index_fill_ scatter_
scatter_add_ normal_ uniform_ bernoulli_ relu_ addcmul_ addcdiv_ lerp_
new_zeros new_ones new_empty new_full new_tensor sum mean max min argmax matmul softmax
__getitem__ __setitem__ __iadd__ __isub__ __imul__ __itruediv__ __matmul__ __rsub__ __bool__ __float__ __int__ __len__
__iter__ __repr__ __jax_array__ __array__ __dlpack__ __deepcopy__
"""

CONTRACT = [
    name for text in (MAKE, MATH, DTYPES, MODES, NAMESPACES, FOREACH, COMPILE) for name in dict.fromkeys(text.split())
]
CONTRACT = list(dict.fromkeys(CONTRACT))


def resolve(path):
    value = ja
    for part in path.split("."):
        value = getattr(value, part)
    return value


@each("path", CONTRACT)
def test_the_name_exists(path):
    value = resolve(path)
    if callable(value) and path not in DTYPES.split():
        assert (inspect.getdoc(value) or "").strip(), f"ja.{path} has no docstring"


@pytest.mark.oracle
def test_names_that_are_said_to_be_pytorchs_are():
    torch = pytest.importorskip("torch")
    places = (torch, torch.Tensor, torch.nn.functional, torch.ops.aten)
    named = [*(name for names in ja._PYTORCH.values() for name in names), *ja._PYTORCH_PACKAGES, *ja._CONSTANTS]
    functions = [name for found in ja._functions() for name in found]
    assert not [name for name in named if not hasattr(torch, name)]
    assert not [name for name in functions if not any(hasattr(place, name) for place in places)]


def test_a_name_is_in_one_table():
    tables = [[n for names in t.values() for n in names] for t in (ja._PYTORCH, ja._OWN)]
    names = [*tables[0], *tables[1], *ja._PYTORCH_PACKAGES, *ja._OWN_PACKAGES, *ja._CONSTANTS]
    assert len(names) == len(set(names))
    assert {"__version__", *names, *(n for found in ja._functions() for n in found)} == set(dir(ja))


@each("name", dict.fromkeys(METHODS.split()))
def test_the_method_exists(name):
    assert hasattr(ja.Tensor, name)


def test_exported_names_are_public_and_say_what_they_do():
    undocumented = [
        name
        for name, value in vars(ja).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__.startswith("jaxaot")
        and not (inspect.getdoc(value) or "").strip()
    ]
    assert not undocumented


def test_functions_have_the_signatures_of_pytorch():
    assert list(inspect.signature(ja.add).parameters) == ["input", "other", "alpha", "out"]
    assert list(inspect.signature(ja.softmax).parameters) == ["input", "dim", "dtype", "out", "axis"]
    assert list(inspect.signature(ja.tensor).parameters) == ["data", "dtype", "device", "requires_grad"]


def public_definitions(path):
    """Yields (name, has a docstring) of the functions and classes at the top of a module that are not private."""
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list):
                continue  # what follows them says it
            yield node.name, ast.get_docstring(node) is not None


# The functions of rows are described by their schemas; dunder-like ones bound to Tensor by their operator.
ROWS = {"ops"}
BOUND = {"truth", "index_number", "iterate", "contains", "formatted", "copy_tensor", "reduce_tensor"}


@each("path", [path for path in WRITTEN if path.relative_to(ROOT).parts[0] not in ROWS], ids=place_of)
def test_public_functions_say_what_comes_back(path):
    undocumented = {name for name, has_docstring in public_definitions(path) if not has_docstring}
    assert not undocumented - BOUND


def functions_of_ops():
    """Yields (name, function) of every op that users see, methods too, once for each function."""
    from jaxaot.facade.members.methods import FUNCTIONS

    seen = set()
    methods = {name: getattr(ja.Tensor, name) for name in vars(ja.Tensor)}
    for place, found in [*FUNCTIONS.items(), ("Tensor", methods)]:
        for name, fn in found.items():
            if inspect.isfunction(fn) and not name.startswith("_") and id(fn) not in seen:
                seen.add(id(fn))
                yield f"{place}.{name}".lstrip("."), fn


def test_the_help_of_every_op_names_its_parameters_and_where_pytorch_has_it():
    for path, fn in functions_of_ops():
        doc = inspect.getdoc(fn) or ""
        sentence = doc.partition("\n\n")[0]
        assert len(sentence.split()) > 1 and "->" not in sentence.partition("`")[0], path
        for name in set(inspect.signature(fn).parameters) - {"self"}:
            assert f"\n  {name}: " in doc or f"\n  *{name}: " in doc, f"{path} does not say what `{name}` is"
            assert f"\n  {name}: \n" not in doc and not doc.endswith(f"\n  {name}: "), f"{path}: `{name}`"
        assert "torch." in doc or "`" in doc, path


def test_every_op_has_a_sentence_of_its_own():
    from jaxaot.ops.sentences import SENTENCES
    from jaxaot.ops.table import rows

    seen = [row for row in rows() if row.overload_of is None and (row.is_function or row.has_method)]
    assert not [row.name for row in seen if row.name not in SENTENCES]
    assert not set(SENTENCES) - {row.name for row in rows()}
    assert len(set(SENTENCES.values())) == len(SENTENCES)


def test_help_says_what_dim_does_and_what_is_a_view_or_in_place():
    assert "The dim along which the results add up to 1." in inspect.getdoc(ja.softmax)
    assert "Works in place" in inspect.getdoc(ja.Tensor.add_) and "See `torch.Tensor.add_`." in inspect.getdoc(
        ja.Tensor.add_
    )
    assert "shares memory" in inspect.getdoc(ja.transpose) and "shares memory" in inspect.getdoc(ja.Tensor.view)
    assert "memory of its own" in inspect.getdoc(ja.matmul) and "`Tensor.exp_`" in inspect.getdoc(ja.exp)
    assert "PyTorch's" in inspect.getdoc(ja.rand)


def test_a_function_of_several_forms_shows_each():
    assert str(inspect.signature(ja.max)).count("|") == 2
    assert list(inspect.signature(ja.max).parameters)[:3] == ["input", "dim", "keepdim"]
    assert "axis=dim" in str(inspect.signature(ja.softmax))


@pytest.mark.parametrize(
    "stage",
    [ja.stages.Traced, ja.stages.JointGraph, ja.stages.Partition, ja.stages.Compiled],
    ids=lambda cls: cls.__name__,
)
def test_the_help_of_a_stage_is_its_own(stage):
    doc = inspect.getdoc(stage)
    assert "see `jaxaot." not in doc and "Attributes:" in doc
    for field in dataclasses.fields(stage):
        assert f"\n  {field.name}: " in doc, field.name
