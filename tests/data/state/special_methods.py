"""Special methods: what they read of Python's objects, and what they do to them, at each call."""
# ruff: noqa
# fmt: off

# case: the effect of __neg__
S = []
class A:
    k = 2
    def __neg__(self): S.append(1); return self.k
o = A()
def f(x): return x * -o
# change:
o.k = v

# case: the effect of __pos__
S = []
class A:
    k = 2
    def __pos__(self): S.append(1); return self.k
o = A()
def f(x): return x * +o
# change:
o.k = v

# case: the effect of __invert__
S = []
class A:
    k = 2
    def __invert__(self): S.append(1); return self.k
o = A()
def f(x): return x * ~o
# change:
o.k = v

# case: the effect of __abs__
S = []
class A:
    k = 2
    def __abs__(self): S.append(1); return self.k
o = A()
def f(x): return x * abs(o)
# change:
o.k = v

# case: the effect of __add__
S = []
class A:
    k = 2
    def __add__(self, other): S.append(1); return self.k + other
o = A()
def f(x): return x * (o + 1)
# change:
o.k = v

# case: the effect of __radd__
S = []
class A:
    k = 2
    def __radd__(self, other): S.append(1); return self.k + other
o = A()
def f(x): return x * (1 + o)
# change:
o.k = v

# case: the effect of __iadd__
S = []
class A:
    k = 2
    def __iadd__(self, other): S.append(1); return setattr(self, "k", self.k + other) or self
o = A()
def plus(o):
    o += 1
    return o
def f(x): return x * plus(o).k
# change:
o.k = v

# case: the effect of __sub__
S = []
class A:
    k = 2
    def __sub__(self, other): S.append(1); return self.k - other
o = A()
def f(x): return x * (o - 1)
# change:
o.k = v

# case: the effect of __rsub__
S = []
class A:
    k = 2
    def __rsub__(self, other): S.append(1); return other - self.k
o = A()
def f(x): return x * (9 - o)
# change:
o.k = v

# case: the effect of __mul__
S = []
class A:
    k = 2
    def __mul__(self, other): S.append(1); return self.k * other
o = A()
def f(x): return x * (o * 2)
# change:
o.k = v

# case: the effect of __rmul__
S = []
class A:
    k = 2
    def __rmul__(self, other): S.append(1); return self.k * other
o = A()
def f(x): return x * (2 * o)
# change:
o.k = v

# case: the effect of __matmul__
S = []
class A:
    k = 2
    def __matmul__(self, other): S.append(1); return self.k * other
o = A()
def f(x): return x * (o @ 2)
# change:
o.k = v

# case: the effect of __truediv__
S = []
class A:
    k = 2
    def __truediv__(self, other): S.append(1); return self.k / other
o = A()
def f(x): return x * (o / 2)
# change:
o.k = v

# case: the effect of __floordiv__
S = []
class A:
    k = 2
    def __floordiv__(self, other): S.append(1); return self.k // other
