"""The errors of gradients and of hooks; users find them in `jaxaot.errors`."""

from __future__ import annotations

from jaxaot.errors.graphs import JaxaotError


class AutogradError(JaxaotError, RuntimeError):
    """A gradient that cannot be computed or recorded."""


class LeafWriteError(AutogradError):
    """An in-place write to a leaf that requires grad, or to a view of one, while gradients are recorded.

    For example:

        w = ja.ones(3, requires_grad=True)
        w.add_(1)                               # LeafWriteError
        with ja.no_grad():
            w.add_(1)
    """


class NoInputsError(AutogradError, ValueError):
    """`ja.autograd.grad(y, [])`: gradients with respect to nothing. Pass the tensors, `ja.autograd.grad(y, [w])`.

    For example:

        w = ja.ones(3, requires_grad=True)
        ja.autograd.grad(w.sum(), [])           # NoInputsError
        ja.autograd.grad(w.sum(), [w])
    """


class NoGradPathError(AutogradError):
    """`backward()` from a tensor that does not depend on anything that requires grad.

    For example:

        ja.ones(3).sum().backward()             # NoGradPathError
        ja.ones(3, requires_grad=True).sum().backward()
    """


class BackwardTwiceError(AutogradError):
    """A second backward through a graph whose saved values were freed by the first.

    For example:

        y = ja.ones(3, requires_grad=True).exp().sum()
        y.backward()
        y.backward()                            # BackwardTwiceError
        y = ja.ones(3, requires_grad=True).exp().sum()
        y.backward(retain_graph=True)
        y.backward()
    """


class RecomputeMismatchError(AutogradError):
    """A function run by `ja.utils.checkpoint.checkpoint` did something else when the backward ran it again.

    What it does may depend on its arguments, on tensors and on random numbers, but not on what else changes between
    forward and backward: `if self.calls % 2: x = x.sin()` with a counter `self.calls`. Pass such values as arguments.

        calls = []
        def block(x):
            calls.append(1)
            return x.sin().exp() if len(calls) == 1 else x.sin()
        x = ja.ones(3, requires_grad=True)
        ja.utils.checkpoint.checkpoint(block, x).sum().backward()    # RecomputeMismatchError
        ja.utils.checkpoint.checkpoint(lambda x, first: x.sin().exp() if first else x.sin(), x, True).sum().backward()
    """


class SavedTensorWrittenError(AutogradError):
    """A tensor that a backward needs was written in place since, and `ja.autograd.set_version_check("error")` is on.

    Values are immutable, so without the check the gradient of the values that were used is computed.

        x = ja.ones(3, requires_grad=True) * 1
        with ja.autograd.set_version_check("error"):
            y = x.sin().sum()
            x.mul_(2)
            y.backward()                        # SavedTensorWrittenError
        x = x * 2                               # a new tensor: what was saved stays
    """


class SavedTensorDetachedError(AutogradError):
    """A tensor that a backward needs was detached in place, and `ja.autograd.set_version_check("error")` is on.

    `y = x.sin(); x.detach_(); y.backward()`. Write `x = x.detach()`. Without the check the gradient is computed.

        x = ja.ones(3, requires_grad=True) * 1
        with ja.autograd.set_version_check("error"):
            y = x.sin().sum()
            x.detach_()
            y.backward()                        # SavedTensorDetachedError
        x = x.detach()
    """


class OutsideContextError(AutogradError, AssertionError):
    """A backward outside of the `allow_mutation_on_saved_tensors` in which its graph was recorded.

    For example:

        x = ja.ones(3, requires_grad=True)
        with ja.autograd.graph.allow_mutation_on_saved_tensors():
            y = (x * 1).sin().sum()
        y.backward()                            # OutsideContextError
        with ja.autograd.graph.allow_mutation_on_saved_tensors():
            (x * 1).sin().sum().backward()
    """


class InferenceTensorError(AutogradError):
    """A tensor that was made in `inference_mode`, where gradients are recorded.

    For example:

        w = ja.ones(3, requires_grad=True)
        with ja.inference_mode():
            c = ja.ones(3)
        w * c                                   # InferenceTensorError
        w * c.clone()
    """


class SavedHooksError(AutogradError):
    """Hooks on a saved tensor that cannot be set: it was freed, has hooks already, or is None.

    For example:

        keep = lambda x: x
        y = ja.ones(3, requires_grad=True).sin()
        y.grad_fn._raw_saved_self.register_hooks(keep, keep)
        y.grad_fn._raw_saved_self.register_hooks(keep, keep)    # SavedHooksError
    """


