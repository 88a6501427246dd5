"""Attributes of objects: plain, nested, missing, deleted, computed, in slots, behind properties and descriptors."""
# ruff: noqa
# fmt: off

# case: a plain attribute
o = Box(k=2)
def f(x): return x * o.k
# change:
o.k = v

# case: a float attribute
o = Box(k=2.0)
def f(x): return x * o.k
# change:
o.k = v / 2

# case: an attribute of an argument
o = Box(k=2)
args = (x, o)
def f(x, o): return x * o.k
# change:
o.k = v

# case: a nested attribute
o = Box(a=Box(b=Box(k=2)))
def f(x): return x * o.a.b.k
# change:
o.a.b.k = v

# case: an object in the middle replaced
o = Box(a=Box(b=Box(k=2)))
def f(x): return x * o.a.b.k
# change:
o.a = Box(b=Box(k=v))

# case: two paths to one object
b = Box(k=2)
o, p = Box(b=b), Box(b=b)
def f(x): return x * o.b.k + p.b.k
# change:
p.b = Box(k=v)

# case: a cycle of objects
o, p = Box(k=2), Box(k=3)
o.next, p.next = p, o
def f(x): return x * o.next.next.k
# change:
o.k = v

# case: an attribute that is missing, then added
o = Box()
def f(x):
    try: return x * o.k
    except AttributeError: return x
# change:
o.k = v
# back:
del o.k

# case: an attribute that is deleted
o = Box(k=2)
def f(x):
    try: return x * o.k
    except AttributeError: return x
# change:
del o.k
# back:
o.k = 2

# case: hasattr
o = Box()
def f(x): return x * 2 if hasattr(o, "k") else x
# change:
o.k = v
# back:
del o.k

# case: hasattr with a computed name
o = Box()
names = ["a", "k"]
def f(x): return x * sum(hasattr(o, n) for n in names)
# change:
o.k = v
# back:
del o.k

# case: getattr with a default
o = Box()
def f(x): return x * getattr(o, "k", 7)
# change:
o.k = v
# back:
del o.k

# case: getattr with a computed name
o = Box(k0=2, k1=3)
def f(x): return x * getattr(o, "k" + str(len("a")))
# change:
o.k1 = v

# case: getattr with a name from a list
o = Box(a=2, b=3)
names = ["a", "b"]
def f(x):
    for n in names: x = x * getattr(o, n)
    return x
# change:
o.b = v

# case: getattr with a name from an attribute
o = Box(a=2, b=3, which="a")
def f(x): return x * getattr(o, o.which)
# change:
o.which = "b" if o.which == "a" else "a"

# case: getattr with a default of a computed name
o = Box()
def f(x): return x * getattr(o, "".join(["a", "b"]), 7)
# change:
o.ab = v
# back:
del o.ab

# case: setattr with a computed name, read again
o = Box(n1=0)
def f(x):
    setattr(o, f"n{1}", o.n1 + 1)
    return x * o.n1
# change:
o.n1 = v

# case: delattr of what is there
o = Box(k=2)
def f(x):
    y = x * getattr(o, "k", 9)
    if hasattr(o, "k"): delattr(o, "k")
    return y
# change:
o.k = v

# case: object.__getattribute__
o = Box(k=2)
def f(x): return x * object.__getattribute__(o, "k")
# change:
o.k = v

# case: object.__setattr__
o = Box(k=2)
def f(x):
    object.__setattr__(o, "k", o.k + 1)
    return x * o.k
# change:
o.k = v

# case: a global attrgetter
get = operator.attrgetter("k")
o = Box(k=2)
def f(x): return x * get(o)
# change:
o.k = v

# case: an attrgetter inline
o = Box(k=2)
def f(x): return x * operator.attrgetter("k")(o)
# change:
o.k = v

# case: an attrgetter with a dotted name
get = operator.attrgetter("a.k")
o = Box(a=Box(k=2))
def f(x): return x * get(o)
# change:
o.a.k = v

# case: an attrgetter of several names
get = operator.attrgetter("a", "b")
o = Box(a=2, b=3)
def f(x):
    a, b = get(o)
    return x * a + b
# change:
o.b = v

# case: an attrgetter as a key of sorted
get = operator.attrgetter("k")
a, b = Box(k=2, y=5), Box(k=4, y=7)
def f(x): return x * sorted([a, b], key=get)[0].y
# change:
a.k = v

