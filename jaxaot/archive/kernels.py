"""Kernels of XLA that a program of an archive may call: all compute arrays from arrays, matrices into right shapes.

A kernel of LAPACK writes as much as its operands say, wherever it is told to: results that are declared smaller are
overrun. JAX declares them right, and a file may say anything, so each call is looked at here, as are those of TPUs that
XLA expands on any platform. What else may be called, XLA looks at itself when it compiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CALLED = re.compile(r"\bcustom_call\s+@([\w.$]+)|call_target_name\s*=\s*\"([^\"]*)\"")
_KNOWN = re.compile(
    r"lapack_\w+_ffi|(cu|hip)\w*_ffi|(cu|hip)_lu_pivots_to_permutation|Sharding|SPMDFullToShardShape|"
    r"SPMDShardToFullShape|annotate_device_placement|Eigh|Qr|ProductOfElementaryHouseholderReflectors|LuDecomposition|"
    r"ApproxTopK|AllocateBuffer|stablehlo\.dynamic_\w+|mhlo\.\w+|shape_assertion"
)
"""The names of those that a program may call. Those that call Python are none of these."""

_OF_MATRICES = re.compile(
    r"lapack_([sdcz])(\w+)_ffi|(Eigh|Qr|ProductOfElementaryHouseholderReflectors|LuDecomposition)"
)
_CALL = re.compile(r"custom_call @([\w.$]+)\(.*: \(([^()]*)\) -> (\([^()]*\)|tensor<[^()]*>)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_CONFIG = re.compile(r"backend_config = \{([^{}]*)\}")
_TYPE = re.compile(r"tensor<((?:\d+x)*)(\w+(?:<\w+>)?)(?:, [^<>]*)?>")

_TYPES = {"s": "f32", "d": "f64", "c": "complex<f32>", "z": "complex<f64>"}
_SHAPES = {
    "getrf": "mn -> mn k:i :i", "potrf": "nn -> nn :i", "geqrf": "mn -> mn k", "geqp3": "mn n:i -> mn n:i k",
    "orgqr": "mn t -> mn", "ungqr": "mn t -> mn", "syevd": "nn -> nn n:r :i", "heevd": "nn -> nn n:r :i",
    "gehrd": "nn -> nn p :i", "sytrd": "nn -> nn n:r p:r p :i", "hetrd": "nn -> nn n:r p:r p :i",
    "gtsv": "n n n nb -> n n n nb :i", "geev real": "nn -> n n nn:c nn:c :i", "geev complex": "nn -> n nn:c nn:c :i",
    "gees real": "nn -> nn nn n n :i :i", "gees complex": "nn -> nn nn n :i :i", "trsm left": "nn nb -> nb",
    "Eigh": "nn -> nn n:r", "Qr": "mn -> mn k", "ProductOfElementaryHouseholderReflectors": "mn t -> mn",
    "LuDecomposition": "mn -> mn k:i m:i",
    "trsm right": "nn bn -> bn", "svd whole": "mn -> mn k:r mm nn :i", "svd thin": "mn -> mn k:r mk kn :i",
}  # fmt: skip
"""What kernels take and return, without the dims of the batch, which come first. A letter is a size: `k` is the smaller
one of `m` and `n`, `p` is n - 1. Behind a colon stands the type where it is another: real, complex, or 32-bit integers.
"""


def refusals(text: str) -> Iterator[str]:
    """Yields why the kernels that a program calls may not be called."""
    called = [one or other for one, other in _CALLED.findall(text)]
    yield from (
        f"it calls {name}, which is none of the kernels that compute arrays from arrays"
        for name in sorted(set(called))
        if not _KNOWN.fullmatch(name)
    )
    expected = sorted(name for name in called if _OF_MATRICES.fullmatch(name))
    if not expected:
        return
    lines = (_CALL.search(_STRING.sub('""', line)) for line in text.splitlines() if "custom_call" in line)
    found = [match for match in lines if match and _OF_MATRICES.fullmatch(match[1])]
    if sorted(match[1] for match in found) != expected:
        yield f"its calls of {', '.join(dict.fromkeys(expected))} cannot be read"
    for match in found:
        if not _is_right(match):
            yield f"it calls {match[1]} with results of other shapes than those operands have"


def _is_right(match: re.Match[str]) -> bool:
    target, operands, results = match.groups()
    of_lapack = _OF_MATRICES.fullmatch(target)
    assert of_lapack is not None
    kind, name = of_lapack[1], of_lapack[2] or of_lapack[3]
    configs = _CONFIG.findall(match[0])
    config = dict(re.findall(r"(\w+) = (-?\d+)", configs[0])) if len(configs) == 1 else {}
    if name in ("geev", "gees"):
        name += " real" if kind in ("s", "d") else " complex"
    elif name == "trsm":
        name += " left" if config.get("side") == str(ord("L")) else " right"
    elif name in ("gesdd", "gesvd"):
        name = "svd whole" if config.get("mode") == str(ord("A")) else "svd thin"
    if name not in _SHAPES:
        return False
    wanted = [[slot.partition(":") for slot in side.split()] for side in _SHAPES[name].split("->")]
    given = [_types(operands), _types(results)]
    if list(map(len, given)) != list(map(len, wanted)):
        return False
    own_type = given[0][0][1]
    if kind is not None and own_type != _TYPES[kind]:
        return False
    batch = given[0][0][0][: -len(wanted[0][0][0])]
    sizes: dict[str, int] = {}
    real = own_type.removeprefix("complex<").removesuffix(">")
    types = {"": own_type, "i": "i32", "r": real, "c": f"complex<{real}>"}
    for side, slots in zip(given, wanted, strict=True):
        for (shape, dtype), (letters, _, code) in zip(side, slots, strict=True):
            own = shape[len(batch) :]
            if shape[: len(batch)] != batch or len(own) != len(letters) or dtype != types[code]:
                return False
            if any(sizes.setdefault(letter, size) != size for letter, size in zip(letters, own, strict=True)):
                return False
        n = sizes["n"]
        sizes |= {"k": min(sizes.get("m", n), n), "p": max(n - 1, 0)}
    if "t" in sizes and not sizes["t"] <= sizes["n"] <= sizes["m"]:
        return False
    return name != "gehrd" or 1 <= int(config.get("low", 0)) <= int(config.get("high", 0)) <= max(sizes["n"], 1)


def _types(text: str) -> list[tuple[tuple[int, ...], str]]:
    """Returns the shapes and dtypes of a list of types; nothing if one of them has no sizes."""
    found = _TYPE.findall(text)
    if len(found) != text.count("tensor<"):
        return []
    return [(tuple(map(int, sizes.split("x")[:-1])), dtype) for sizes, dtype in found]