class UntraceableHooksError(SavedHooksError):
    """Hooks on saved tensors around a function under `ja.remat` that no graph can carry out.

    `pack = lambda x: x.numpy()` asks for values, which a graph does not have. Write hooks that are functions of the
    tensor alone, such as `lambda x: x.to(ja.bfloat16)`.

        f, x = ja.remat(lambda x: jnp.exp(jnp.sin(x)).sum(), policy="save_all"), jnp.ones(3)
        with ja.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), ja.tensor):
            jax.grad(f)(x)                      # UntraceableHooksError
        with ja.autograd.graph.saved_tensors_hooks(lambda x: x.to(ja.bfloat16), lambda x: x.to(ja.float32)):
            jax.grad(f)(x)
    """


class PackedDerivativeError(SavedHooksError):
    """A second derivative of a function under `ja.remat` whose residuals were packed by hooks on saved tensors.

    Integers and rounded floats have no derivative. Call `jax.hessian(ja.remat(f))(x)` outside of the hooks.

        f, x = ja.remat(lambda x: jnp.exp(jnp.sin(x)).sum(), policy="save_all"), jnp.ones(3)
        with ja.autograd.graph.saved_tensors_hooks(lambda x: x.to(ja.bfloat16), lambda x: x.to(ja.float32)):
            jax.hessian(f)(x)                   # PackedDerivativeError
        jax.hessian(f)(x)
    """


class SavedHooksDisabledError(SavedHooksError):
    """`saved_tensors_hooks` inside `disable_saved_tensors_hooks`, or the other way round.

    For example:

        graph, keep = ja.autograd.graph, lambda x: x
        with graph.disable_saved_tensors_hooks("No hooks here."):
            with graph.saved_tensors_hooks(keep, keep): ja.ones(1, requires_grad=True).sin()  # SavedHooksDisabledError
        with graph.saved_tensors_hooks(keep, keep):
            ja.ones(1, requires_grad=True).sin()
    """


class AnomalyError(AutogradError):
    """A backward gives a NaN, and `ja.autograd.detect_anomaly()` is on.

    `x.sqrt() * 0` at `x = 0` has the gradient `0 * inf`. The message names the operation of the forward and its line.

        x = ja.zeros(3, requires_grad=True)
        with ja.autograd.detect_anomaly(check_nan=True):
            (x.sqrt() * 0).sum().backward()     # AnomalyError
        ja.where(x > 0, x, 1).sqrt().sum().backward()
    """


class HookResultError(AutogradError):
    """A hook on gradients that returned something of another size, type or number than what it replaces.

    `y.register_hook(lambda grad: grad.sum())`. Return a tensor of the gradient's shape and dtype, or None.

        x = ja.ones(3, requires_grad=True)
        y = x * 2
        y.register_hook(lambda gradient: gradient.half())
        y.sum().backward()                      # HookResultError
        y = x * 2
        y.register_hook(lambda gradient: gradient * 2)
        y.sum().backward()
    """


class PackHookWroteError(AutogradError):
    """A pack hook that writes to the tensor that it gets.

    For example:

        x = ja.ones(3, requires_grad=True)
        with ja.autograd.graph.saved_tensors_hooks(lambda x: x.mul_(2), lambda x: x / 2):
            (x * 1).sin()                       # PackHookWroteError
        with ja.autograd.graph.saved_tensors_hooks(lambda x: x * 2, lambda x: x / 2):
            (x * 1).sin()
    """


class FrozenGradientError(AutogradError):
    """A gradient through a function that `ja.compiler.freeze` made, or a transformation of JAX over it.

    It computes with values made of the parameters, and no gradient leads back to these. Call the function that was
    frozen where gradients are wanted, or pass tensors that require none.

        model, x = ja.nn.Linear(2, 3), ja.ones(2, requires_grad=True)
        serve = ja.compiler.freeze(model, ja.ones(2))
        serve(x)                                        # FrozenGradientError
        serve(x.detach())
    """


class FunctionResultError(AutogradError):
    """A custom Function returns, saves or marks something that does not fit.

    `backward` returns a tensor or None for each argument of `forward`, of its shape or one that it expands to;
    `ctx.save_for_backward` takes tensors; what `ctx.mark_dirty` names is an argument and is returned.

        class Double(ja.autograd.Function):
            forward = staticmethod(lambda ctx, x: 2 * x)
            backward = staticmethod(lambda ctx, gradient: (gradient, gradient))    # one argument, two gradients
        x = ja.ones(3, requires_grad=True)
        Double.apply(x).sum().backward()        # FunctionResultError
        Double.backward = staticmethod(lambda ctx, gradient: 2 * gradient)
        Double.apply(x).sum().backward()
    """