o = A()
def f(x): return x * (o // 2)
# change:
o.k = v

# case: the effect of __mod__
S = []
class A:
    k = 2
    def __mod__(self, other): S.append(1); return self.k % other
o = A()
def f(x): return x * (o % 2)
# change:
o.k = v

# case: the effect of __divmod__
S = []
class A:
    k = 2
    def __divmod__(self, other): S.append(1); return (self.k, other)
o = A()
def f(x): return x * divmod(o, 2)[0]
# change:
o.k = v

# case: the effect of __pow__
S = []
class A:
    k = 2
    def __pow__(self, other): S.append(1); return self.k ** other
o = A()
def f(x): return x * o ** 2
# change:
o.k = v

# case: the effect of __lshift__
S = []
class A:
    k = 2
    def __lshift__(self, other): S.append(1); return self.k << other
o = A()
def f(x): return x * (o << 1)
# change:
o.k = v

# case: the effect of __rshift__
S = []
class A:
    k = 2
    def __rshift__(self, other): S.append(1); return self.k >> other
o = A()
def f(x): return x * (o >> 1)
# change:
o.k = v

# case: the effect of __and__
S = []
class A:
    k = 2
    def __and__(self, other): S.append(1); return self.k & other
o = A()
def f(x): return x * (o & 6)
# change:
o.k = v

# case: the effect of __or__
S = []
class A:
    k = 2
    def __or__(self, other): S.append(1); return self.k | other
o = A()
def f(x): return x * (o | 8)
# change:
o.k = v

# case: the effect of __xor__
S = []
class A:
    k = 2
    def __xor__(self, other): S.append(1); return self.k ^ other
o = A()
def f(x): return x * (o ^ 1)
# change:
o.k = v

# case: the effect of __eq__
S = []
class A:
    k = 2
    __hash__ = object.__hash__
    def __eq__(self, other): S.append(1); return self.k == other
o = A()
def f(x): return x * (2 if o == 2 else 1)
# change:
o.k = v

# case: the effect of __ne__
S = []
class A:
    k = 2
    def __ne__(self, other): S.append(1); return self.k != other
o = A()
def f(x): return x * (2 if o != 2 else 1)
# change:
o.k = v

# case: the effect of __lt__
S = []
class A:
    k = 2
    def __lt__(self, other): S.append(1); return self.k < other
o = A()
def f(x): return x * (2 if o < 3 else 1)
# change:
o.k = v

# case: the effect of __le__
S = []
class A:
    k = 2
    def __le__(self, other): S.append(1); return self.k <= other
o = A()
def f(x): return x * (2 if o <= 2 else 1)
# change:
o.k = v

# case: the effect of __gt__
S = []
class A:
    k = 2
    def __gt__(self, other): S.append(1); return self.k > other
o = A()
def f(x): return x * (2 if o > 2 else 1)
# change:
o.k = v

# case: the effect of __ge__
S = []
class A:
    k = 2
    def __ge__(self, other): S.append(1); return self.k >= other
o = A()
def f(x): return x * (2 if o >= 3 else 1)
# change:
o.k = v

# case: the effect of __bool__
S = []
class A:
    k = 2
    def __bool__(self): S.append(1); return self.k == 2
o = A()
def f(x): return x * (2 if o else 1)
# change:
o.k = v

# case: the effect of __len__
S = []
class A:
    k = 2
    def __len__(self): S.append(1); return self.k
o = A()
def f(x): return x * len(o)
# change:
o.k = v

# case: the effect of __int__
S = []
class A:
    k = 2
    def __int__(self): S.append(1); return self.k
o = A()
def f(x): return x * int(o)
# change:
o.k = v

# case: the effect of __float__
S = []
class A:
    k = 2
    def __float__(self): S.append(1); return self.k / 2
o = A()
def f(x): return x * float(o)
# change:
o.k = v

# case: the effect of __complex__
S = []
class A:
    k = 2
    def __complex__(self): S.append(1); return complex(self.k, self.k)
o = A()
def f(x): return x * complex(o).imag
# change:
o.k = v

# case: the effect of __index__
S = []
class A:
    k = 2
    def __index__(self): S.append(1); return self.k
o = A()
def f(x): return x * range(9)[o]
# change:
o.k = v

# case: the effect of __round__
S = []
class A:
    k = 2
    def __round__(self, n=0): S.append(1); return self.k + n
o = A()
def f(x): return x * round(o, 1)
# change:
o.k = v

# case: the effect of __trunc__
S = []
class A:
    k = 2
    def __trunc__(self): S.append(1); return self.k
o = A()
def f(x): return x * math.trunc(o)
# change:
o.k = v

# case: the effect of __floor__
S = []
class A:
    k = 2
    def __floor__(self): S.append(1); return self.k
o = A()
def f(x): return x * math.floor(o)
# change:
o.k = v

# case: the effect of __ceil__
S = []
class A:
    k = 2
    def __ceil__(self): S.append(1); return self.k
o = A()
def f(x): return x * math.ceil(o)
# change:
o.k = v

# case: the effect of __hash__
S = []
class A:
    k = 2
    def __hash__(self): S.append(1); return self.k
o = A()
def f(x): return x * hash(o)
# change:
o.k = v

# case: the effect of __str__
S = []
class A:
    k = 2
    def __str__(self): S.append(1); return "a" * self.k
o = A()
def f(x): return x * len(str(o))
# change:
o.k = v

# case: the effect of __repr__
S = []
class A:
    k = 2
    def __repr__(self): S.append(1); return "a" * self.k
o = A()
def f(x): return x * len(repr(o))
# change:
o.k = v

# case: the effect of __bytes__
S = []
class A:
    k = 2
    def __bytes__(self): S.append(1); return b"a" * self.k
o = A()
def f(x): return x * len(bytes(o))
# change:
o.k = v

# case: the effect of __format__
S = []
class A:
    k = 2
    def __format__(self, spec): S.append(1); return spec * self.k
o = A()
def f(x): return x * len(f"{o:a}")
# change:
o.k = v

# case: the effect of __getitem__
S = []
class A:
    k = 2
    def __getitem__(self, i): S.append(1); return self.k + i
o = A()
def f(x): return x * o[1]
# change:
o.k = v

# case: the effect of __setitem__
S = []
class A:
    k = 2
    def __setitem__(self, i, value): S.append(1); return setattr(self, "k", value)
o = A()
def put(o):
    o[0] = o.k + 1
    return o
def f(x): return x * put(o).k
# change:
o.k = v

# case: the effect of __delitem__
S = []
class A:
    k = 2
    def __delitem__(self, i): S.append(1); return setattr(self, "k", self.k + 1)
o = A()
def drop(o):
    del o[0]
    return o
def f(x): return x * drop(o).k
# change:
o.k = v

# case: the effect of __contains__
S = []
class A:
    k = 2
    def __contains__(self, i): S.append(1); return i == self.k
o = A()
def f(x): return x * (2 if 2 in o else 1)
# change:
o.k = v

# case: the effect of __iter__
S = []
class A:
    k = 2
    def __iter__(self): S.append(1); return iter([self.k, 1])
o = A()
def f(x): return x * sum(o)
# change:
o.k = v

# case: the effect of __reversed__
S = []
class A:
    k = 2
    def __reversed__(self): S.append(1); return [self.k, 1]
o = A()
def f(x): return x * reversed(o)[0]
# change:
o.k = v

# case: the effect of __length_hint__
S = []
class A:
    k = 2
    def __length_hint__(self): S.append(1); return self.k
o = A()
def f(x): return x * operator.length_hint(o)
# change:
o.k = v

# case: the effect of __missing__
S = []
class A(dict):
    k = 2
    def __missing__(self, key): S.append(1); return self.k
o = A()
def f(x): return x * o["a"]
# change:
o.k = v

# case: the effect of __call__
S = []
class A:
    k = 2
    def __call__(self, n): S.append(1); return self.k + n
o = A()
def f(x): return x * o(1)
# change:
o.k = v

# case: the effect of __getattr__
S = []
class A:
    k, j = 2, 3
    def __getattr__(self, name): S.append(1); return vars(type(self))["j"] + len(name)
o = A()
def f(x): return x * o.abc
# change:
A.j = v

# case: the effect of __dir__
S = []
class A:
    k = 2
    def __dir__(self): S.append(1); return ["a"] * self.k
o = A()
def f(x): return x * len(dir(o))
# change:
o.k = v

# case: the effect of __fspath__
S = []
class A:
    k = 2
    def __fspath__(self): S.append(1); return "a" * self.k
o = A()
def f(x): return x * len(os.fspath(o))
# change:
o.k = v

# case: the effect of __copy__
S = []
class A:
    k = 2
    def __copy__(self): S.append(1); return Box(k=self.k)
o = A()
def f(x): return x * copy.copy(o).k
# change:
o.k = v

# case: the effect of __deepcopy__
S = []
class A:
    k = 2
    def __deepcopy__(self, memo): S.append(1); return Box(k=self.k)
o = A()
def f(x): return x * copy.deepcopy(o).k
# change:
o.k = v

# case: the effect of __reduce_ex__
S = []
class A:
    k = 2
    def __reduce_ex__(self, protocol): S.append(1); return (int, (self.k,))
o = A()
def f(x): return x * copy.copy(o)
# change:
o.k = v

# case: the effect of __class_getitem__
S = []
class A:
    k = 2
    def __class_getitem__(cls, i): S.append(1); return cls.k + i
o = A()
def f(x): return x * A[1]
# change:
A.k = v

# case: the effect of __enter__ and __exit__
S = []
class A:
    def __enter__(self): S.append(1)
    def __exit__(self, *a): S.append(2)
def f(x):
    with A(): return x + 1
# change:
S.append(v)

# case: what __enter__ gives
class A:
    k = 2
    def __enter__(self): return Box(k=self.k)
    def __exit__(self, *a): pass
a = A()
def f(x):
    with a as b: return x * b.k
# change:
a.k = v

# case: __exit__ that swallows
class A:
    on = True
    def __enter__(self): pass
    def __exit__(self, *a): return self.on
a = A()
def f(x):
    with a:
        x = x * 2
        raise ValueError("a")
    return x
# change:
a.on = not a.on

# case: the effect of __exit__ after an error
S = []
class A:
    def __enter__(self): pass
    def __exit__(self, kind, error, trace):
        S.append(kind.__name__)
        return True
def f(x):
    with A(): raise ValueError("a")
    return x * 2
# change:
S.append("")

# case: a count of nested with statements
class A:
    depth = most = 0
    def __enter__(self):
        self.depth += 1
        self.most = max(self.most, self.depth)
    def __exit__(self, *a): self.depth -= 1
a = A()
def f(x):
    with a:
        with a: return x * a.depth + a.most
# change:
a.most = v

# case: the effect of __init__ of an object made inside
S = []
class A:
    def __init__(self, k): S.append(k); self.k = k
def f(x): return x * A(2).k
# change:
S.append(v)

# case: the effect of __new__
S = []
class A:
    def __new__(cls, k): S.append(k); return object.__new__(cls)
    def __init__(self, k): self.k = k
def f(x): return x * A(2).k
# change:
S.append(v)

# case: __new__ of a subclass of int
S = []
class A(int):
    def __new__(cls, k): S.append(k); return int.__new__(cls, k + 1)
def f(x): return x * int(A(2)) + len(S)
# change:
S.append(v)

# case: an object made inside registers itself
class A:
    all = []
    def __init__(self, k): self.k = k; A.all.append(self)
def f(x):
    a = A(len(A.all))
    return x * a.k
# change:
A.all.clear()

# case: an object made inside has a number
class A:
    n = 0
    def __init__(self):
        self.id = A.n
        A.n += 1
def f(x): return x * A().id + A().id
# change:
A.n = v

# case: an object made inside has a number of itertools.count
class A:
    ids = itertools.count()
    def __init__(self): self.id = next(A.ids)
def f(x): return x * A().id
# change:
A.ids = itertools.count(v)

# case: the effect of __set__ and __get__
S = []
class D:
    def __get__(self, o, cls): S.append("get"); return o.__dict__["k"]
    def __set__(self, o, value): S.append("set"); o.__dict__["k"] = value
class A: d = D()
o = A()
def f(x):
    o.d = 2
    return x * o.d
# change:
S.append("")

# case: the effect of __delete__
S = []
class D:
    def __get__(self, o, cls): return 3
    def __delete__(self, o): S.append("del")
class A: d = D()
o = A()
def f(x):
    del o.d
    return x * len(S)
# change:
S.append("")

# case: the effect of __next__
class A:
    n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n % 3 == 0: raise StopIteration
        return self.n
a = A()
def f(x):
    for i in a: x = x + i
    return x
# change:
a.n = v * 3

# case: the effect of __next__ by next
class A:
    n = 0
    def __next__(self): self.n += 1; return self.n
a = A()
def f(x): return x * next(a)
# change:
a.n = v

# case: the effect of __iter__ as a generator
S = []
class A:
    ks = [1, 2]
    def __iter__(self):
        for k in self.ks:
            S.append(k)
            yield k
a = A()
def f(x): return x * sum(a)
# change:
A.ks = [1, v]

# case: the effect of __iter__ in an unpacking
S = []
class A:
    ks = [1, 2]
    def __iter__(self): S.append(1); return iter(self.ks)
o = A()
def f(x):
    a, b = o
    return x * b
# change:
o.ks = [1, v]

# case: the effect of __iter__ in a star call
S = []
class A:
    ks = [1, 2]
    def __iter__(self): S.append(1); return iter(self.ks)
o = A()
def g(*args): return sum(args)
def f(x): return x * g(*o)
# change:
o.ks = [1, v]

# case: the effect of keys and __getitem__ in a double star
S = []
class A:
    k = 2
    def keys(self): S.append("keys"); return ["a"]
    def __getitem__(self, key): S.append(key); return self.k
o = A()
def g(a): return a
def f(x): return x * g(**o)
# change:
o.k = v

# case: the sequence protocol without __iter__
S = []
class A:
    ks = [1, 2]
    def __getitem__(self, i): S.append(i); return self.ks[i]
o = A()
def f(x): return x * sum(o)
# change:
o.ks[1] = v

# case: __hash__ and __eq__ in a lookup
S = []
class A:
    def __init__(self, k): self.k = k
    def __hash__(self): S.append("hash"); return 7
    def __eq__(self, other): S.append("eq"); return self.k == other.k
d = {A(2): 2}
def f(x): return x * d.get(A(2), 9) + len(S)
# change:
next(iter(d)).k = v

# case: __eq__ in a list's in
S = []
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): S.append(1); return self.k == other
items = [A(1), A(2)]
def f(x): return (x * 2 if 3 in items else x)
# change:
items[1].k = v

