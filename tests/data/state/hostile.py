"""Classes that raise where somebody asks them what they are: a trace that meets their objects is as an eager run."""
# ruff: noqa
# fmt: off

# case: __module__ is a descriptor
class D:
    def __get__(self, o, cls): return 7
class A:
    __module__ = D()
    k = 2
o = A()
def f(x): return x * o.k
# change:
A.k = v

# case: __module__ is a property
class A:
    k = 2
    __module__ = property(lambda self: "m")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __module__ is None
class A: k = 2
A.__module__ = None
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __module__ is a number
class A: k = 2
A.__module__ = 7
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __class__ raises
class A:
    k = 2
    @property
    def __class__(self): raise RuntimeError("class")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __class__ says another class
class A:
    k = 2
    @property
    def __class__(self): return dict
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __class__ says Tensor
class A:
    k = 2
    @property
    def __class__(self): return ja.Tensor
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __eq__ raises
class A:
    k = 2
    def __eq__(self, other): raise RuntimeError("eq")
    __hash__ = object.__hash__
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __eq__ raises, in a list
class A:
    k = 2
    def __eq__(self, other): raise RuntimeError("eq")
l = [A()]
def f(x): return x * l[0].k
# change:
l[0] = A(); l[0].k = v

# case: __eq__ raises, in an attribute that is replaced
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): raise RuntimeError("eq")
o = Box(a=A(2))
def f(x): return x * o.a.k
# change:
o.a = A(v)

# case: __eq__ raises, and the function stores it
class A:
    k = 2
    def __eq__(self, other): raise RuntimeError("eq")
a = A()
o = Box(last=None)
def f(x):
    o.last = a
    return x * a.k
# change:
o.last = A()

# case: __eq__ gives a tensor
class A:
    k = 2
    def __eq__(self, other): return ja.ones(2) == 1
o = Box(a=A())
def f(x): return x * o.a.k
# change:
o.a.k = v

# case: __eq__ gives an array without a truth
class A:
    k = 2
    def __eq__(self, other): return np.array([True, False])
o = Box(a=A())
def f(x): return x * o.a.k
# change:
o.a = A(); o.a.k = v

# case: __eq__ is always true
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): return True
    def __hash__(self): return 1
o = Box(a=A(2))
def f(x): return x * o.a.k
# change:
o.a = A(v)

# case: __hash__ raises
class A:
    k = 2
    def __hash__(self): raise RuntimeError("hash")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __hash__ is None
class A:
    k = 2
    __hash__ = None
o, l = A(), [A()]
def f(x): return x * o.k + l[0].k
# change:
o.k = l[0].k = v

# case: __getattr__ raises another error
class A:
    k = 2
    def __getattr__(self, name): raise RuntimeError(name)
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __getattr__ gives anything
class A:
    def __init__(self): self.k = 2
    def __getattr__(self, name): return lambda *args, **kwargs: 7
o = A()
def f(x): return x * o.k + o.anything()
# change:
o.k = v

# case: __getattr__ gives itself
class A:
    def __init__(self): self.k = 2
    def __getattr__(self, name): return self
o = A()
def f(x): return x * o.a.b.c.k
# change:
o.k = v

# case: __getattr__ recurses without its attribute
class A:
    def __init__(self): self.d = {"k": 2}
    def __getattr__(self, name): return self.d[name]
o = A()
def f(x): return x * o.k
# change:
o.d["k"] = v

# case: __getattribute__ raises for all but one name
class A:
    def __getattribute__(self, name):
        if name == "k": return object.__getattribute__(self, "k")
        raise RuntimeError(name)
o = A(); object.__setattr__(o, "k", 2)
def f(x): return x * o.k
# change:
object.__setattr__(o, "k", v)

# case: __setattr__ raises
class A:
    k = 2
    def __setattr__(self, name, value): raise RuntimeError(name)
o = A()
def f(x): return x * o.k
# change:
A.k = v

# case: __bool__ raises
class A:
    k = 2
    def __bool__(self): raise RuntimeError("bool")
o, l = A(), [A()]
def f(x): return x * o.k + l[0].k
# change:
o.k = v

# case: __len__ raises
class A:
    k = 2
    def __len__(self): raise RuntimeError("len")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __iter__ raises
class A:
    k = 2
    def __iter__(self): raise RuntimeError("iter")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __repr__ raises
class A:
    k = 2
    def __repr__(self): raise RuntimeError("repr")
o, d = A(), {"a": A()}
def f(x): return x * o.k + d["a"].k
# change:
o.k = v

# case: __repr__ raises, of a key
class A:
    def __repr__(self): raise RuntimeError("repr")
a = A()
d = {a: 2}
def f(x): return x * d[a]
# change:
d[a] = v

# case: __str__ and __format__ raise
class A:
    k = 2
    def __str__(self): raise RuntimeError("str")
    def __format__(self, spec): raise RuntimeError("format")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __dir__ raises
class A:
    k = 2
    def __dir__(self): raise RuntimeError("dir")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: __dict__ is a property that raises
class A:
    __slots__ = ("k",)
    @property
    def __dict__(self): raise RuntimeError("dict")
o = A(); o.k = 2
def f(x): return x * o.k
# change:
o.k = v

# case: __copy__, __deepcopy__ and __reduce_ex__ raise
class A:
    k = 2
    def _no(self, *args): raise RuntimeError("copy")
    __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _no
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a property raises
class A:
    k = 2
    @property
    def bad(self): raise RuntimeError("bad")
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a property raises, and the function catches it
class A:
    n = 0
    @property
    def bad(self):
        self.n += 1
        raise RuntimeError("bad")
o = A()
def f(x):
    try: o.bad
    except RuntimeError: return x * o.n
