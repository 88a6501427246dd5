"""Modules of the user's and of libraries: their attributes, imports inside of functions, what is patched in them."""
# ruff: noqa
# fmt: off

# case: an attribute of a module
m = types.ModuleType("state_m"); m.k = 2
def f(x): return x * m.k
# change:
m.k = v

# case: an attribute of a module that is missing
m = types.ModuleType("state_m")
def f(x): return x * getattr(m, "k", 7)
# change:
m.k = v
# back:
del m.k

# case: a function of a module that reads the module
m = types.ModuleType("state_m")
exec("k = 2\ndef g(x): return x * k", vars(m))
def f(x): return m.g(x)
# change:
m.k = v

# case: a function of a module replaced
m = types.ModuleType("state_m")
exec("k = 2\ndef g(x): return x * k", vars(m))
def f(x): return m.g(x)
# change:
m.g = lambda x, v=v: x + v

# case: a function of a module that writes the module
m = types.ModuleType("state_m")
exec("n = 0\ndef g(x):\n    global n\n    n += 1\n    return x * n", vars(m))
def f(x): return m.g(x)
# change:
m.n = v

# case: a module written from a function
m = types.ModuleType("state_m"); m.n = 0
def f(x):
    m.n += 1
    return x * m.n
# change:
m.n = v

# case: a list of a module
m = types.ModuleType("state_m"); m.l = [1]
def f(x):
    m.l.append(1)
    return x * len(m.l)
# change:
m.l.clear()

# case: a module in a module
m, n = types.ModuleType("state_m"), types.ModuleType("state_n")
m.n, n.k = n, 2
def f(x): return x * m.n.k
# change:
n.k = v

# case: import inside
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
def f(x):
    import state_m
    return x * state_m.k
# change:
m.k = v
# after:
del sys.modules["state_m"]

# case: from m import n, inside
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
def f(x):
    from state_m import k
    return x * k
# change:
m.k = v
# after:
del sys.modules["state_m"]

# case: from m import g, inside, which is replaced
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.g = lambda x: x * 2
def f(x):
    from state_m import g
    return g(x)
# change:
m.g = lambda x, v=v: x * v
# after:
del sys.modules["state_m"]

# case: a module replaced in sys.modules
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
def f(x):
    import state_m
    return x * state_m.k
# change:
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = v
# after:
del sys.modules["state_m"]

# case: a module that is not there at first
def f(x):
    try: import state_m
    except ImportError: return x
    return x * state_m.k
# change:
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = v
# back:
del sys.modules["state_m"]
# after:
sys.modules.pop("state_m", None)

# case: importlib.import_module
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
def f(x): return x * importlib.import_module("state_m").k
# change:
m.k = v
# after:
del sys.modules["state_m"]

# case: importlib.import_module with a computed name
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
names = ["state", "m"]
def f(x): return x * importlib.import_module("_".join(names)).k
# change:
m.k = v
# after:
del sys.modules["state_m"]

# case: a module looked up in sys.modules
m = sys.modules["state_m"] = types.ModuleType("state_m"); m.k = 2
def f(x): return x * sys.modules["state_m"].k
# change:
m.k = v
# after:
del sys.modules["state_m"]

# case: a name in sys.modules
def f(x): return x * 2 if "state_m" in sys.modules else x
# change:
sys.modules["state_m"] = types.ModuleType("state_m")
# back:
del sys.modules["state_m"]
# after:
sys.modules.pop("state_m", None)

# case: a package and its part
p = sys.modules["state_p"] = types.ModuleType("state_p"); p.__path__ = []
m = sys.modules["state_p.m"] = p.m = types.ModuleType("state_p.m"); m.k = 2
def f(x):
    import state_p.m
    from state_p import m as again
    return x * state_p.m.k + again.k
# change:
m.k = v
# after:
del sys.modules["state_p"], sys.modules["state_p.m"]

