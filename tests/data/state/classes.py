"""Classes: their attributes, methods, bases and metaclasses; which class an object is of; what compares objects."""
# ruff: noqa
# fmt: off

# case: a class attribute
class A: k = 2
a = A()
def f(x): return x * a.k
# change:
A.k = v

# case: an attribute of a class by its name
class A: k = 2
def f(x): return x * A.k
# change:
A.k = v

# case: an attribute of type(self)
class A:
    k = 2
    def m(self): return type(self).k
a = A()
def f(x): return x * a.m()
# change:
A.k = v

# case: an attribute of __class__
class A:
    k = 2
    def m(self): return __class__.k
a = A()
def f(x): return x * a.m()
# change:
A.k = v

# case: an attribute of self.__class__
class A: k = 2
a = A()
def f(x): return x * a.__class__.k
# change:
A.k = v

# case: an inherited class attribute
class A: k = 2
class B(A): pass
b = B()
def f(x): return x * b.k
# change:
A.k = v

# case: an inherited class attribute that is overridden
class A: k = 2
class B(A): pass
b = B()
def f(x): return x * b.k
# change:
B.k = v
# back:
del B.k

# case: a class attribute hidden on the object
class A: k = 2
a = A()
def f(x): return x * a.k
# change:
a.k = v
# back:
del a.k

# case: a class attribute that the function hides on the object
class A: n = 0
a = A()
def f(x):
    a.n += 1
    return x * a.n + A.n
# change:
A.n = v

# case: a class attribute removed
class A: k = 7
class B(A): k = 2
b = B()
def f(x): return x * b.k
# change:
del B.k
# back:
B.k = 2

# case: a class attribute that is added
class A: pass
a = A()
def f(x): return x * getattr(a, "k", 7)
# change:
A.k = v
# back:
del A.k

# case: hasattr of a class
class A: pass
def f(x): return x * 2 if hasattr(A, "k") else x
# change:
A.k = v
# back:
del A.k

# case: a class attribute that is a list, shared
class A: ks = [2]
a, b = A(), A()
def f(x): return x * a.ks[0]
# change:
b.ks[0] = v

# case: a count on the class
class A:
    n = 0
    def m(self): type(self).n += 1; return self.n
a = A()
def f(x): return x * a.m()
# change:
A.n = v

# case: a class attribute written by its name
class A: n = 0
def f(x):
    A.n += 1
    return x * A.n
# change:
A.n = v

# case: setattr of a class with a computed name
class A: n0 = 0
def f(x):
    setattr(A, "n" + str(0), A.n0 + 1)
    return x * A.n0
# change:
A.n0 = v

# case: getattr of a class with a computed name
class A: k0, k1 = 2, 3
def f(x): return x * getattr(A, f"k{len('a')}")
# change:
A.k1 = v

# case: a class attribute through an attrgetter
class A: k = 2
get = operator.attrgetter("k")
def f(x): return x * get(A)
# change:
A.k = v

# case: vars of a class
class A: k = 2
def f(x): return x * vars(A)["k"]
# change:
A.k = v

# case: an attribute found in a walk over __mro__
class A: k = 2
class B(A): pass
def f(x):
    for cls in B.__mro__:
        if "k" in cls.__dict__: return x * cls.__dict__["k"]
    return x
# change:
A.k = v

# case: the subclasses of a class
class A: pass
class B(A): pass
kept = []
def f(x): return x * len(A.__subclasses__())
# change:
kept.append(type(f"C{v}", (A,), {}))

# case: a nested class
class A:
    class B: k = 2
def f(x): return x * A.B.k
# change:
A.B.k = v

# case: a class in a dict
class A: k = 2
class B: k = 7
kinds = {"a": A}
def f(x): return x * kinds["a"]().k
# change:
kinds["a"] = B if kinds["a"] is A else A

# case: a method patched on the class
class A:
    def m(self, x): return x * 2
a = A()
def f(x): return a.m(x)
# change:
A.m = lambda self, x, v=v: x * v