# case: an attrgetter as a key of max
a, b = Box(k=2, y=5), Box(k=4, y=7)
def f(x): return x * max(a, b, key=operator.attrgetter("k")).y
# change:
a.k = v

# case: an attrgetter in map
os_ = [Box(k=2), Box(k=3)]
def f(x): return x * sum(map(operator.attrgetter("k"), os_))
# change:
os_[1].k = v

# case: an attrgetter replaced
get = operator.attrgetter("a")
o = Box(a=2, b=3)
def f(x): return x * get(o)
# change:
get = operator.attrgetter("b" if v == 3 else "a")

# case: an attrgetter in a closure
def make():
    get = operator.attrgetter("k")
    def f(x): return x * get(o)
    return f
o = Box(k=2)
f = make()
# change:
o.k = v

# case: a global itemgetter
get = operator.itemgetter("k")
d = {"k": 2}
def f(x): return x * get(d)
# change:
d["k"] = v

# case: an itemgetter inline
d = [1, 2]
def f(x): return x * operator.itemgetter(1)(d)
# change:
d[1] = v

# case: an itemgetter of an object with __getitem__
class A:
    k = 2
    def __getitem__(self, i): return self.k
a = A()
get = operator.itemgetter(0)
def f(x): return x * get(a)
# change:
a.k = v

# case: a global methodcaller
class A:
    k = 2
    def m(self, n): return self.k + n
a, call = A(), operator.methodcaller("m", 1)
def f(x): return x * call(a)
# change:
a.k = v

# case: a methodcaller inline
class A:
    k = 2
    def m(self): return self.k
a = A()
def f(x): return x * operator.methodcaller("m")(a)
# change:
A.m = lambda self, v=v: v

# case: a methodcaller with an effect
class A:
    n = 0
    def m(self): self.n += 1; return self.n
a, call = A(), operator.methodcaller("m")
def f(x): return x * call(a)
# change:
a.n = v

# case: a methodcaller of get
d, call = {"k": 2}, operator.methodcaller("get", "k", 7)
def f(x): return x * call(d)
# change:
d["k"] = v
# back:
del d["k"]

# case: a slot
class A: __slots__ = ("k",)
o = A(); o.k = 2
def f(x): return x * o.k
# change:
o.k = v

# case: an empty slot
class A: __slots__ = ("k",)
o = A()
def f(x): return x * getattr(o, "k", 7)
# change:
o.k = v
# back:
del o.k

# case: a slot of a base
class A: __slots__ = ("k",)
class B(A): __slots__ = ("j",)
o = B(); o.k = o.j = 2
def f(x): return x * o.k + o.j
# change:
o.k = v

# case: a slot that is written
class A: __slots__ = ("n",)
o = A(); o.n = 0
def f(x):
    o.n += 1
    return x * o.n
# change:
o.n = v

# case: a slot beside a __dict__
class A: __slots__ = ("k", "__dict__")
o = A(); o.k, o.j = 2, 3
def f(x): return x * o.k + o.j
# change:
o.k, o.j = v, v + 1

# case: a slot read through its descriptor
class A: __slots__ = ("k",)
o = A(); o.k = 2
def f(x): return x * A.k.__get__(o)
# change:
o.k = v

# case: a property
class A:
    _k = 2
    @property
    def k(self): return self._k
o = A()
def f(x): return x * o.k
# change:
o._k = v

# case: a property of properties
class A:
    _k = 2
    @property
    def a(self): return self._k + 1
    @property
    def b(self): return self.a * 2
o = A()
def f(x): return x * o.b
# change:
o._k = v

# case: a property with a setter
class A:
    _k = 2
    @property
    def k(self): return self._k
    @k.setter
    def k(self, value): self._k = value + 1
o = A()
def f(x):
    o.k = o.k + 1
    return x * o.k
# change:
o.k = v

# case: a property with a deleter
class A:
    n = 0
    @property
    def k(self): return self.n
    @k.deleter
    def k(self): self.n += 1
o = A()
def f(x):
    del o.k
    return x * o.k
# change:
o.n = v

# case: a property whose getter writes
class A:
    n = 0
    @property
    def k(self):
        self.n += 1
        return self.n
o = A()
def f(x): return x * o.k
# change:
o.n = v

# case: a property replaced
class A:
    @property
    def k(self): return 2