# change:
o.n = v

# case: a property raises AttributeError, so __getattr__ is asked
class A:
    k = 2
    @property
    def p(self): raise AttributeError("p")
    def __getattr__(self, name): return self.k
o = A()
def f(x): return x * o.p
# change:
o.k = v

# case: a metaclass whose __getattribute__ raises
class M(type):
    def __getattribute__(cls, name):
        if name in ("k", "__init__", "__dict__", "__mro__"): return type.__getattribute__(cls, name)
        raise RuntimeError(name)
class A(metaclass=M): k = 2
def f(x): return x * A.k
# change:
type.__setattr__(A, "k", v)

# case: a metaclass whose __instancecheck__ raises
class M(type):
    def __instancecheck__(cls, o): raise RuntimeError("instance")
    def __subclasscheck__(cls, o): raise RuntimeError("subclass")
class A(metaclass=M): k = 2
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a metaclass whose __eq__ and __hash__ raise
class M(type):
    def __eq__(cls, other): raise RuntimeError("eq")
    def __hash__(cls): raise RuntimeError("hash")
class A(metaclass=M): k = 2
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a metaclass whose __repr__ raises
class M(type):
    def __repr__(cls): raise RuntimeError("repr")
class A(metaclass=M): k = 2
def f(x): return x * A.k
# change:
A.k = v

# case: a metaclass whose __setattr__ raises
class M(type):
    def __setattr__(cls, name, value): raise RuntimeError("no class changes")
class A(metaclass=M):
    def __init__(self): self.k = 2
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a class of an extension, which cannot be changed
import _random
o = Box(r=re.compile("a"), k=2)
def f(x): return x * o.k + len(o.r.pattern)
# change:
o.k = v

# case: a list whose __iter__ raises
class L(list):
    def __iter__(self): raise RuntimeError("iter")
l = L([2])
def f(x): return x * l[0]
# change:
l[0] = v

# case: a dict whose items raise
class D(dict):
    def items(self): raise RuntimeError("items")
    def __iter__(self): raise RuntimeError("iter")
    keys = values = items
d = D(k=2)
def f(x): return x * d["k"]
# change:
d["k"] = v

# case: a dict whose __getitem__ raises for other keys
class D(dict):
    def __getitem__(self, key):
        if key != "k": raise RuntimeError(key)
        return dict.__getitem__(self, key)
d = D(k=2, j=3)
def f(x): return x * d["k"]
# change:
d["k"] = v

# case: a str whose __eq__ raises
class S(str):
    def __eq__(self, other): raise RuntimeError("eq")
    __hash__ = str.__hash__
o = Box(s=S("ab"))
def f(x): return x * len(o.s)
# change:
o.s = S("a" * v)

# case: an int whose arithmetic raises
class I(int):
    def __add__(self, other): raise RuntimeError("add")
    __radd__ = __mul__ = __rmul__ = __eq__ = __add__
    __hash__ = int.__hash__
o = Box(i=I(2))
def f(x): return x * int(o.i)
# change:
o.i = I(v)

# case: a float whose comparison raises
class R(float):
    def __lt__(self, other): raise RuntimeError("lt")
    __gt__ = __le__ = __ge__ = __eq__ = __lt__
    __hash__ = float.__hash__
o = Box(r=R(2))
def f(x): return x * float(o.r)
# change:
o.r = R(v)

# case: a key whose __eq__ raises after the first lookup
class K:
    n = 0
    def __hash__(self): return 7
    def __eq__(self, other): raise RuntimeError("eq")
k = K()
d = {k: 2}
def f(x): return x * d[k]
# change:
d[k] = v

# case: a weak reference to an object whose __hash__ raises
class A:
    k = 2
    def __hash__(self): raise RuntimeError("hash")
o = A()
r = weakref.ref(o)
def f(x): return x * r().k
# change:
o.k = v

# case: a descriptor whose __get__ raises on the class
class D:
    def __get__(self, o, cls):
        if o is None: raise RuntimeError("of the class")
        return o.n
class A: k = D()
o = A(); o.n = 2
def f(x): return x * o.k
# change:
o.n = v

# case: a descriptor whose __get__ gives itself a class
class D:
    def __get__(self, o, cls=None): return cls.n
class A: k, n = D(), 2
o = A()
def f(x): return x * o.k
# change:
A.n = v

# case: __slots__ with a name that is also deleted
class A:
    __slots__ = ("k", "j")
o = A(); o.k = 2
def f(x): return x * o.k
# change:
o.k, o.j = v, 1
# back:
o.k = 2
del o.j

# case: an object with 200 attributes that raise
class A:
    k = 2
    def __init__(self): self.many = {f"a{i}": self for i in range(200)}
    def __getattr__(self, name): raise KeyError(name)
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a lazy mapping that imports on access
class Lazy(dict):
    def __getitem__(self, key):
        if key != "a": raise ImportError(key)
        return dict.__getitem__(self, key)
    def values(self): raise ImportError("all")
    items = values
d = Lazy({f"m{i}": None for i in range(500)}, a=2)
def f(x): return x * d["a"]
# change:
d["a"] = v

# case: an object in a cycle with its class
class A: k = 2
A.me = A()
A.me.cls = A
def f(x): return x * A.me.cls.me.k
# change:
A.k = v

# case: a mock
import unittest.mock
_mock = unittest.mock.MagicMock()
_mock.k = 2
def f(x): return x * _mock.k
# change:
_mock.k = v

# case: a mock that is called
import unittest.mock
_mock = unittest.mock.MagicMock(return_value=2)
def f(x): return x * _mock(1)
# change:
_mock.return_value = v
# look: _mock.call_count