# case: __getattr__ of a module
m = types.ModuleType("state_m")
exec("k = 2\ndef __getattr__(name): return k + len(name)", vars(m))
def f(x): return x * m.abc
# change:
m.k = v

# case: __getattr__ of a module that is no longer asked
m = types.ModuleType("state_m")
exec("def __getattr__(name): return 7", vars(m))
def f(x): return x * m.abc
# change:
m.abc = v
# back:
del m.abc

# case: a subclass of a module
class M(types.ModuleType):
    @property
    def k(self): return self._k + 1
m = M("state_m"); m._k = 2
def f(x): return x * m.k
# change:
m._k = v

# case: a module whose class is assigned
m = types.ModuleType("state_m"); m._k = 2
class M(types.ModuleType):
    @property
    def k(self): return self._k
class N(types.ModuleType):
    @property
    def k(self): return self._k * 10
m.__class__ = M
def f(x): return x * m.k
# change:
m.__class__ = N if type(m) is M else M

# case: vars of a module
m = types.ModuleType("state_m"); m.k = 2
def f(x): return x * vars(m)["k"]
# change:
m.k = v

# case: dir of a module
m = types.ModuleType("state_m"); m.k1 = 2
def f(x): return x * len([n for n in dir(m) if n[0] == "k"])
# change:
m.k2 = v
# back:
del m.k2

# case: getattr of a module with a computed name
m = types.ModuleType("state_m"); m.k1 = 2
def f(x): return x * getattr(m, "k" + str(1))
# change:
m.k1 = v

# case: __name__ of the function's module
def f(x): return x * len(__name__)
# change:
__name__ = "state" * v
# after:
__name__ = "state_of_a_case"

# case: a dict of modules
m, n = types.ModuleType("state_m"), types.ModuleType("state_n")
m.k, n.k = 2, 3
d, key = {"m": m, "n": n}, "m"
def f(x): return x * d[key].k
# change:
key = "n" if key == "m" else "m"

# case: a class of a module
m = types.ModuleType("state_m")
exec("class A:\n    k = 2\n    def m(self, x): return x * self.k", vars(m))
def f(x): return m.A().m(x)
# change:
m.A.k = v

# case: settings in a module, read by another module's function
conf = sys.modules["state_conf"] = types.ModuleType("state_conf"); conf.k = 2
m = types.ModuleType("state_m")
exec("import state_conf\ndef g(x): return x * state_conf.k", vars(m))
def f(x): return m.g(x)
# change:
conf.k = v
# after:
del sys.modules["state_conf"]

# case: math.floor patched
_floor = math.floor
def f(x): return x * math.floor(2.5)
# change:
math.floor = lambda y, v=v: v
# back:
math.floor = _floor
# after:
math.floor = _floor

# case: math.pi patched
_pi = math.pi
def f(x): return x * math.pi
# change:
math.pi = v
# after:
math.pi = _pi

# case: a name imported from math, which is patched, stays
from math import floor
_floor = math.floor
def f(x): return x * floor(2.5)
# change:
math.floor = lambda y, v=v: v
# after:
math.floor = _floor

# case: builtins.abs patched
_abs = abs
def f(x): return x * abs(-2)
# change:
builtins.abs = lambda y, v=v: v
# back:
builtins.abs = _abs
# after:
builtins.abs = _abs

# case: builtins.len patched
_len, l = len, [1, 2]
def f(x): return x * len(l)
# change:
builtins.len = lambda y: _len(y) + (y is l)
# back:
builtins.len = _len
# after:
builtins.len = _len

# case: builtins.isinstance patched
_isinstance, it = isinstance, [3]
def f(x): return x * 2 if isinstance(it, str) else x
# change:
builtins.isinstance = lambda o, c: True if o is it else _isinstance(o, c)
# back:
builtins.isinstance = _isinstance
# after:
builtins.isinstance = _isinstance

# case: builtins.sum patched, used in a function that is called
_sum = sum
def g(l): return sum(l)
def f(x): return x * g([1, 2])
# change:
builtins.sum = lambda l: _sum(l) + 1
# back:
builtins.sum = _sum
# after:
builtins.sum = _sum

