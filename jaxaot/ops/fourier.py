"""Fourier transforms: `fft.*`, `stft` and `istft`.

A *half spectrum* keeps the non-negative frequencies of a real signal, the others being their conjugates: n // 2 + 1 of
n. `rfft` goes from a real signal to its half spectrum, `irfft` back; `hfft` and `ihfft` are the same with signal and
spectrum exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxaot._typing import Array, DTypeLike, Shape
from jaxaot.errors import ArgumentError, DimError, DtypeError, ShapeMismatchError, TensorError
from jaxaot.ops.dims import normalize_dim
from jaxaot.ops.factories import dtype_or, static_size
from jaxaot.ops.promotion import default_float, is_complex, is_inexact
from jaxaot.ops.table import register_op, register_ops
from jaxaot.views.layout import check_addressable

FFT: dict[str, Any] = {"method": False, "out": True, "namespaces": ("fft",)}
NORMS = (None, "backward", "forward", "ortho")


def _numbers(name: str, value: Array, is_real: bool = False) -> Array:
    """Returns `value` as floats or complex numbers.

    Raises:
      DtypeError: If the transform takes only real values and these are complex.
    """
    if is_real and is_complex(value.dtype):
        raise DtypeError(f"{name} expects a real input tensor, but got {value.dtype}. Use `fft.fft` or `fft.ifft`.")
    return value if is_inexact(value.dtype) else value.astype(default_float())


def _check(n: int, norm: str | None) -> None:
    if n < 1:
        raise TensorError(f"Invalid number of data points ({n}) specified. A transform needs at least one.")
    if norm not in NORMS:
        raise ArgumentError(f'Invalid normalization mode: "{norm}". Use "backward", "ortho" or "forward".')


def _axis(dim: int, ndim: int) -> int:
    """Returns `dim` as an axis; unlike other ops, transforms take no dim of a 0-d tensor."""
    if ndim == 0:
        raise DimError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normalize_dim(dim, ndim)


def _along_dim(fn: Callable[..., Array], value: Array, n: int | None, dim: int, norm: str | None) -> Array:
    """Returns a transform of jax.numpy along one dim, `n` elements long."""
    axis = _axis(dim, value.ndim)
    size = value.shape[axis]
    half = fn in (jnp.fft.irfft, jnp.fft.hfft)
    _check(n if n is not None else 2 * (size - 1) if half else size, norm)
    return fn(value, n, axis, norm)


def _sizes_and_axes(
    value: Array, s: int | Shape | None, dim: int | Shape | None, half: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the lengths and axes of a transform of several dims; `s` names lengths, -1 for that of the input.

    Raises:
      ArgumentError: If lengths and dims do not fit together.
    """
    lengths = None if s is None else tuple(s) if isinstance(s, tuple) else (s,)
    if dim is not None:
        dims = dim if isinstance(dim, tuple) else (dim,)
        axes = tuple(_axis(d, value.ndim) for d in dims)
        if len(set(axes)) != len(axes):
            raise ArgumentError(f"FFT dims must be unique, but got {dims}")
        if lengths is not None and len(lengths) != len(axes):
            raise ArgumentError(
                f"When given, dim and shape arguments must have the same length, but got dim={dims} and s={lengths}"
            )
    elif lengths is not None:
        if len(lengths) > value.ndim:
            raise ArgumentError(
                f"Got shape with {len(lengths)} values but input tensor only has {value.ndim} dimensions."
            )
        axes = tuple(range(value.ndim - len(lengths), value.ndim))
    else:
        axes = tuple(range(value.ndim))
    given = (-1,) * len(axes) if lengths is None else lengths
    last = [2 * (n - 1) if half and i == len(axes) - 1 else n for i, n in enumerate(value.shape[a] for a in axes)]
    return tuple(full if n == -1 else n for n, full in zip(given, last, strict=True)), axes


def _several(
    name: str,
    value: Array,
    s: int | Shape | None,
    dim: int | Shape | None,
    norm: str | None,
    each: Callable[..., Any],
    last: Callable[..., Any] | None = None,
    last_comes_first: Any = True,
) -> Array:
    """Returns `each` transform of jax.numpy along several dims, with `last` along the last of them.

    Args:
      name: The op.
      value: What is transformed.
      s: See `_sizes_and_axes`.
      dim: See `_sizes_and_axes`.
      norm: One of `NORMS`.
      each: The transform along each dim.
      last: Another one for the last dim, or None.
      last_comes_first: Whether it is done first, as from real signals, or last, as to them.
    """
    half = last in (jnp.fft.irfft, jnp.fft.hfft)
    lengths, axes = _sizes_and_axes(value, s, dim, half)
    if last is not None and not axes:
        raise ArgumentError(f"{name} must transform at least one axis")
    for n in lengths:
        _check(n, norm)
    steps = [(each, n, axis) for n, axis in zip(lengths, axes, strict=True)]
    if last is not None:
        steps[-1] = (last, lengths[-1], axes[-1])
    if last is not None and last_comes_first:
        steps.reverse()
    for fn, n, axis in steps:
        value = fn(value, n, axis, norm)
    return value if last is not None or steps else value + 0j


