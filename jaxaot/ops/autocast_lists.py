"""In which precision ops run under `autocast`: PyTorch's lists, by the names of rows.

An op that is in no list runs in whatever dtypes it is given. On CPU the lists are those that PyTorch 2.13 registers for
it, elsewhere those of its accelerators. Ops that PyTorch composes of others, some of which are listed, are here too
with what comes out of that: `einsum` contracts in the lower precision, `pinv` is computed in float32 and its result is
of the lower precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxaot._immutable import immutable
from jaxaot.errors import DtypeError
from jaxaot.ops.promotion import is_number


@immutable
class Casting:
    """What happens to the floating-point operands of an op.

    Attributes:
      to: `"lower"`, the dtype of autocast; `"float32"`; or `"widest"`, float32 if one of them is that, else the lower.
      rounded: Numbers of the results that are cast to the lower dtype afterwards.
    """

    to: str
    rounded: tuple[int, ...] = ()


LOWER, FLOAT32, WIDEST = Casting("lower"), Casting("float32"), Casting("widest")
_PRODUCT_OF_FLOAT32 = Casting("float32", (0,))

Rule = Callable[[dict[str, Any]], Casting | None]
"""Takes the arguments of a call by name."""


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))  # the row says what is wrong with anything else


def _if_several(arguments: dict[str, Any]) -> Casting | None:
    (matrices,) = arguments.values()
    return LOWER if len(matrices) > 1 else None


def _if_contracted(arguments: dict[str, Any]) -> Casting | None:
    """Casts if a label that is summed over stands in two operands; else `einsum` only multiplies and sums."""
    inputs, arrow, output = arguments["equation"].replace(" ", "").replace("...", "").partition("->")
    terms = inputs.split(",")
    counts = {label: sum(label in term for term in terms) for label in set(inputs) - {","}}
    kept = set(output) if arrow else {label for label in counts if inputs.count(label) == 1}
    return LOWER if any(n > 1 and label not in kept for label, n in counts.items()) else None


def _if_rows(arguments: dict[str, Any]) -> Casting | None:
    left, right = map(_shape, arguments.values())
    return LOWER if left and right and math.prod(left[:-1]) * math.prod(right[:-1]) != 1 else None


def _unless_dot(arguments: dict[str, Any]) -> Casting | None:
    """Casts unless a single number comes out, which is a `dot` and in no list."""
    left, right = _shape(arguments["a"]), _shape(arguments["b"])
    dims = arguments["dims"]
    if isinstance(dims, int):
        summed = range(len(left) - dims, len(left)), range(dims)
    else:
        summed = tuple([d % max(len(shape), 1) for d in part] for part, shape in zip(dims, (left, right), strict=True))
    kept = [n for shape, part in zip((left, right), summed, strict=True) for i, n in enumerate(shape) if i not in part]
    return None if math.prod(kept) == 1 else LOWER


def _if_multiplied(arguments: dict[str, Any]) -> Casting | None:
    n = arguments["n"]
    return FLOAT32 if n == -1 else _PRODUCT_OF_FLOAT32 if abs(n) > 1 else None


def _if_reflected(arguments: dict[str, Any]) -> Casting | None:
    mode, n = arguments["mode"], len(arguments["pad"])
    return FLOAT32 if mode == "replicate" or (mode == "reflect" and n < 6) else None


def _if_pooled_in_3d(arguments: dict[str, Any]) -> Casting | None:
    return FLOAT32 if arguments["mode"] == "area" and len(_shape(arguments["input"])) == 5 else None


def _if_of_images(arguments: dict[str, Any]) -> Casting | None:
    return FLOAT32 if len(_shape(arguments["input"])) > 3 else None


def _if_any_dim(arguments: dict[str, Any]) -> Casting | None:
    return FLOAT32 if _shape(arguments["input"]) else None


def _unless_dtype(arguments: dict[str, Any]) -> Casting | None:
    return FLOAT32 if arguments.get("dtype") is None else None


def _refused(arguments: dict[str, Any]) -> Casting | None:
    raise DtypeError(
        "binary_cross_entropy is unsafe to autocast: the gradients of its logarithms overflow in float16. Leave the "
        "sigmoid before it out and call `binary_cross_entropy_with_logits`, or compute it in float32 inside "
        "`with ja.autocast(enabled=False):`."
    )


def _unless_number(arguments: dict[str, Any]) -> Casting | None:
    return None if all(map(is_number, arguments.values())) else FLOAT32


def _each(names: str, casting: Casting | Rule) -> dict[str, Casting | Rule]:
    return dict.fromkeys(names.split(), casting)


_PRODUCTS: dict[str, Casting | Rule] = _each(
    """
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    matmul mm bmm addmm baddbmm addbmm linear prelu vecdot
    scaled_dot_product_attention multi_head_attention_forward
    """,
    LOWER,
) | {
    "einsum": _if_contracted,
    "inner": _if_rows,
    "tensordot": _unless_dot,
    "chain_matmul": _if_several,
    "multi_dot": _if_several,
    "matrix_power": _if_multiplied,
    **_each("cov corrcoef pinv svd_lowrank pca_lowrank", _PRODUCT_OF_FLOAT32),
}

_LOSSES = """
    nll_loss cross_entropy linear_cross_entropy binary_cross_entropy_with_logits
    l1_loss smooth_l1_loss mse_loss huber_loss kl_div poisson_nll_loss soft_margin_loss hinge_embedding_loss
    margin_ranking_loss multi_margin_loss multilabel_margin_loss triplet_margin_loss cosine_embedding_loss
