"""What is not read may change: the programs that were made are used, and no new one is made."""
# ruff: noqa
# fmt: off

# case: an unread attribute of a touched object
o = Box(k=2, j=2)
def f(x): return x * o.k
# change:
o.j = v

# case: an attribute added to a touched object
o = Box(k=2)
def f(x): return x * o.k
# change:
setattr(o, f"j{v}", v)

# case: an attribute deleted from a touched object
o = Box(k=2, j3=1, j2=1, j5=1)
def f(x): return x * o.k
# change:
delattr(o, f"j{v}")

# case: an unread attribute of another type at each time
o = Box(k=2, j=None)
def f(x): return x * o.k
# change:
o.j = {3: "a", 2: ja.ones(2), 5: [1]}[v]

# case: an unread attribute deep down
o = Box(a=Box(b=Box(k=2, j=2), j=2), j=2)
def f(x): return x * o.a.b.k
# change:
o.a.b.j = o.a.j = o.j = v

# case: a list in an unread attribute
o = Box(k=2, log=[])
def f(x): return x * o.k
# change:
o.log.append(v)

# case: an unread attribute of an argument
o = Box(k=2, j=2)
args = (x, o)
def f(x, o): return x * o.k
# change:
o.j = v

# case: an unread attribute of an object with slots
class A: __slots__ = ("k", "j")
o = A(); o.k = o.j = 2
def f(x): return x * o.k
# change:
o.j = v

# case: an unread global
j = 2
k = 2
def f(x): return x * k
# change:
j = v

# case: a new global
k = 2
def f(x): return x * k
# change:
globals()[f"j{v}"] = v

# case: a global that only another function reads
k, j = 2, 2
def g(x): return x * j
def f(x): return x * k
# change:
j = v

# case: a global that an untaken branch reads
k, j, on = 2, 2, False
def f(x): return x * j if on else x * k
# change:
j = v

# case: a global that stands in code after a return
k, j, on = 2, 2, True
def f(x):
    if on: return x * k
    return x * j
# change:
j = v

# case: an attribute that an untaken branch reads
o = Box(k=2, j=2, on=False)
def f(x): return x * o.j if o.on else x * o.k
# change:
o.j = v

# case: an attribute of an object that an untaken branch touches
o, p = Box(on=False, k=2), Box(j=2)
def f(x): return x * p.j if o.on else x * o.k
# change:
p.j = v

# case: a method that is not called
class A:
    k = 2
    def m(self, x): return x * self.k
    def n(self, x): return x
a = A()
def f(x): return a.m(x)
# change:
A.n = lambda self, x, v=v: x * v

# case: an unread class attribute
class A: k, j = 2, 2
a = A()
def f(x): return x * a.k
# change:
A.j = v

# case: a class attribute of a base that is overridden
class A: k = 2
class B(A): k = 7
b = B()
def f(x): return x * b.k
# change:
A.k = v

# case: a class attribute that the object hides
class A: k = 2
a = A()
a.k = 7
def f(x): return x * a.k
# change:
A.k = v

# case: a class attribute added
class A: k = 2
a = A()
def f(x): return x * a.k
# change:
setattr(A, f"j{v}", v)

# case: an unread attribute of a metaclass
class M(type): j = 2
class A(metaclass=M): k = 2
def f(x): return x * A.k
# change:
M.j = v

# case: a new subclass
class A: k = 2
a = A()
kept = []
def f(x): return x * a.k
# change:
kept.append(type(f"B{v}", (A,), {}))

# case: a new object of a class
class A: k = 2
a = A()
kept = []
def f(x): return x * a.k
# change:
kept.append(A())

# case: an attribute that is set and never read
o = Box(last=None)
def f(x):
    o.last = 7
    return x * 2
# change:
o.last = v

# case: an attribute that is set to a tensor and never read
o = Box(last=None)
def f(x):
    o.last = x * 3
    return x * 2
# change:
o.last = v

# case: an attribute that is set before it is read
o = Box(tmp=0)
def f(x):
    o.tmp = 7
    return x * o.tmp
# change:
o.tmp = v

# case: an attribute that is set and deleted
o = Box()
def f(x):
    o.tmp = 7
    y = x * o.tmp
    del o.tmp
    return y
# change:
o.j = v

# case: a global that is set and never read
last = None
def f(x):
    global last
    last = 7
    return x * 2
# change:
last = v

# case: a global that is set before it is read
tmp = 0
def f(x):
    global tmp
    tmp = 7
    return x * tmp
# change:
tmp = v