def _register(
    name: str, each: Callable[..., Any], last: Callable[..., Any] | None, last_comes_first: bool = True
) -> None:
    """Adds the rows of a transform along one, two and several dims; `last` is that of the last dim, if another."""
    first = each if last is None else last
    is_real = first in (jnp.fft.rfft, jnp.fft.ihfft)

    @register_op(f"fft_{name}(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor", **FFT)
    def one(input, n, dim, norm):
        return _along_dim(first, _numbers(name, input, is_real), n, dim, norm)

    for suffix, dims in (("2", "(-2, -1)"), ("n", "None")):

        @register_op(
            f"fft_{name}{suffix}(Tensor input, int[]? s=None, int[]? dim={dims}, str? norm=None) -> Tensor", **FFT
        )
        def several(input, s, dim, norm, name=name + suffix):
            values = _numbers(name, input, is_real)
            return _several(name, values, s, dim, norm, each, last, last_comes_first)


_register("fft", jnp.fft.fft, None)
_register("ifft", jnp.fft.ifft, None)
_register("rfft", jnp.fft.fft, jnp.fft.rfft)
_register("irfft", jnp.fft.ifft, jnp.fft.irfft, last_comes_first=False)
_register("hfft", jnp.fft.fft, jnp.fft.hfft, last_comes_first=False)
_register("ihfft", jnp.fft.ifft, jnp.fft.ihfft)


def _register_frequencies(name: str, frequencies: Callable[..., Any], of_none: Sequence[float]) -> None:
    @register_op(f"fft_{name}(int n, float d=1.0, *, Dtype? dtype=None) -> Tensor", differentiable=False, **FFT)
    def row(n, d, dtype):
        (n,) = static_size(n)
        check_addressable((n,), 8)
        return jnp.asarray(frequencies(n, d) if n else of_none, dtype_or(dtype, default_float()))


_register_frequencies("fftfreq", np.fft.fftfreq, [])
_register_frequencies("rfftfreq", np.fft.rfftfreq, [np.nan])