class MissingMethodError(AutogradError, NotImplementedError):
    """A custom Function is called, or differentiated, and has no method for that.

    `forward` computes, `backward` (or `vjp`) takes gradients back, `jvp` takes tangents along. Write the one that is
    missing, as a static method.

        class Double(ja.autograd.Function):
            forward = staticmethod(lambda ctx, x: 2 * x)
        x = ja.ones(3, requires_grad=True)
        Double.apply(x).sum().backward()        # MissingMethodError
        Double.backward = staticmethod(lambda ctx, gradient: 2 * gradient)
        Double.apply(x).sum().backward()
    """


class NoDerivativeError(AutogradError, NotImplementedError):
    """An op is differentiated that has no derivative, or none in forward mode, as in PyTorch.

    Detach the operand if it is to count as a constant; in place of forward mode use a backward.

        x = ja.rand(3, requires_grad=True)
        ja.special.zeta(x + 2, 1.0).sum().backward()    # NoDerivativeError
        (ja.special.zeta(x.detach() + 2, 1.0) * x).sum().backward()
    """


class GradientMismatchError(AutogradError, AssertionError):
    """`ja.autograd.gradcheck` found a backward that is wrong, or a function that it cannot check.

    `ja.autograd.gradcheck(MyFunction.apply, x)` compares the gradients of the tape with finite differences. Look at the
    `backward` of the custom Function that it names the output of. If the function is not smooth at that point, as
    `abs` at 0, check it elsewhere; if numbers are short, use float64 or larger tolerances.

        class Double(ja.autograd.Function):
            forward = staticmethod(lambda ctx, x: 2 * x)
            backward = staticmethod(lambda ctx, gradient: 3 * gradient)
        x = ja.ones(3, requires_grad=True)
        ja.autograd.gradcheck(Double.apply, x, eps=1e-2, atol=1e-2)    # GradientMismatchError
        Double.backward = staticmethod(lambda ctx, gradient: 2 * gradient)
        ja.autograd.gradcheck(Double.apply, x, eps=1e-2, atol=1e-2)
    """


class DualTensorError(AutogradError):
    """A dual tensor that cannot be made, or an op without a forward-mode derivative.

    `ja.autograd.forward_ad.make_dual(x, direction)` outside of `with ja.autograd.forward_ad.dual_level():`, inside of
    two of them, or of a tensor that is dual already. Higher derivatives in forward mode: `ja.func.jvp`, which nests.

        forward_ad = ja.autograd.forward_ad
        x, direction = ja.ones(3), ja.ones(3)
        forward_ad.make_dual(x, direction)      # DualTensorError
        with forward_ad.dual_level():
            forward_ad.make_dual(x, direction)
    """


class ScalerOrderError(AutogradError):
    """The calls of a `GradScaler` did not follow one another as they have to in an iteration.

    In each, after `scaler.scale(loss).backward()`: at most one `unscale_` and then one `step` for every optimizer, and
    one `update` at the end.

        w = ja.ones(3, requires_grad=True)
        optimizer, scaler = ja.optim.SGD([w], lr=0.1), ja.amp.GradScaler()
        scaler.scale(w.sum()).backward()
        scaler.unscale_(optimizer)
        scaler.unscale_(optimizer)              # ScalerOrderError
        scaler.step(optimizer)
        scaler.update()
    """


class UnusedInputError(AutogradError):
    """`autograd.grad` was asked for the gradient of an input that the output does not depend on.

    For example:

        x, y = ja.ones(3, requires_grad=True), ja.ones(3, requires_grad=True)
        ja.autograd.grad(x.sum(), [x, y])       # UnusedInputError
        ja.autograd.grad(x.sum(), [x, y], allow_unused=True)
    """


class IndependentInputError(AutogradError):
    """A function of `ja.autograd.functional` whose output does not depend on an input, with `strict=True`.

    `ja.autograd.functional.hessian(lambda x: (2 * x).sum(), x, strict=True)`: the gradient is 2 whatever `x` is. Leave
    `strict` out to get zeros.

        x, f = ja.ones(3), lambda x: (2 * x).sum()
        ja.autograd.functional.hessian(f, x, strict=True)    # IndependentInputError
        ja.autograd.functional.hessian(f, x)
    """