o = A()
def f(x): return x * o.k
# change:
A.k = property(lambda self, v=v: v)

# case: a property replaced by a value
class A:
    @property
    def k(self): return 2
o = A()
def f(x): return x * o.k
# change:
A.k = v

# case: fget of a property called
class A:
    _k = 2
    @property
    def k(self): return self._k
o = A()
def f(x): return x * A.k.fget(o)
# change:
o._k = v

# case: a property through super
class A:
    _k = 2
    @property
    def k(self): return self._k
class B(A):
    @property
    def k(self): return super().k + 1
o = B()
def f(x): return x * o.k
# change:
o._k = v

# case: a cached property
class A:
    n = 2
    @functools.cached_property
    def k(self): return self.n * 2
o = A()
def f(x): return x * o.k
# change:
o.n = v

# case: a cached property that is forgotten
class A:
    n = 2
    @functools.cached_property
    def k(self): return self.n * 2
o = A()
def f(x): return x * o.k
# change:
o.n = v
del o.k

# case: a cached property that is set
class A:
    n = 2
    @functools.cached_property
    def k(self): return self.n * 2
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a cached property after a write of what it reads
class A:
    n = 1
    @functools.cached_property
    def once(self): return self.n * 2
o = A()
def f(x):
    o.n = 3
    return x + o.once
# change:
o.n = v
o.__dict__.pop("once", None)

# case: a cached property with an effect
log = []
class A:
    @functools.cached_property
    def k(self):
        log.append(1)
        return len(log)
o = A()
def f(x): return x * o.k
# change:
del o.k

# case: a cached property of a new object at each call
log = []
class A:
    @functools.cached_property
    def k(self):
        log.append(1)
        return len(log)
def f(x):
    o = A()
    return x * o.k * o.k
# change:
log.append(v)

# case: a cached tensor
class A:
    k = 2
    @functools.cached_property
    def w(self): return ja.tensor([1.0, 2.0]) * self.k
o = A()
def f(x): return x * o.w
# change:
o.k = v
o.__dict__.pop("w", None)

# case: a lazily made attribute
class A:
    n = 2
    def get(self):
        if not hasattr(self, "_k"): self._k = self.n * 2
        return self._k
o = A()
def f(x): return x * o.get()
# change:
o.n = v
del o._k

# case: __getattr__ over a dict
class A:
    def __init__(self): self.d = {"k": 2}
    def __getattr__(self, name):
        try: return self.__dict__["d"][name]
        except KeyError: raise AttributeError(name)
o = A()
def f(x): return x * o.k
# change:
o.d["k"] = v

# case: __getattr__ that is no longer asked
class A:
    def __getattr__(self, name): return 7
o = A()
def f(x): return x * o.k
# change:
o.k = v
# back:
del o.k

# case: __getattr__ with getattr's default
class A:
    have = False
    def __getattr__(self, name):
        if self.have: return 5
        raise AttributeError(name)
o = A()
def f(x): return x * getattr(o, "k", 7)
# change:
o.have = not o.have

# case: __getattr__ with an effect
class A:
    def __init__(self): self.asked = []
    def __getattr__(self, name):
        self.asked.append(name)
        return len(self.asked)
o = A()
def f(x): return x * o.k
# change:
o.asked.clear()

# case: __getattr__ replaced
class A:
    def __getattr__(self, name): return 7
o = A()
def f(x): return x * o.k
# change:
A.__getattr__ = lambda self, name, v=v: v

# case: __getattr__ added
class A: pass
o = A()
def f(x): return x * getattr(o, "k", 7)
# change:
A.__getattr__ = lambda self, name, v=v: v
# back:
del A.__getattr__

# case: __getattr__ that passes on to an inner object
class Wrapper:
    def __init__(self, inner): self.inner = inner
    def __getattr__(self, name): return getattr(self.__dict__["inner"], name)
o = Wrapper(Wrapper(Box(k=2)))
def f(x): return x * o.k
# change:
o.inner.inner.k = v

# case: __setattr__ that keeps in a dict
class A:
    def __init__(self): object.__setattr__(self, "d", {"n": 0})
    def __getattr__(self, name): return self.d[name]
    def __setattr__(self, name, value): self.d[name] = value
o = A()
def f(x):
    o.n = o.n + 1
    return x * o.n
# change:
o.n = v