# case: a method patched on the object
class A:
    def m(self, x): return x * 2
a = A()
def f(x): return a.m(x)
# change:
a.m = lambda x, v=v: x * v
# back:
del a.m

# case: a method patched by a bound one
class A:
    k = 2
    def m(self, x): return x * self.k
    def n(self, x): return x + self.k
a = A()
def f(x): return a.m(x)
# change:
a.m = types.MethodType(A.n, a)
# back:
del a.m

# case: a method patched on a base
class A:
    def m(self, x): return x * 2
class B(A): pass
b = B()
def f(x): return b.m(x)
# change:
A.m = lambda self, x, v=v: x * v

# case: a method patched between a class and its base
class A:
    def m(self, x): return x * 2
class B(A): pass
class C(B): pass
c = C()
def f(x): return c.m(x)
# change:
B.m = lambda self, x, v=v: x * v
# back:
del B.m

# case: __call__ patched on the class
class A:
    def __call__(self, x): return x * 2
a = A()
def f(x): return a(x)
# change:
A.__call__ = lambda self, x, v=v: x * v

# case: __call__ patched on the object, which has no effect
class A:
    def __call__(self, x): return x * 2
a = A()
def f(x): return a(x)
# change:
a.__call__ = lambda x: x * 100

# case: a static method replaced
class A:
    @staticmethod
    def m(x): return x * 2
a = A()
def f(x): return a.m(x)
# change:
A.m = staticmethod(lambda x, v=v: x * v)

# case: a class method replaced
class A:
    @classmethod
    def m(cls, x): return x * 2
a = A()
def f(x): return a.m(x)
# change:
A.m = classmethod(lambda cls, x, v=v: x * v)

# case: a class method that reads cls
class A:
    k = 2
    @classmethod
    def m(cls, x): return x * cls.k
class B(A): pass
def f(x): return B.m(x)
# change:
B.k = v

# case: a class method that counts
class A:
    n = 0
    @classmethod
    def m(cls): cls.n += 1; return cls.n
class B(A): pass
def f(x): return x * B.m()
# change:
B.n = v

# case: a method replaced by a value that is called
class A:
    def m(self, x): return x * 2
class Scale:
    def __init__(self, k): self.k = k
    def __call__(self, x): return x * self.k
a = A()
def f(x): return a.m(x)
# change:
A.m = Scale(v)

# case: super
class A:
    def m(self, x): return x * 2
class B(A):
    def m(self, x): return super().m(x) + 1
b = B()
def f(x): return b.m(x)
# change:
A.m = lambda self, x, v=v: x * v

# case: super with arguments
class A:
    def m(self, x): return x * 2
class B(A):
    def m(self, x): return super(B, self).m(x) + 1
b = B()
def f(x): return b.m(x)
# change:
A.m = lambda self, x, v=v: x * v

# case: super over two bases
class A:
    def m(self, x): return x * 2
class L(A):
    def m(self, x): return super().m(x) + 1
class R(A):
    def m(self, x): return super().m(x) * 3
class C(L, R): pass
c = C()
def f(x): return c.m(x)
# change:
R.m = lambda self, x, v=v: x * v

# case: an attribute through super
class A: k = 2
class B(A):
    k = 7
    def m(self): return super().k
b = B()
def f(x): return x * b.m()
# change:
A.k = v

# case: super in a class method
class A:
    k = 2
    @classmethod
    def m(cls): return cls.k
class B(A):
    @classmethod
    def m(cls): return super().m() + 1
def f(x): return x * B.m()
# change:
B.k = v

# case: getattr of super with a computed name
class A:
    k1 = 2
class B(A):
    def m(self): return getattr(super(), "k" + str(1))
b = B()
def f(x): return x * b.m()
# change:
A.k1 = v

# case: a method called by its class
class A:
    k = 2
    def m(self, x): return x * self.k
a = A()
def f(x): return A.m(a, x)
# change:
a.k = v

# case: __class__ assigned
class A:
    def m(self, x): return x * 2