# case: a nonlocal that is set and never read
def make():
    last = None
    def f(x):
        nonlocal last
        last = 7
        return x * 2
    def put(value):
        nonlocal last
        last = value
    return f, put
f, put = make()
# change:
put(v)

# case: a list that is only appended to
l = []
def f(x):
    l.append(1)
    return x * 2
# change:
l.append(v)

# case: a list that is only appended to, cleared
l = []
def f(x):
    l.append(1)
    return x * 2
# change:
l.clear()

# case: a list of an object that is only appended to
o = Box(log=[], k=2)
def f(x):
    o.log.append(o.k)
    return x * 2
# change:
o.log.append(v)

# case: a list of tensors that is only appended to
l = []
def f(x):
    y = x * 2
    l.append(y)
    return y
# change:
l.clear()

# case: an item of a dict that is set and never read
d = {"k": 2}
def f(x):
    d["last"] = 7
    return x * 2
# change:
d["last"] = v

# case: an unread attribute of objects in a dict
d = {i: Box(k=1, j=1) for i in range(100)}
def f(x): return x * d[7].k
# change:
d[7].j = d[8].j = v

# case: an attribute of another object in a big dict
d = {i: Box(k=1) for i in range(100)}
def f(x): return x * d[7].k
# change:
d[8].k = v

# case: what a list in a big dict holds, beside the one that is read
d = {i: [1] for i in range(100)}
def f(x): return x * d[7][0]
# change:
d[8][0] = v

# case: an attribute of another object in a list
l = [Box(k=1) for _ in range(10)]
def f(x): return x * l[7].k
# change:
l[8].k = v

# case: an entry of a registry of functions that is not called
table = {"a": lambda x: x * 2, "b": lambda x: x * 3}
def f(x): return table["a"](x)
# change:
table["b"].note = v

# case: a config in a registry of 500 lazy entries
class Lazy:
    def __init__(self, n): self.n, self.made = n, None
    def get(self):
        if self.made is None: self.made = Box(k=self.n)
        return self.made
registry = {f"m{i}": Lazy(i) for i in range(500)}
registry["m7"].get()
def f(x): return x * registry["m7"].get().k
# change:
registry[f"m{v}"].get().k = 9

# case: the values of a tensor
w = ja.ones(2)
def f(x): return x * w
# change:
w.mul_(v)

# case: another tensor of the same type
o = Box(w=ja.ones(2))
def f(x): return x * o.w
# change:
o.w = ja.ones(2) * v

# case: an attribute of the user's on a tensor
w = ja.ones(2)
w.note = 2
def f(x): return x * w
# change:
w.note = v

# case: _version of a tensor that nobody asks for
w = ja.ones(2)
def f(x): return x * w.sum()
# change:
w.add_(1)

# case: an equal object in the place of another
o = Box(c=Box(k=2))
def f(x): return x * o.c.k
# change:
o.c = Box(k=2)

# case: an equal list in the place of another
o = Box(l=[1, 2])
def f(x): return x * o.l[1]
# change:
o.l = [1, 2]

# case: an equal dict in the place of another
d = {"k": 2}
def f(x): return x * d["k"]
# change:
d = {"k": 2}

# case: an equal function in the place of another
def make(): return lambda x: x * 2
g = make()
def f(x): return g(x)
# change:
g = make()

# case: an equal closure in the place of another
def make(k):
    def g(x): return x * k
    return g
g = make(2)
def f(x): return g(x)
# change:
g = make(2)

# case: an equal partial in the place of another
def g(x, k): return x * k
p = functools.partial(g, k=2)
def f(x): return p(x)
# change:
p = functools.partial(g, k=2)

# case: an equal string in the place of another
s = "".join(["a", "b"])
def f(x): return x * len(s)
# change:
s = "".join(["a", "b"])

# case: an attribute on the object that hides one of the class and has the same value
class A: k = 2
a = A()
def f(x): return x * a.k
# change:
a.k = 2

# case: the doc and the name of a function that is called
def g(x): return x * 2
def f(x): return g(x)
# change:
g.__doc__, g.note = str(v), v

# case: an attribute of a function that is called
def g(x): return x * g.k
g.k = g.j = 2
def f(x): return g(x)
# change:
g.j = v

# case: a default that the call gives
def g(x, k=2): return x * k
def f(x): return g(x, 3)
# change:
g.note = v

# case: an unread attribute of a module
m = types.ModuleType("state_m"); m.k = m.j = 2
def f(x): return x * m.k
# change:
m.j = v