# case: __setattr__ with an effect
log = []
class A:
    def __setattr__(self, name, value):
        log.append(name)
        object.__setattr__(self, name, value)
o = A()
def f(x):
    o.k = 3
    return x * len(log)
# change:
o.k = v

# case: __delattr__ with an effect
log = []
class A:
    def __delattr__(self, name):
        log.append(name)
        object.__delattr__(self, name)
o = A()
def f(x):
    o.k = 3
    del o.k
    return x * len(log)
# change:
log.append(v)

# case: __getattribute__ that maps names
class Config:
    attribute_map = {"hidden": "n_embd"}
    def __init__(self): self.n_embd = 2
    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)
c = Config()
def f(x): return x * c.hidden
# change:
c.n_embd = v

# case: __getattribute__ whose map changes
class Config:
    attribute_map = {"hidden": "a"}
    def __init__(self): self.a, self.b = 2, 3
    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)
c = Config()
def f(x): return x * c.hidden
# change:
Config.attribute_map = {"hidden": "b" if v == 3 else "a"}

# case: __setattr__ that maps names too
class Config:
    attribute_map = {"hidden": "n_embd"}
    def __init__(self): self.n_embd = 2
    def __setattr__(self, key, value):
        super().__setattr__(super().__getattribute__("attribute_map").get(key, key), value)
    def __getattribute__(self, key):
        return super().__getattribute__(super().__getattribute__("attribute_map").get(key, key))
c = Config()
def f(x):
    c.hidden += 1
    return x * c.n_embd
# change:
c.hidden = v

# case: __getattribute__ with an effect
log = []
class A:
    def __getattribute__(self, name):
        log.append(name)
        return object.__getattribute__(self, name)
o = A(); o.k = 2
def f(x): return x * o.k + len(log)
# change:
log.clear()

# case: __getattribute__ that computes
n = 2
class A:
    def __getattribute__(self, name): return n * len(name)
o = A()
def f(x): return x * o.abc
# change:
n = v

# case: __getattribute__ added to a class
class A: k = 2
o = A()
def f(x): return x * o.k
# change:
A.__getattribute__ = lambda self, name, v=v: v
# back:
del A.__getattribute__

# case: a getter that reads its __dict__ only
class A:
    def __init__(self): self.__dict__["k"] = 2
    def __getattr__(self, name): return self.__dict__["_" + name]
o = A(); o.__dict__["_j"] = 3
def f(x): return x * o.k + o.j
# change:
o.__dict__["_j"] = v

# case: a data descriptor
class D:
    def __get__(self, o, cls): return o.__dict__["_k"]
    def __set__(self, o, value): o.__dict__["_k"] = value
class A: k = D()
o = A(); o.k = 2
def f(x): return x * o.k
# change:
o.k = v

# case: a data descriptor that is written
class D:
    def __get__(self, o, cls): return o.__dict__["_k"]
    def __set__(self, o, value): o.__dict__["_k"] = value + 1
class A: k = D()
o = A(); o.k = 2
def f(x):
    o.k = o.k
    return x * o.k
# change:
o.k = v

# case: a descriptor with state of its own
class D:
    k = 2
    def __get__(self, o, cls): return self.k
class A: d = D()
o = A()
def f(x): return x * o.d
# change:
A.__dict__["d"].k = v

# case: a descriptor that counts
class D:
    n = 0
    def __get__(self, o, cls):
        self.n += 1
        return self.n
d = D()
class A: k = d
o = A()
def f(x): return x * o.k
# change:
d.n = v

# case: a descriptor with a name of its own
class Typed:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, o, cls): return getattr(o, self.name, 7)
    def __set__(self, o, value): setattr(o, self.name, int(value))
class A: k = Typed()
o = A()
def f(x): return x * o.k
# change:
o.k = v

# case: a descriptor of weak keys
class D:
    def __init__(self): self.values = weakref.WeakKeyDictionary()
    def __get__(self, o, cls): return self.values[o]
    def __set__(self, o, value): self.values[o] = value
class A: k = D()
o = A(); o.k = 2
def f(x): return x * o.k
# change:
o.k = v

# case: a descriptor read from the class
class D:
    def __get__(self, o, cls): return cls.n
class A: k, n = D(), 2
def f(x): return x * A.k
# change:
A.n = v

# case: a descriptor hidden by the object
class D:
    def __get__(self, o, cls): return 7