# case: __eq__ in index and count
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): return self.k == other
items = [A(1), A(2), A(2)]
def f(x): return x * items.count(2) + (items.index(2) if 2 in items else 9)
# change:
items[1].k = v

# case: __eq__ in remove
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): return self.k == other
def f(x):
    items = [a, A(1)]
    items.remove(2 if a.k == 2 else 1)
    return x * (items[0].k + 10 if items else 0)
a = A(2)
# change:
a.k = v

# case: __eq__ of a list of objects
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): return self.k == other.k
p, q = [A(1), A(2)], [A(1), A(2)]
def f(x): return x * 2 if p == q else x
# change:
p[1].k = v

# case: __eq__ that counts
class A:
    n = 0
    def __eq__(self, other): A.n += 1; return True
a, b = A(), A()
def f(x): return x * A.n if a == b else x
# change:
A.n = v

# case: __lt__ in sort
S = []
class A:
    def __init__(self, k): self.k = k
    def __lt__(self, other): S.append(1); return self.k < other.k
a, b = A(2), A(4)
def f(x): return x * sorted([b, a])[0].k
# change:
a.k = v

# case: __lt__ in a heap
class A:
    def __init__(self, k): self.k = k
    def __lt__(self, other): return self.k < other.k
heap = [A(2), A(4)]
def f(x):
    heapq.heappush(heap, A(3))
    return x * heapq.heappop(heap).k
