"""Tensors as Python's objects: what they say of themselves, attributes of the user's, subclasses, settings and modes."""
# ruff: noqa
# fmt: off

# case: requires_grad
w = ja.ones(2)
def f(x): return x * 2 if w.requires_grad else x
# change:
w.requires_grad_(not w.requires_grad)

# case: requires_grad of a Parameter
w = nn.Parameter(ja.ones(2))
def f(x): return x * w
# change:
w.requires_grad_(not w.requires_grad)

# case: a user's attribute of a tensor
w = ja.ones(2)
w.k = 2
def f(x): return x * w.k
# change:
w.k = v

# case: a user's attribute of a Parameter
w = nn.Parameter(ja.ones(2))
w.lr_scale = 2.0
def f(x): return x * w.lr_scale
# change:
w.lr_scale = float(v)

# case: hasattr of a tensor
w = ja.ones(2)
def f(x): return x * 2 if hasattr(w, "k") else x
# change:
w.k = v
# back:
del w.k

# case: getattr of a tensor with a default
w = nn.Parameter(ja.ones(2))
def f(x): return x * getattr(w, "_no_weight_decay", 7)
# change:
w._no_weight_decay = v
# back:
del w._no_weight_decay

# case: an attribute of a tensor, written
w = ja.ones(2)
w.n = 0
def f(x):
    w.n += 1
    return x * w.n
# change:
w.n = v

# case: an attribute of an argument
x.k = 2
def f(x): return x * x.k
# change:
x.k = v

# case: an attribute of an argument, written
def f(x):
    x.n = getattr(x, "n", 0) + 1
    return x * x.n
# change:
x.n = v

# case: a tensor as an attribute of a tensor
w = ja.ones(2)
w.scale = ja.ones(2) * 2
def f(x): return x * w.scale
# change:
w.scale = ja.ones(2) * v

# case: vars of a tensor
w = ja.ones(2)
w.k = 2
def f(x): return x * vars(w)["k"]
# change:
w.k = v

# case: _version
w = ja.ones(2)
def f(x): return x * w._version
# change:
w.add_(1)

# case: _version of an attribute's tensor
o = Box(w=ja.ones(2))
def f(x): return x * o.w._version
# change:
o.w.add_(1)

# case: storage_offset
w = ja.arange(8.0)[0:2]
def f(x): return x + w.storage_offset()
# change:
w = ja.arange(8.0)[v : v + 2]

# case: stride
w = ja.ones(2, 2)
def f(x): return x * w.stride(0)
# change:
w = w.t()

# case: is_contiguous
w = ja.ones(2, 3)
def f(x): return x * 2 if w.is_contiguous() else x
# change:
w = w.t()

# case: shape of a captured tensor
w = ja.ones(2, 2)
def f(x): return x * w.shape[0]
# change:
w = ja.ones(v, 2)

# case: dim, numel and len of a captured tensor
w = ja.ones(2, 2)
def f(x): return x * w.dim() + w.numel() + len(w)
# change:
w = ja.ones(v, 2)

# case: dtype of a captured tensor
w = ja.ones(2)
def f(x): return x * 2 if w.dtype == ja.float32 else x
# change:
w = ja.ones(2, dtype=ja.float16 if w.dtype == ja.float32 else ja.float32)

# case: device of a captured tensor
w = ja.ones(2)
def f(x): return x * 2 if w.device.type == "cpu" else x
# change:
w = ja.ones(2, device="meta") if w.device.type == "cpu" else ja.ones(2)

# case: is_leaf and grad_fn
w = ja.ones(2, requires_grad=True)
def f(x): return x * 2 if w.is_leaf and w.grad_fn is None else x
# change:
w = w * 2 if w.is_leaf else ja.ones(2, requires_grad=True)

# case: grad is None
w = ja.ones(2, requires_grad=True)
def f(x): return x * 2 if w.grad is None else x
# change:
w.grad = ja.ones(2)
# back:
w.grad = None

# case: grad is used
w = ja.ones(2, requires_grad=True)
w.grad = ja.ones(2)
def f(x): return x * w.grad
# change:
w.grad = ja.ones(2) * v

# case: grad is written
w = ja.ones(2, requires_grad=True)
def f(x):
    w.grad = x * 2 if w.grad is None else None
    return x + 1
# change:
w.grad = None

# case: retains_grad and hooks
w = ja.ones(2, requires_grad=True) * 1
def f(x): return x * 2 if w.retains_grad else x
# change:
w.retain_grad()
# back:
w = ja.ones(2, requires_grad=True) * 1

# case: _base of a view
b = ja.ones(2)
w = b[:1]
def f(x): return x * 2 if w._base is b else x
# change:
b = ja.ones(2)
# back:
w = b[:1]

# case: data_ptr compared
a, b = ja.ones(2), ja.ones(2)
def f(x): return x * 2 if a.data_ptr() == b.data_ptr() else x
# change:
b = a.view(2) if b.data_ptr() != a.data_ptr() else ja.ones(2)

# case: two names of one tensor
a = ja.ones(2)
b = a
def f(x):
    a.add_(x)
    return b * 1
# change:
b = a.clone() if b is a else a

# case: a tensor written from outside
w = ja.ones(2)
def f(x): return x * w
# change:
w.mul_(v)

# case: a tensor whose data is replaced
w = ja.ones(2)
def f(x): return x * w
# change:
w.data = ja.ones(2) * v

# case: a tensor of another shape
w = ja.ones(2)
def f(x): return x * w
# change:
w = ja.ones(v, 2)