# case: a global of a module that its function does not read
m = types.ModuleType("state_m")
exec("k = j = 2\ndef g(x): return x * k", vars(m))
def f(x): return m.g(x)
# change:
m.j = v

# case: a new module in sys.modules
k = 2
def f(x): return x * k
# change:
sys.modules["state_m"] = types.ModuleType("state_m")
# after:
sys.modules.pop("state_m", None)

# case: another variable of the environment
os.environ["STATE_A"] = "2"
def f(x): return x * int(os.environ["STATE_A"])
# change:
os.environ["STATE_B"] = str(v)
# after:
os.environ.pop("STATE_A", None), os.environ.pop("STATE_B", None)

# case: another name patched in math
_cos = math.cos
def f(x): return x * math.floor(2.5)
# change:
math.cos = lambda y: v
# after:
math.cos = _cos

# case: another method patched on Tensor
_cos = ja.Tensor.cos
def f(x): return x.sin()
# change:
ja.Tensor.cos = lambda self: self
# after:
ja.Tensor.cos = _cos

# case: another name added to builtins
k = 2
def f(x): return x * k + abs(-1)
# change:
builtins.state_j = v
# after:
vars(builtins).pop("state_j", None)

# case: the level of another logger
_logger = logging.getLogger("state_a")
k = 2
def f(x): return x * k
# change:
logging.getLogger("state_b").setLevel(v)
# after:
logging.getLogger("state_b").setLevel(logging.NOTSET)

# case: another context variable
a, b = contextvars.ContextVar("a", default=2), contextvars.ContextVar("b", default=2)
def f(x): return x * a.get()
# change:
b.set(v)

# case: a cache that is filled for other keys
@functools.lru_cache
def g(n): return n + 1
def f(x): return x * g(1)
# change:
g(v * 100)

# case: an entry of a cache of the user's for another key
class Cache:
    def __init__(self): self.entries = {}
    def get(self, n):
        if n not in self.entries: self.entries[n] = Box(k=n)
        return self.entries[n]
cache = Cache()
cache.get(7), cache.get(8)
def f(x): return x * cache.get(7).k
# change:
cache.get(8).k = v

# case: an unread field of a dataclass
@dataclasses.dataclass
class C: k: int = 2; j: int = 2
c = C()
def f(x): return x * c.k
# change:
c.j = v

# case: an unread attribute behind a property
class A:
    def __init__(self): self._k, self._j = 2, 2
    @property
    def k(self): return self._k
    @property
    def j(self): return self._j
a = A()
def f(x): return x * a.k
# change:
a._j = v

# case: an unread name behind __getattr__
class A:
    def __init__(self): self.d = {"k": Box(n=2), "j": Box(n=2)}
    def __getattr__(self, name): return self.d[name]
a = A()
def f(x): return x * a.k.n
# change:
a.j.n = v

# case: an unread attribute behind a wrapper
class Wrapper:
    def __init__(self, inner): self.inner = inner
    def __getattr__(self, name): return getattr(self.__dict__["inner"], name)
o = Wrapper(Box(k=2, j=2))
def f(x): return x * o.k
# change:
o.inner.j = v

# case: an unread attribute of a module of jaxaot
m = nn.Linear(2, 2)
def f(x): return m(x)
# change:
m.note = v

# case: a part of a module that is not called
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Identity(), nn.Dropout(0.5)
    def forward(self, x): return self.a(x) * 2
m = M()
def f(x): return m(x)
# change:
m.b.p = v / 10

# case: a parameter of a part that is not called
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Identity(), nn.Linear(2, 2)
    def forward(self, x): return self.a(x) * 2
m = M()
def f(x): return m(x)
# change:
m.b.weight = nn.Parameter(ja.ones(2, v))

# case: the learning rate of an optimizer
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
opt.param_groups[0]["lr"] = v / 4

# case: a note in a group of an optimizer
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
opt.note = v

# case: a parent of an object that is read
root = Box(name="root", parts=[])
o = Box(k=2, parent=root)
root.parts.append(o)
def f(x): return x * o.k
# change:
root.name, root.extra = str(v), v

# case: another key of an attribute's cache that grows
o = Box(k=2, cache={})
def f(x): return x * o.k
# change:
o.cache[v] = v

# case: a count that the function makes
o = Box(n=0)
def f(x):
    o.n += 1
    return x * 2
# change:
o.n = v

# case: a count that scales
o = Box(n=0)
def f(x):
    o.n += 1
    return x * o.n
# change:
o.n = v

# case: garbage
def f(x): return x * k
k = 2
# change:
import gc; gc.collect()