"""

ON_CPU: dict[str, Casting | Rule] = (
    _PRODUCTS
    | _each(
        """
        avg_pool3d adaptive_avg_pool3d lp_pool3d max_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices
        fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
        fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d
        binary_cross_entropy ctc_loss ctc_loss_of_lengths
        grid_sample grid_sampler grid_sampler_2d grid_sampler_3d polar prod quantile nanquantile trace cdist
        stft fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn
        fft_irfftn fft_hfft fft_ihfft
        cholesky cholesky_inverse cholesky_solve linalg_cholesky cholesky_ex inverse inv inv_ex pinverse lu lu_solve
        solve lstsq tensorinv tensorsolve triangular_solve qr linalg_qr geqrf orgqr ormqr householder_product
        svd linalg_svd svdvals eig eigvals eigh eigvalsh cond matrix_rank
        """,
        FLOAT32,
    )
    | _each(_LOSSES, FLOAT32)
    | {"pad": _if_reflected, "interpolate": _if_pooled_in_3d, "upsample": _if_pooled_in_3d}
    | {"local_response_norm": _if_of_images, "masked_prod": _if_any_dim}
    | _each("cat stack hstack vstack dstack column_stack index_copy", WIDEST)
)

ON_ACCELERATORS: dict[str, Casting | Rule] = (
    _PRODUCTS
    | _each("addmv addr mv", LOWER)
    | _each(
        """
        acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan softplus
        layer_norm native_layer_norm rms_norm group_norm cosine_similarity dist pdist cdist renorm logsumexp
        interpolate upsample upsample_nearest upsample_bilinear
        """,
        FLOAT32,
    )
    | _each(_LOSSES, FLOAT32)
    | {"pow": _unless_number, "binary_cross_entropy": _refused}
    | _each("prod softmax log_softmax softmin cumprod cumsum sum", _unless_dtype)
    | _each("norm linalg_norm vector_norm matrix_norm", _unless_dtype)
    | _each("addcdiv addcmul atan2 bilinear linalg_cross cross dot vdot", WIDEST)
    | _each("grid_sample grid_sampler index_put scatter_add", WIDEST)
)

LISTED = frozenset(ON_CPU) | frozenset(ON_ACCELERATORS)


def casting_of(name: str, platform: str, arguments: dict[str, Any]) -> Casting | None:
    """Returns the casts of the operands in a call of an op, or None for none."""
    found = (ON_CPU if platform == "cpu" else ON_ACCELERATORS).get(name)
    return found if found is None or isinstance(found, Casting) else found(arguments)