# change:
heap[0].k = v

# case: __lt__ in min and max
class A:
    def __init__(self, k): self.k = k
    def __lt__(self, other): return self.k < other.k
    def __gt__(self, other): return self.k > other.k
a, b = A(2), A(4)
def f(x): return x * min(a, b).k + max(a, b).k
# change:
a.k = v

# case: total_ordering
@functools.total_ordering
class A:
    def __init__(self, k): self.k = k
    def __eq__(self, other): return self.k == other.k
    def __lt__(self, other): return self.k < other.k
a, b = A(2), A(4)
def f(x): return x * 2 if a >= b else x
# change:
a.k = v

# case: __bool__ through not, and, or
S = []
class A:
    on = True
    def __bool__(self): S.append(1); return self.on
a = A()
def f(x): return (x if not a else x * 2) + (1 if a and a else 0) + len(S)
# change:
a.on = not a.on

# case: __bool__ in any, all and filter
S = []
class A:
    on = True
    def __bool__(self): S.append(1); return self.on
items = [A(), A()]
def f(x): return x * sum([any(items), all(items), len(list(filter(None, items)))])
# change:
items[0].on = not items[0].on

# case: __len__ as a truth
class A:
    n = 2
    def __len__(self): return self.n
a = A()
def f(x): return x * 2 if a else x
# change:
a.n = 0 if a.n else 2