class B:
    def m(self, x): return x * 3
a = A()
def f(x): return a.m(x)
# change:
a.__class__ = B if type(a) is A else A

# case: __bases__ assigned
class X: k = 2
class Y: k = 7
class A(X): pass
a = A()
def f(x): return x * a.k
# change:
A.__bases__ = (Y,) if A.__bases__ == (X,) else (X,)

# case: __class__ assigned by the function
class A: k = 2
class B: k = 3
a = A()
def f(x):
    a.__class__ = B if type(a) is A else A
    return x * a.k
# change:
B.k = v

# case: __init_subclass__ that registers
registry = []
class A:
    def __init_subclass__(cls, k=0): registry.append(k)
def f(x): return x * sum(registry)
# change:
class B(A, k=v): pass

# case: __init_subclass__ of a class made inside
registry = []
class A:
    def __init_subclass__(cls): registry.append(1)
def f(x):
    class B(A): pass
    return x * len(registry)
# change:
registry.clear()

# case: __set_name__ of a class made inside
log = []
class D:
    def __set_name__(self, owner, name): log.append(name)
def f(x):
    class B: d = D()
    return x * len(log)
# change:
log.append(v)

# case: a class made inside with a global
k = 2
def f(x):
    class A:
        n = k
        def m(self): return self.n
    return x * A().m()
# change:
k = v

# case: __slots__ of a class read
class A: slots = ["a"]
def f(x): return x * len(A.slots)
# change:
A.slots.append("b")

# case: __name__ of a class
class A: pass
a = A()
def f(x): return x * len(type(a).__name__)
# change:
A.__name__ = "A" * v

# case: __qualname__ and __module__
class A: pass
def f(x): return x * len(A.__qualname__ + A.__module__)
# change:
A.__qualname__ = "A" * v

# case: __doc__ of a class
class A: "ab"
def f(x): return x * len(A.__doc__)
# change:
A.__doc__ = "a" * v

# case: __annotations__ of a class
class A: a: int
def f(x): return x * len(A.__annotations__)
# change:
A.__annotations__[f"b{v}"] = int

# case: a metaclass attribute
class M(type): k = 2
class A(metaclass=M): pass
def f(x): return x * A.k
# change:
M.k = v

# case: a metaclass attribute hidden by the class
class M(type): k = 2
class A(metaclass=M): pass
def f(x): return x * A.k
# change:
A.k = v
# back:
del A.k

# case: a property of a metaclass
class M(type):
    @property
    def k(cls): return cls._k + 1
class A(metaclass=M): _k = 2
def f(x): return x * A.k
# change:
A._k = v

# case: __getattr__ of a metaclass
class M(type):
    table = {"k": 2}
    def __getattr__(cls, name):
        try: return M.table[name]
        except KeyError: raise AttributeError(name)
class A(metaclass=M): pass
def f(x): return x * A.k
# change:
M.table["k"] = v

# case: __getattr__ of a metaclass that is no longer asked
class M(type):
    def __getattr__(cls, name): return 7
class A(metaclass=M): pass
def f(x): return x * A.k
# change:
A.k = v
# back:
del A.k

# case: __call__ of a metaclass
class M(type):
    def __call__(cls, *args):
        made.append(1)
        return super().__call__(*args)
made = []
class A(metaclass=M): pass
def f(x):
    A()
    return x * len(made)
# change:
made.clear()

# case: a singleton by a metaclass
class M(type):
    kept = {}
    def __call__(cls):
        if cls not in M.kept: M.kept[cls] = super().__call__()
        return M.kept[cls]
class A(metaclass=M): k = 2
def f(x): return x * A().k
# change:
A().k = v

# case: __getitem__ of a metaclass
class M(type):
    def __getitem__(cls, i): return cls.ks[i]
class A(metaclass=M): ks = [1, 2]
def f(x): return x * A[1]
# change:
A.ks[1] = v

# case: __iter__ and __len__ of a metaclass
class M(type):
    def __iter__(cls): return iter(cls.ks)
    def __len__(cls): return len(cls.ks)