class A: k = D()
o = A()
def f(x): return x * o.k
# change:
o.__dict__["k"] = v
# back:
del o.__dict__["k"]

# case: a descriptor called by hand
class D:
    def __get__(self, o, cls): return o.n
class A: k = D()
o = A(); o.n = 2
def f(x): return x * A.__dict__["k"].__get__(o, A)
# change:
o.n = v

# case: a lazy attribute by a descriptor without __set__
class Lazy:
    def __init__(self, fn): self.fn = fn
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, o, cls):
        value = o.__dict__[self.name] = self.fn(o)
        return value
class A:
    n = 2
    @Lazy
    def k(self): return self.n + 1
o = A()
def f(x): return x * o.k
# change:
o.n = v
del o.k

# case: a bound method kept
class A:
    k = 2
    def m(self, x): return x * self.k
a = A()
m = a.m
def f(x): return m(x)
# change:
a.k = v

# case: a bound method kept, of another object
class A:
    def __init__(self, k): self.k = k
    def m(self, x): return x * self.k
m = A(2).m
def f(x): return m(x)
# change:
m = A(v).m

# case: __self__ of a bound method
class A:
    k = 2
    def m(self): pass
m = A().m
def f(x): return x * m.__self__.k
# change:
m.__self__.k = v

# case: attributes that are objects of the standard library
o = Box(d=datetime.timedelta(seconds=2))
def f(x): return x * o.d.total_seconds()
# change:
o.d = datetime.timedelta(seconds=v)

# case: an attribute of many objects in a list
layers = [Box(k=1), Box(k=2), Box(k=3)]
def f(x):
    for layer in layers: x = x * layer.k
    return x
# change:
layers[1].k = v

# case: attributes in an any
layers = [Box(on=False), Box(on=False)]
def f(x): return x * 2 if any(layer.on for layer in layers) else x
# change:
layers[1].on = not layers[1].on

# case: an attribute of an object from a function
pool = [Box(k=2)]
def get(): return pool[0]
def f(x): return x * get().k
# change:
get().k = v

# case: an attribute of what a property returns
class A:
    def __init__(self): self._inner = Box(k=2)
    @property
    def inner(self): return self._inner
a = A()
def f(x): return x * a.inner.k
# change:
a._inner = Box(k=v)

# case: a chain of getattr by a dotted string
o = Box(a=Box(b=Box(k=2)))
def f(x): return x * functools.reduce(getattr, "a.b.k".split("."), o)
# change:
o.a.b.k = v

# case: an attribute that is swapped between objects
o, p = Box(k=2), Box(k=3)
def f(x):
    o.k, p.k = p.k, o.k
    return x * o.k - p.k
# change:
o.k = v

# case: an attribute moved to another object
o, p = Box(cur=Box(k=2)), Box()
def f(x):
    p.cur, o.cur = o.cur, getattr(p, "cur", Box(k=5))
    return x * p.cur.k
# change:
o.cur.k = v

# case: an attribute with a private name
class A:
    def __init__(self): self.__k = 2
    def put(self, value): self.__k = value
    def get(self): return self.__k
a = A()
def f(x): return x * a.get()
# change:
a.put(v)

# case: an attribute whose name is no identifier
o = Box(); setattr(o, "a b", 2)
def f(x): return x * getattr(o, "a b")
# change:
setattr(o, "a b", v)

# case: a SimpleNamespace
o = types.SimpleNamespace(k=2)
def f(x): return x * o.k
# change:
o.k = v

# case: a subclass of SimpleNamespace
class S(types.SimpleNamespace): pass
o = S(k=2)
def f(x): return x * o.k
# change:
o.k = v

# case: a nested SimpleNamespace replaced
o = types.SimpleNamespace(a=types.SimpleNamespace(k=2))
def f(x): return x * o.a.k
# change:
o.a = types.SimpleNamespace(k=v)

# case: an argparse namespace
import argparse
o = argparse.Namespace(k=2)
def f(x): return x * o.k
# change:
o.k = v

# case: an attribute dict
class AttrDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
o = AttrDict(k=2)
def f(x):
    o.n = o.get("n", 0) + 1
    return x * o.k + o.n
# change:
o.k = v

# case: a nested attribute dict
class AttrDict(dict):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name)
o = AttrDict(a=AttrDict(k=2))
def f(x): return x * o.a.k * getattr(o, "b", 1)
# change:
o.a["k"] = v