# case: __getitem__ with a slice
class A:
    ks = [1, 2, 3]
    def __getitem__(self, i): return A.ks[i]
a = A()
def f(x): return x * sum(a[1:])
# change:
A.ks[2] = v

# case: __add__ that gives NotImplemented
class A:
    def __init__(self, k): self.k = k
    def __add__(self, other): return NotImplemented
class B:
    k = 2
    def __radd__(self, other): return self.k + other.k
a, b = A(1), B()
def f(x): return x * (a + b)
# change:
b.k = v

# case: a special method replaced
class A:
    def __len__(self): return 2
a = A()
def f(x): return x * len(a)
# change:
A.__len__ = lambda self, v=v: v

# case: a special method of a base, overridden
class A:
    def __len__(self): return 2
class B(A): pass
a = B()
def f(x): return x * len(a)
# change:
B.__len__ = lambda self, v=v: v
# back:
del B.__len__

# case: a special method added
class A: pass
a = A()
def f(x): return x * 2 if a else x
# change:
A.__bool__ = lambda self: False
# back:
del A.__bool__

# case: a special method with a tensor
class A:
    def __init__(self): self.w = ja.ones(2)
    def __matmul__(self, x):
        self.w = self.w * 2
        return self.w * x
a = A()
def f(x): return a @ x
# change:
a.w = ja.ones(2) * v