def _shift(value: Array, dim: int | Shape | None, sign: int) -> Array:
    dims = range(value.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    axes = tuple(normalize_dim(d, value.ndim) for d in dims)
    halves = [value.shape[axis] // 2 if sign > 0 else -(value.shape[axis] // 2) for axis in axes if value.ndim]
    return jnp.roll(value, halves, axes) if halves else value


register_ops(
    {
        "fft_fftshift(Tensor input, int[]? dim=None) -> Tensor": lambda input, dim: _shift(input, dim, 1),
        "fft_ifftshift(Tensor input, int[]? dim=None) -> Tensor": lambda input, dim: _shift(input, dim, -1),
    },
    **{**FFT, "out": False},
)


# Short-time transforms: of the overlapping frames of a signal


def _full_window(window: Array | None, win_length: int, n_fft: int, dtype: DTypeLike | None) -> Array:
    """Returns the window, by default of ones, in the middle of `n_fft` elements."""
    if window is None:
        window = jnp.ones(win_length, dtype)
    elif window.ndim != 1 or window.shape[0] != win_length:
        raise ShapeMismatchError(
            f"expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    left = (n_fft - win_length) // 2
    return jnp.pad(window, (left, n_fft - win_length - left))


def _frame_sizes(name: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if hop <= 0:
        raise TensorError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise TensorError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={width} and n_fft={n_fft}")
    return hop, width


STFT_FRAMES = "int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True"
PAD_MODES = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


@register_op(
    f"stft(Tensor input, {STFT_FRAMES}, str pad_mode='reflect', bool normalized=False, bool? onesided=None, "
    "bool? return_complex=None, bool? align_to_window=None) -> Tensor"
)
def stft(
    input,
    n_fft,
    hop_length,
    win_length,
    window,
    center,
    pad_mode,
    normalized,
    onesided,
    return_complex,
    align_to_window,
):
    from_complex = is_complex(input.dtype) or (window is not None and is_complex(window.dtype))
    if return_complex is None and not from_complex:
        raise ArgumentError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release. Pass `return_complex=True`."
        )
    if center and align_to_window is not None:
        raise ArgumentError(
            "stft only supports align_to_window for center=False. When center is True, frames are always aligned to "
            "the window."
        )
    if not is_inexact(input.dtype) or input.ndim not in (1, 2):
        raise DtypeError(
            f"stft: expected a 1D or 2D tensor of floating point or complex values, but got {input.dtype} of "
            f"{list(input.shape)}"
        )
    if onesided and from_complex:
        raise ArgumentError("Cannot have onesided output if window or input is complex. Pass `onesided=False`.")
    hop, width = _frame_sizes("stft", n_fft, hop_length, win_length)
    if center:
        if pad_mode not in PAD_MODES:
            raise ArgumentError(f"Unrecognised padding mode {pad_mode}. Use one of {', '.join(PAD_MODES)}.")
        half = n_fft // 2
        if pad_mode == "reflect" and half >= input.shape[-1]:
            raise ShapeMismatchError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({half}, {half}) at dimension {input.ndim} of input {list(input.shape)}"
            )
        input = jnp.pad(input, [(0, 0)] * (input.ndim - 1) + [(half, half)], PAD_MODES[pad_mode])
    elif align_to_window:
        left = (n_fft - width) // 2
        input = jnp.pad(input, [(0, 0)] * (input.ndim - 1) + [(left, n_fft - width - left)])
    length = input.shape[-1]
    if not 0 < n_fft <= length:
        raise TensorError(f"stft: expected 0 < n_fft <= {length}, but got n_fft={n_fft}")
    starts = np.arange(0, length - n_fft + 1, hop)
    frames = input[..., starts[:, None] + np.arange(n_fft)] * _full_window(window, width, n_fft, input.dtype)
    is_half = not from_complex if onesided is None else onesided
    norm = "ortho" if normalized else None
    spectra = (jnp.fft.rfft if is_half else jnp.fft.fft)(frames, None, -1, norm)
    spectra = jnp.swapaxes(spectra, -1, -2)
    if return_complex or return_complex is None:
        return spectra
    return jnp.stack([spectra.real, spectra.imag], -1)


@register_op(
    f"istft(Tensor input, {STFT_FRAMES}, bool normalized=False, bool? onesided=None, int? length=None, "
    "bool return_complex=False) -> Tensor"
)
def istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex):
    """Returns the signal whose short-time transforms are nearest to `input`: overlapping frames are added and divided
    by the sum of their squared windows (Griffin and Lim, 1984)."""
    if not is_complex(input.dtype):
        raise DtypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if input.ndim not in (2, 3) or 0 in input.shape:
        raise ShapeMismatchError(f"istft expected a tensor with 2 or 3 dimensions, but got {list(input.shape)}")
    n_frequencies, n_frames = input.shape[-2:]
    hop, width = _frame_sizes("istft", n_fft, hop_length, win_length)
    is_half = n_frequencies != n_fft if onesided is None else onesided
    if n_frequencies != (n_fft // 2 + 1 if is_half else n_fft):
        raise ShapeMismatchError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft // 2 + 1 "
            f"when onesided=True, or n_fft when it is False, but got {n_frequencies} with n_fft={n_fft} and "
            f"onesided={is_half}"
        )
    if return_complex and is_half:
        raise ArgumentError("Cannot have onesided output if window or input is complex. Pass `onesided=False`.")
    if not return_complex and window is not None and is_complex(window.dtype):
        raise ArgumentError("Complex windows are incompatible with return_complex=False")
    spectra = jnp.swapaxes(input, -1, -2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = jnp.fft.ifft(spectra, None, -1, norm)
    else:  # of a full spectrum only the first half counts
        frames = jnp.fft.irfft(spectra[..., : n_fft // 2 + 1], n_fft, -1, norm)
    full = _full_window(window, width, n_fft, frames.real.dtype)
    total = n_fft + hop * (n_frames - 1)
    places = np.arange(n_frames)[:, None] * hop + np.arange(n_fft)
    frames = frames * full
    signal = jnp.zeros((*frames.shape[:-2], total), frames.dtype).at[..., places].add(frames)
    envelope = jnp.zeros(total, full.dtype).at[places].add(jnp.broadcast_to(full * full, places.shape))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = slice(start, min(end, total))
    if window is None and hop > width:
        raise TensorError(
            f"istft: window overlap add min: 1, as frames of win_length={width} every hop_length={hop} leave gaps. "
            "Use a hop_length of at most win_length."
        )
    signal = signal[..., kept] / envelope[kept]
    return jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, end - min(end, total))])