# case: type of a tensor
w = ja.ones(2)
def f(x): return x * 2 if isinstance(w, nn.Parameter) else x
# change:
w = nn.Parameter(ja.ones(2)) if type(w) is ja.Tensor else ja.ones(2)

# case: a tensor in a dict by its name
d = {"w": ja.ones(2)}
def f(x): return x * d["w"]
# change:
d["w"] = ja.ones(2) * v

# case: tensors as keys
a, b = nn.Parameter(ja.ones(2)), nn.Parameter(ja.ones(2))
d, o = {a: 2, b: 3}, Box(p=a)
def f(x): return x * d[o.p]
# change:
o.p = b if o.p is a else a

# case: state kept by parameter
a = nn.Parameter(ja.ones(2))
state = {}
def f(x):
    s = state.setdefault(a, {"step": 0})
    s["step"] += 1
    return x * s["step"]
# change:
state[a] = {"step": v}

# case: a tensor in a set
a, b = ja.ones(2), ja.ones(2)
s = {a}
def f(x): return x * 2 if b in s else x
# change:
s ^= {b}

# case: a subclass of Tensor with a class attribute
class P(ja.Tensor):
    k = 2.0
    @classmethod
    def __tensor_function__(cls, func, types, args, kwargs):
        if func.name == "sin": return args[0] * cls.k
        return super().__tensor_function__(func, types, args, kwargs)
p = P([1.0, 2.0])
def f(x): return x + p.sin()
# change:
P.k = float(v)

# case: a subclass of Tensor that counts calls
class P(ja.Tensor):
    n = 0
    @classmethod
    def __tensor_function__(cls, func, types, args, kwargs):
        P.n += 1
        return super().__tensor_function__(func, types, args, kwargs)
_p = P([1.0, 2.0])
def f(x):
    _p.sin()
    return x * 2
# change:
P.n = v

# case: a subclass of Tensor with a log
S = []
class P(ja.Tensor):
    @classmethod
    def __tensor_function__(cls, func, types, args, kwargs):
        S.append(1)
        return super().__tensor_function__(func, types, args, kwargs)
_p = P([1.0, 2.0])
def f(x):
    _p * 2
    return x * 2
# change:
S.clear()

# case: a method of a subclass of Tensor
class P(ja.Tensor):
    k = 2.0
    def scaled(self): return self * self.k
p = P([1.0, 2.0])
def f(x): return x + p.scaled()
# change:
P.k = float(v)

# case: a method of a subclass of Tensor replaced
class P(ja.Tensor):
    def scaled(self): return self * 2
p = P([1.0, 2.0])
def f(x): return x + p.scaled()
# change:
P.scaled = lambda self, v=v: self * v

# case: an attribute of a tensor of a subclass
class P(ja.Tensor): pass
p = P([1.0, 2.0])
p.k = 2
def f(x): return x * p.k
# change:
p.k = v

# case: a property of a subclass of Tensor
class P(ja.Tensor):
    @property
    def k(self): return len(P.names)
    names = ["a"]
p = P([1.0, 2.0])
def f(x): return x * p.k
# change:
P.names.append("b")

# case: set_grad_enabled
w = ja.ones(2, requires_grad=True)
_enabled = ja.is_grad_enabled()
def f(x): return x * w
# change:
ja.set_grad_enabled(not ja.is_grad_enabled())
# after:
ja.set_grad_enabled(_enabled)

# case: is_grad_enabled
_enabled = ja.is_grad_enabled()
def f(x): return x * 2 if ja.is_grad_enabled() else x
# change:
ja.set_grad_enabled(not ja.is_grad_enabled())
# after:
ja.set_grad_enabled(_enabled)

# case: no_grad inside, by an attribute
w, o = ja.ones(2, requires_grad=True), Box(on=True)
def f(x):
    with ja.set_grad_enabled(o.on): return x * w
# change:
o.on = not o.on

# case: a setting of jax
def f(x): return x * 2 if jax.config.jax_debug_nans else x
# change:
jax.config.update("jax_debug_nans", not jax.config.jax_debug_nans)
# after:
jax.config.update("jax_debug_nans", False)

# case: autocast by an attribute
o = Box(on=False)
def f(x):
    with ja.autocast("cpu", enabled=o.on): return ja.mm(x[None], x[:, None])
# change:
o.on = not o.on

# case: a dtype from an attribute
o = Box(dtype=ja.float32)
def f(x): return x.to(o.dtype)
# change:
o.dtype = ja.float16 if o.dtype == ja.float32 else ja.float32

# case: an index from an attribute
o = Box(i=0)
def f(x): return x[o.i] + x
# change:
o.i = 1 - o.i

# case: a shape from an attribute
o = Box(shape=(2,))
def f(x): return x.expand(*o.shape)
# change:
o.shape = (v, 2)

# case: the dim of a sum
o = Box(dim=0, keepdim=False)
def f(x): return x[None].sum(o.dim, keepdim=o.keepdim)
# change:
o.dim, o.keepdim = 1 - o.dim, not o.keepdim

# case: a setting of ja.config, asked for
ja.config.set(max_values=2)
def f(x): return x * ja.config.get().max_values
# change:
ja.config.set(max_values=v)
# after:
ja.config.set(max_values=8)

# case: a setting of ja.config, set for a block by an attribute
o = Box(n=2)
def f(x):
    with ja.config(max_values=o.n): return x * ja.config.get().max_values
# change:
o.n = v

# case: the number of threads or another number of a library, kept in a module's attribute
ja.state_note = 2
def f(x): return x * ja.state_note
# change:
ja.state_note = v
# after:
del ja.state_note