class A(metaclass=M): ks = [1, 2]
def f(x): return x * sum(A) + len(A)
# change:
A.ks.append(v)

# case: __contains__ of a metaclass
class M(type):
    def __contains__(cls, i): return i in cls.ks
class A(metaclass=M): ks = {1, 2}
def f(x): return x * 2 if 3 in A else x
# change:
A.ks.symmetric_difference_update({3})

# case: __instancecheck__
class M(type):
    yes = True
    def __instancecheck__(cls, o): return M.yes
class A(metaclass=M): pass
def f(x): return x * 2 if isinstance(3, A) else x
# change:
M.yes = not M.yes

# case: __subclasscheck__
class M(type):
    yes = True
    def __subclasscheck__(cls, o): return M.yes
class A(metaclass=M): pass
def f(x): return x * 2 if issubclass(int, A) else x
# change:
M.yes = not M.yes

# case: isinstance
class A: pass
class B(A): pass
o = Box(a=A())
def f(x): return x * 2 if isinstance(o.a, B) else x
# change:
o.a = B() if type(o.a) is A else A()

# case: isinstance with a global tuple of classes
class A: pass
class B: pass
kinds, a = (A,), A()
def f(x): return x * 2 if isinstance(a, kinds) else x
# change:
kinds = (A,) if v == 2 else (B,)

# case: isinstance of an item
items = [2]
def f(x): return x * 2 if isinstance(items[0], int) else x
# change:
items[0] = {3: "a", 2: 2, 5: 5.0}[v]

# case: type is
class A: pass
class B(A): pass
a = A()
def f(x): return x * 2 if type(a) is A else x
# change:
a = B() if type(a) is A else A()

# case: issubclass
class A: pass
class B(A): pass
class C: pass
kind = B
def f(x): return x * 2 if issubclass(kind, A) else x
# change:
kind = C if kind is B else B

# case: a class registered with an ABC
class A(abc.ABC): pass
class B: pass
b = B()
def f(x): return x * 2 if isinstance(b, A) else x
# change:
A.register(B)

# case: a class registered with an ABC of the standard library
class B: pass
b = B()
def f(x): return x * 2 if isinstance(b, collections.abc.Mapping) else x
# change:
collections.abc.Mapping.register(B)

# case: __subclasshook__
class A(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other): return hasattr(other, "go") if cls is A else NotImplemented
class B: pass
class C: go = 1
b = B()
def f(x): return x * 2 if isinstance(b, A) else x
# change:
b = C() if type(b) is B else B()

# case: a runtime protocol
@typing.runtime_checkable
class P(typing.Protocol):
    def go(self): ...
class B: pass
b = B()
def f(x): return x * 2 if isinstance(b, P) else x
# change:
b.go = lambda: None
# back:
del b.go

# case: callable
o = Box(fn=None)
def f(x): return o.fn(x) if callable(o.fn) else x
# change:
o.fn = lambda x, v=v: x * v
# back:
o.fn = None

# case: is
a, b = Box(), Box()
o = Box(cur=a)
def f(x): return x * 2 if o.cur is a else x
# change:
o.cur = b if o.cur is a else a

# case: is of two attributes
a, b = Box(), Box()
o, p = Box(cur=a), Box(cur=a)
def f(x): return x * 2 if o.cur is p.cur else x
# change:
o.cur = b if o.cur is a else a

# case: is of a sentinel
MISSING = object()
o = Box(k=MISSING)
def f(x): return x if o.k is MISSING else x * o.k
# change:
o.k = v
# back:
o.k = MISSING

# case: is of functions
def a(): pass
def b(): pass
o = Box(fn=a)
def f(x): return x * 2 if o.fn is a else x
# change:
o.fn = b if o.fn is a else a

# case: is of classes
class A: pass
class B: pass
o = Box(kind=A)
def f(x): return x * 2 if o.kind is A else x
# change:
o.kind = B if o.kind is A else A