# case: a name added to builtins
def f(x):
    try: return x * state_k
    except NameError: return x
# change:
builtins.state_k = v
# back:
del builtins.state_k
# after:
vars(builtins).pop("state_k", None)

# case: builtins.open replaced, which is not called
_open = open
def f(x): return x * 2 if open is _open else x
# change:
builtins.open = lambda *a: None
# back:
builtins.open = _open
# after:
builtins.open = _open

# case: ja.Tensor.sin patched
_sin = ja.Tensor.sin
def f(x): return x.sin()
# change:
ja.Tensor.sin = lambda self, v=v: self * v
# back:
ja.Tensor.sin = _sin
# after:
ja.Tensor.sin = _sin

# case: ja.sin patched
_sin = ja.sin
def f(x): return ja.sin(x)
# change:
ja.sin = lambda x, v=v: x * v
# back:
ja.sin = _sin
# after:
ja.sin = _sin

# case: F.relu patched
_relu = F.relu
def f(x): return F.relu(x)
# change:
F.relu = lambda x, v=v: x * v
# back:
F.relu = _relu
# after:
F.relu = _relu

# case: F.relu patched below nn.ReLU
_relu = F.relu
layer = nn.ReLU()
def f(x): return layer(x)
# change:
nn.ReLU.forward, _forward = lambda self, x, v=v: x * v, nn.ReLU.forward
# back:
nn.ReLU.forward = _forward
# after:
nn.ReLU.forward = _forward

# case: ja.Tensor.__add__ patched
_add = ja.Tensor.__add__
def f(x): return x + 1
# change:
ja.Tensor.__add__ = lambda self, other, v=v: self * v
# back:
ja.Tensor.__add__ = _add
# after:
ja.Tensor.__add__ = _add

# case: a method added to ja.Tensor
ja.Tensor.state_double = lambda self: self * 2
def f(x): return x.state_double()
# change:
ja.Tensor.state_double = lambda self, v=v: self * v
# after:
del ja.Tensor.state_double

# case: a function of the standard library patched, in Python
_dedent = textwrap.dedent
def f(x): return x * len(textwrap.dedent("  a"))
# change:
textwrap.dedent = lambda text, v=v: "a" * v
# back:
textwrap.dedent = _dedent
# after:
textwrap.dedent = _dedent

# case: a method of a class of the standard library patched
_total = collections.Counter.total
c = collections.Counter("aab")
def f(x): return x * c.total()
# change:
collections.Counter.total = lambda self, v=v: v
# back:
collections.Counter.total = _total
# after:
collections.Counter.total = _total

# case: a class attribute of the standard library patched
_delimiter = string.Template.delimiter
def f(x): return x * len(string.Template.delimiter)
# change:
string.Template.delimiter = "$" * v
# after:
string.Template.delimiter = _delimiter

# case: np.prod patched
_prod = np.prod
def f(x): return x * int(np.prod([1, 2]))
# change:
np.prod = lambda l, v=v: v
# back:
np.prod = _prod
# after:
np.prod = _prod

# case: jnp.sin patched
_sin = jnp.sin
def f(x): return x * jnp.sin(jnp.float32(2))
# change:
jnp.sin = lambda y, v=v: jnp.float32(v)
# back:
jnp.sin = _sin
# after:
jnp.sin = _sin

# case: unittest.mock.patch.object
import unittest.mock
class A:
    def m(self): return 2
a = A()
patch = None
def f(x): return x * a.m()
# change:
_patch = unittest.mock.patch.object(A, "m", lambda self, v=v: v); _patch.start()
# back:
_patch.stop()
# after:
_patch.stop()

# case: what the function patches and puts back
class A:
    def m(self): return 2
a = A()
def f(x):
    old, A.m = A.m, lambda self: 3
    try: return x * a.m()
    finally: A.m = old
# change:
A.m = lambda self, v=v: v