# case: an operator with a tensor on the left
S = []
class A:
    k = 2
    def __rmul__(self, x): S.append(1); return x * self.k
a = A()
def f(x): return x.tan() * a if hasattr(x, "none") else a.__rmul__(x)
# change:
a.k = v

# case: operator.add and functools.reduce
S = []
class A:
    def __init__(self, k): self.k = k
    def __add__(self, other): S.append(1); return A(self.k + other.k)
items = [A(1), A(2)]
def f(x): return x * functools.reduce(operator.add, items).k
# change:
items[1].k = v

# case: sum of objects
class A:
    n = 0
    def __init__(self, k): self.k = k
    def __radd__(self, other): A.n += 1; return other + self.k
items = [A(1), A(2)]
def f(x): return x * sum(items) + A.n
# change:
items[1].k = v

# case: a fluent object that counts
class Meter:
    n, total = 0, 0.0
    def __iadd__(self, k): self.n += 1; self.total += k; return self
m = Meter()
def f(x):
    global m
    m += 2.0
    return x * m.n
# change:
m.n = v

# case: an asynchronous function run by hand
S = []
async def g(k): S.append(k); return k + 1
def f(x):
    c = g(2)
    try: c.send(None)
    except StopIteration as stop: return x * stop.value + len(S)
# change:
S.append(v)

# case: the effect of __delete__, of which the function knows nothing
S = []
class D:
    def __delete__(self, o): S.append("del")
class A: d = D()
o = A()
def f(x):
    del o.d
    return x * 2
# change:
S.append("")

# case: the effect of __hash__ in a set
S = []
class A:
    def __hash__(self): S.append(1); return 7
o = A()
def f(x): return x * len({o})
# change:
S.append("")

# case: the effect of a call in a base's special method
S = []
class Base:
    def __add__(self, k): S.append(k); return k
class A(Base): pass
o = A()
def f(x): return x * (o + 2)
# change:
S.append("")

# case: the effect of a special method of a metaclass
S = []
class M(type):
    def __len__(cls): S.append(1); return 3
class A(metaclass=M): pass
def f(x): return x * len(A)
# change:
S.append("")

# case: a special method that counts on its object
class A:
    n = 0
    def __getitem__(self, i): self.n += 1; return i
o = A()
def f(x): return x * o[2]
# change:
o.n = v

# case: a special method that writes a global
n = 0
class A:
    def __len__(self):
        global n
        n += 1
        return 3
o = A()
def f(x): return x * len(o)
# change:
n = v

# case: a special method that writes a tensor's attribute
w = ja.ones(2)
class A:
    def __len__(self): w.note = getattr(w, "note", 0) + 1; return 3
o = A()
def f(x): return x * len(o)
# change:
w.note = v

# case: a special method that writes a tensor
w = ja.ones(2)
class A:
    def __len__(self): w.add_(1); return 3
o = A()
def f(x): return x * len(o)
# change:
w.zero_()