# case: is of tensors
a, b = ja.ones(2), ja.ones(2)
o = Box(w=a)
def f(x): return x * 2 if o.w is a else x
# change:
o.w = b if o.w is a else a

# case: is of lists
a, b = [1], [1]
o = Box(cur=a)
def f(x): return x * 2 if o.cur is a else x
# change:
o.cur = b if o.cur is a else a

# case: == of objects without __eq__
a, b = Box(), Box()
o = Box(cur=a)
def f(x): return x * 2 if o.cur == a else x
# change:
o.cur = b if o.cur is a else a

# case: in a list of objects
a, b = Box(), Box()
items = [a]
def f(x): return x * 2 if b in items else x
# change:
items.append(b)
# back:
items.pop()

# case: in a tuple of objects
a, b, c = Box(), Box(), Box()
o = Box(items=(a, b))
def f(x): return x * 2 if b in o.items else x
# change:
o.items = (a, c) if o.items[1] is b else (a, b)

# case: in a set of objects
a, b = Box(), Box()
items = {a}
def f(x): return x * 2 if b in items else x
# change:
items.add(b)
# back:
items.remove(b)

# case: index of an object
a, b = Box(), Box()
items = [a, b]
def f(x): return x * (items.index(b) + 1)
# change:
items.reverse()

# case: count of an object
a, b = Box(), Box()
items = [a, b]
def f(x): return x * items.count(b)
# change:
items.append(b)

# case: remove of an object
a, b, c = Box(), Box(), Box()
items = [a, b, c]
def f(x):
    items.remove(b)
    items.append(b)
    return x * (items.index(b) + items.index(a))
# change:
items.reverse()

# case: == of lists of objects
a, b, c = Box(), Box(), Box()
p, q = [a, b], [a, b]
def f(x): return x * 2 if p == q else x
# change:
q[1] = c if q[1] is b else b

# case: == of dicts
p, q = {"a": 1}, {"a": 1}
def f(x): return x * 2 if p == q else x
# change:
q["a"] = v

# case: < of tuples
p, q = (1, 2), (1, 3)
def f(x): return x * 2 if p < q else x
# change:
p = (1, v)

# case: id compared
a, b = Box(), Box()
o = Box(cur=a)
def f(x): return x * 2 if id(o.cur) == id(a) else x
# change:
o.cur = b if o.cur is a else a

# case: a dict of ids
a, b = Box(k=2), Box(k=5)
o, _names = Box(cur=a), {id(a): 2, id(b): 3}
def f(x): return x * _names[id(o.cur)]
# change:
o.cur = b if o.cur is a else a

# case: a set of ids, to meet each once
a, b = Box(k=2), Box(k=5)
items = [a, b]
def f(x):
    seen = set()
    for o in items:
        if id(o) not in seen:
            seen.add(id(o))
            x = x * o.k
    return x
# change:
items[1] = a if items[1] is b else b

# case: objects as keys
a, b = Box(), Box()
d = {a: 2, b: 3}
o = Box(cur=a)
def f(x): return x * d[o.cur]
# change:
o.cur = b if o.cur is a else a

# case: the value of an object as a key
a = Box()
d = {a: 2}
def f(x): return x * d[a]
# change:
d[a] = v

# case: a class as a key
class A: pass
class B: pass
d, o = {A: 2, B: 3}, Box(cur=A())
def f(x): return x * d[type(o.cur)]
# change:
o.cur = B() if type(o.cur) is A else A()

# case: a dataclass
@dataclasses.dataclass
class C: k: int = 2
c = C()
def f(x): return x * c.k
# change:
c.k = v

# case: equal dataclasses
@dataclasses.dataclass
class C: k: int = 2
c, d = C(), C()
def f(x): return x * 2 if c == d else x
# change:
d.k = v

# case: ordered dataclasses
@dataclasses.dataclass(order=True)
class C: k: int = 2
c, d = C(), C(4)
def f(x): return x * 2 if c < d else x
# change:
c.k = v

# case: a frozen dataclass as a key
@dataclasses.dataclass(frozen=True)
class C: k: int = 2
o, d = Box(c=C()), {C(2): 2, C(3): 3}
def f(x): return x * d.get(o.c, 7)
# change:
o.c = C(v)

# case: the default of a dataclass
@dataclasses.dataclass
class C: k: int = 2
def f(x): return x * C.k
# change:
C.k = v

# case: a default factory
seen = []
def make():
    seen.append(1)
    return len(seen)
@dataclasses.dataclass
class C: k: int = dataclasses.field(default_factory=make)
def f(x): return x * C().k
# change:
seen.clear()

# case: __post_init__ with an effect
seen = []
@dataclasses.dataclass
class C:
    k: int = 2
    def __post_init__(self): seen.append(self.k)
def f(x):
    C()
    return x * len(seen)
# change:
seen.clear()

# case: an enum
class E(enum.Enum): A, B = 2, 3
o = Box(e=E.A)
def f(x): return x * o.e.value if o.e is E.A else x
# change:
o.e = E.B if o.e is E.A else E.A

# case: an enum by value and by name
class E(enum.Enum): A, B = 2, 3
k = 2
def f(x): return x * (2 if E(k) is E.A else 5) * len(E(k).name)
# change:
k = 3 if k == 2 else 2

# case: an attribute of an enum member
class E(enum.Enum): A = 2
E.A.extra = 2
def f(x): return x * E.A.extra
# change:
E.A.extra = v

# case: an IntFlag
class F(enum.IntFlag): A, B = 1, 2
o = Box(flags=F.A)
def f(x): return x * 2 if F.B in o.flags else x
# change:
o.flags ^= F.B

# case: an enum member in a dict of methods
class E(enum.Enum):
    A, B = "a", "b"
    def apply(self, x): return table[self](x)
table = {E.A: lambda x: x * 2, E.B: lambda x: x * 3}
o = Box(e=E.A)
def f(x): return o.e.apply(x)
# change:
o.e = E.B if o.e is E.A else E.A

# case: match with a class pattern
class P:
    __match_args__ = ("a", "b")
    def __init__(self, a, b): self.a, self.b = a, b
p = P(1, 2)
def f(x):
    match p:
        case P(1, b): return x * b
        case P(a=a): return x * a * 10
# change:
p.b = v

# case: match whose pattern no longer fits
class P:
    __match_args__ = ("a", "b")
    def __init__(self, a, b): self.a, self.b = a, b
p = P(1, 2)
def f(x):
    match p:
        case P(1, b): return x * b
        case P(a=a): return x * a * 10
# change:
p.a = v
# back:
p.a = 1

# case: match with a keyword pattern of a missing attribute
p = Box()
def f(x):
    match p:
        case Box(k=k): return x * k
        case _: return x
# change:
p.k = v
# back:
del p.k

# case: match of a mapping
d = {"kind": "a", "k": 2}
def f(x):
    match d:
        case {"kind": "a", "k": k}: return x * k
        case {"kind": _, **rest}: return x * len(rest)
# change:
d["k"], d["kind"] = v, "b" if v == 3 else "a"

# case: match of a sequence
s = [1, 2]
def f(x):
    match s:
        case [1, k]: return x * k * 5
        case [1, *rest]: return x * len(rest)
# change:
s.append(v)
# back:
del s[2:]

# case: match of a value
o, names = Box(mode="a"), types.SimpleNamespace(A="a")
def f(x):
    match o.mode:
        case names.A: return x * 2
        case _: return x
# change:
o.mode = "b" if o.mode == "a" else "a"

# case: match with a guard
o, k = Box(n=2), 2
def f(x):
    match o:
        case Box(n=n) if n > k: return x * 2
        case _: return x
# change:
k = 1 if k == 2 else 2

# case: __match_args__ replaced
class P: __match_args__ = ("a",)
p = P(); p.a, p.b = 2, 7
def f(x):
    match p:
        case P(k): return x * k
# change:
P.__match_args__ = ("b",) if P.__match_args__ == ("a",) else ("a",)
