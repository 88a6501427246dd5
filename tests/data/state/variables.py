"""Globals, closures, defaults, and attributes of functions."""
# ruff: noqa
# fmt: off

# case: a global int
k = 2
def f(x): return x * k
# change:
k = v

# case: a global float
k = 2.0
def f(x): return x * k
# change:
k = v / 2

# case: a global bool that a branch asks for
k = True
def f(x): return x * 2 if k else x
# change:
k = not k

# case: a global string
k = "v2"
def f(x): return x * len(k) + (1 if k.endswith("3") else 0)
# change:
k = f"v{v}" * v

# case: a global of another type with an equal value
k = 2
def f(x): return x, k
# change:
k = {3: 2.0, 2: 2, 5: True}[v]

# case: a global zero with another sign
k = 0.0
def f(x): return x * math.copysign(1.0, k)
# change:
k = -k

# case: a global NaN
k = math.nan
def f(x): return x + (1 if k != k else 2)
# change:
k = 1.0
# back:
k = math.nan

# case: a global None
k = None
def f(x): return x if k is None else x * k
# change:
k = v
# back:
k = None

# case: a global complex
k = 2 + 1j
def f(x): return x * k.imag
# change:
k = 2 + v * 1j

# case: a global bytes
k = b"ab"
def f(x): return x * k[0]
# change:
k = bytes([v])

# case: a global range
k = range(2)
def f(x):
    for i in k: x = x + i
    return x
# change:
k = range(v)

# case: a global slice
k = slice(0, 1)
def f(x): return x[k]
# change:
k = slice(0, None) if v == 3 else slice(1, 2)

# case: a global tuple
k = (1, 2)
def f(x): return x * k[0] + k[1]
# change:
k = (1, v)

# case: a global that is deleted
k = 2
def f(x):
    try: return x * k
    except NameError: return x
# change:
del k
# back:
k = 2

# case: a global that is missing at first
def f(x):
    try: return x * k
    except NameError: return x
# change:
k = v
# back:
del k

# case: a global that hides a builtin
def f(x): return x * abs(-2)
# change:
def abs(y): return v
# back:
del abs

# case: a name in globals()
k = 2
def f(x): return x * globals()["k"]
# change:
k = v

# case: a name asked for in globals()
def f(x): return x * 2 if "k" in globals() else x
# change:
k = v
# back:
del k

# case: globals().get with a default
def f(x): return x * globals().get("k", 7)
# change:
k = v
# back:
del k

# case: globals() with a computed name
k2 = k3 = 2
names = ["k2", "k3"]
def f(x): return sum([x * globals()[n] for n in names])
# change:
k3 = v

# case: globals() written
def f(x):
    globals()["n"] = globals().get("n", 0) + 1
    return x * n
# change:
n = v

# case: a global written and read
n = 0
def f(x):
    global n
    n += 1
    return x * n
# change:
n = v

# case: a global written only
n = 0
def f(x):
    global n
    n = 7
    return x
# change:
n = v

# case: a global deleted by the function
n = 1
def f(x):
    global n
    y = x * n
    del n
    n = 4
    return y
# change:
n = v

# case: a function of globals that another function reads
k = 2
def g(): return k
def h(): return g() + 1
def f(x): return x * h()
# change:
k = v

# case: a global function replaced
def g(x): return x * 2
def f(x): return g(x)
# change:
def g(x, v=v): return x * v

# case: a global lambda replaced
g = lambda x: x + 1
def f(x): return g(x)
# change:
g = [lambda x: x + 2, lambda x: x - 1][v % 2]

# case: a global class replaced
class A: k = 2
def f(x): return x * A.k
# change:
class A: k = v

# case: a closure
def make():
    k = 2
    def f(x): return x * k
    def put(value):
        nonlocal k
        k = value
    return f, put
f, put = make()
# change:
put(v)

# case: a closure of a closure
def make():
    k = 2
    def put(value):
        nonlocal k
        k = value
    def g():
        def h(): return k
        return h()
    def f(x): return x * g()
    return f, put
f, put = make()
# change:
put(v)

# case: a cell that is emptied
def make():
    k = 2
    def drop():
        nonlocal k
        del k
    def put(value):
        nonlocal k
        k = value
    def f(x):
        try: return x * k
        except NameError: return x
    return f, put, drop
f, put, drop = make()
# change:
drop()
# back:
put(4)
# look: [c.cell_contents for c in f.__closure__[:0]]

# case: a nonlocal count
def make():
    n = 0
    def f(x):
        nonlocal n
        n += 1
        return x * n
    def put(value):
        nonlocal n
        n = value
    return f, put
f, put = make()
# change:
put(v * 10)

# case: a nonlocal that is written only
def make():
    n = 0
    def f(x):
        nonlocal n
        n = 1
        return x
    def put(value):
        nonlocal n
        n = value
    return f, put
f, put = make()
# change:
put(v)

# case: a nonlocal string that alternates
def make():
    w = "a"
    def f(x):
        nonlocal w
        w = "b" if w == "a" else "a"
        return x * (2 if w == "a" else 3)
    return f
f = make()
# change:
pass

# case: cell_contents assigned from outside
def make(k):
    def f(x): return x * k
    return f
f = make(2)
# change:
f.__closure__[0].cell_contents = v

# case: a cell shared by two functions
def make():
    k = 2
    def a(x): return x * k
    def b():
        nonlocal k
        k += 1
    return a, b
a, b = make()
def f(x):
    b()
    return a(x)
# change:
b()

# case: a closure made inside over a global
k = 2
def f(x):
    def g(y): return y * k
    return g(x)
# change:
k = v

# case: a closure that a function returns, called outside
made = []
def f(x):
    n = len(made)
    def g(): return n
    made.append(g())
    return x + n
# change:
made.append(9)

# case: a list in a closure
def make():
    ks = [2]
    def f(x): return x * ks[0]
    return f, ks
f, ks = make()
# change:
ks[0] = v

# case: a class variable read through a closure
def make():
    class A: k = 2
    def f(x): return x * A.k
    return f, A
f, A = make()
# change:
A.k = v

# case: a default
def f(x, k=2): return x * k
# change:
f.__defaults__ = (v,)

# case: a default of a function that is called
def g(x, k=2): return x * k
def f(x): return g(x)
# change:
g.__defaults__ = (v,)

# case: a default that is a list, changed
def f(x, ks=[2]): return x * ks[0]
# change:
f.__defaults__[0][0] = v

# case: a default that is a list, appended to
def f(x, ks=[]):
    ks.append(1)
    return x * len(ks)
# change:
f.__defaults__[0].append(1)

# case: a default dict that is a cache
def g(n, seen={}):
    if n not in seen: seen[n] = len(seen) + n
    return seen[n]
def f(x): return x * g(3)
# change:
g.__defaults__[0][3] = v

# case: a keyword default
def f(x, *, k=2): return x * k
# change:
f.__kwdefaults__["k"] = v

# case: keyword defaults replaced
def g(x, *, k=2): return x * k
def f(x): return g(x)
# change:
g.__kwdefaults__ = {"k": v}

# case: a default that is added
def g(x, *ks): return x * (ks[0] if ks else 1)
def h(x, k): return x * k
def f(x):
    try: return h(x)
    except TypeError: return x
# change:
h.__defaults__ = (v,)
# back:
h.__defaults__ = None

# case: a default object's attribute
class Config: k = 2
config = Config()
def f(x, c=config): return x * c.k
# change:
config.k = v

# case: a default of a lambda
g = lambda x, k=2: x * k
def f(x): return g(x)
# change:
g.__defaults__ = (v,)

# case: a default of a method
class A:
    def m(self, x, k=2): return x * k
a = A()
def f(x): return a.m(x)
# change:
A.m.__defaults__ = (v,)

# case: the code of a function replaced
def g(x): return x * 2
def h(x): return x * 3
def f(x): return g(x)
# change:
g.__code__, h.__code__ = h.__code__, g.__code__

# case: the code of the function itself replaced
def f(x): return x * 2
def h(x): return x * 3
# change:
f.__code__, h.__code__ = h.__code__, f.__code__

# case: an attribute of a function
def g(): return g.k
g.k = 2
def f(x): return x * g()
# change:
g.k = v

# case: an attribute of the function itself
def f(x): return x * f.k
f.k = 2
# change:
f.k = v

# case: a count on the function itself
def f(x):
    f.n += 1
    return x * f.n
f.n = 0
# change:
f.n = v * 10

# case: an attribute of a function that is added
def g(): pass
def f(x): return x * getattr(g, "k", 7)
# change:
g.k = v
# back:
del g.k

# case: the name of a function
def g(): pass
def f(x): return x * len(g.__name__)
# change:
g.__name__ = "g" * v

# case: the doc of a function
def g(): "ab"
def f(x): return x * len(g.__doc__)
# change:
g.__doc__ = "a" * v

# case: annotations of a function
def g(a: int): pass
def f(x): return x * len(g.__annotations__)
# change:
g.__annotations__[f"b{v}"] = int

# case: the defaults of a function are read
def g(a=2): pass
def f(x): return x * g.__defaults__[0]
# change:
g.__defaults__ = (v,)

# case: inspect.signature of a function
def g(a=2): pass
def f(x): return x * inspect.signature(g).parameters["a"].default
# change:
g.__defaults__ = (v,)

# case: __wrapped__ of a decorated function
def deco(fn):
    @functools.wraps(fn)
    def wrapper(x): return fn(x) + 1
    return wrapper
@deco
def g(x): return x * 2
def f(x): return g.__wrapped__(x)
# change:
g.__wrapped__ = [lambda x: x * 3, lambda x: x * 4][v % 2]

# case: a decorator with a count
def counted(fn):
    @functools.wraps(fn)
    def wrapper(x):
        wrapper.calls += 1
        return fn(x) * wrapper.calls
    wrapper.calls = 0
    return wrapper
@counted
def f(x): return x + 1
# change:
f.calls = v * 10

# case: a decorator that is a class
class Counted:
    def __init__(self, fn): self.fn, self.n, self.k = fn, 0, 2
    def __call__(self, x):
        self.n += 1
        return self.fn(x) * self.k
@Counted
def g(x): return x + 1
def f(x): return g(x)
# change:
g.k = v

# case: a decorator that switches off
enabled = True
def maybe(fn):
    def wrapper(x): return fn(x) if enabled else x
    return wrapper
@maybe
def f(x): return x * 2
# change:
enabled = not enabled

# case: a dispatch table
table = {"a": lambda x: x * 2, "b": lambda x: x * 3}
mode = "a"
def f(x): return table[mode](x)
# change:
table["a"] = [lambda x: x * 4, lambda x: x * 5][v % 2]

# case: the key of a dispatch table
table = {"a": lambda x: x * 2, "b": lambda x: x * 3}
mode = "a"
def f(x): return table[mode](x)
# change:
mode = "b" if mode == "a" else "a"

# case: a list of functions
steps = [lambda x: x + 1]
def f(x):
    for step in steps: x = step(x)
    return x
# change:
steps.append(lambda x, v=v: x * v)
# back:
steps.pop()

# case: functions sorted by an attribute
def a(x): return x + 1
def b(x): return x * 2
a.order, b.order = 1, 2
steps = [a, b]
def f(x):
    for step in sorted(steps, key=lambda s: s.order): x = step(x)
    return x
# change:
a.order = v
# back:
a.order = 1

# case: a registry filled by a decorator
registry = {}
def register(name):
    def deco(fn):
        registry[name] = fn
        return fn
    return deco
@register("double")
def g(x): return x * 2
def f(x): return registry["double"](x)
# change:
register("double")([lambda x: x * 3, lambda x: x * 4][v % 2])

# case: a registry that is asked for a name
registry = {}
def f(x): return registry["extra"](x) if "extra" in registry else x
# change:
registry["extra"] = lambda x: x * 7
# back:
registry.clear()

# case: a recursive function with a global depth
depth = 2
def g(x, n): return x if n == 0 else g(x + 1, n - 1)
def f(x): return g(x, depth)
# change:
depth = v

# case: a callable object with state
class Scale:
    def __init__(self, k): self.k = k
    def __call__(self, x): return x * self.k
scale = Scale(2)
def f(x): return scale(x)
# change:
scale.k = v

# case: a compiled method bound to an object
class Model:
    k = 2
    def forward(self, x): return x * self.k
model = Model()
f = model.forward
# change:
model.k = v

# case: a compiled callable object
class Model:
    k = 2
    def __call__(self, x): return x * self.k
f = model = Model()
# change:
model.k = v

# case: a compiled partial
def g(k, x): return x * k[0]
ks = [2]
f = functools.partial(g, ks)
# change:
ks[0] = v

# case: a compiled lambda
k = 2
f = lambda x: x * k
# change:
k = v

# case: a compiled static method
class A:
    k = 2
    @staticmethod
    def m(x): return x * A.k
f = A.m
# change:
A.k = v

# case: a compiled class method
class A:
    k = 2
    @classmethod
    def m(cls, x): return x * cls.k
f = A.m
# change:
A.k = v

# case: a name imported by a star from a user's dict
space = {"k": 2}
exec("def g(x): return x * k", space)
g = space["g"]
def f(x): return g(x)
# change:
space["k"] = v

# case: a global that is an alias of a list
a = [2]
b = a
def f(x): return x * b[0]
# change:
a[0] = v

# case: a global list replaced by an equal one, then changed
a = [2]
def f(x): return x * a[0]
# change:
a = list(a)
a[0] = v

# case: two globals swapped
a, b = 2, 7
def f(x): return x * a + b
# change:
a, b = b, a

# case: a conditional read of a global
which, a, b = 0, 2, 7
def f(x): return x * (a if which == 0 else b)
# change:
which, b = 1, v
# back:
which = 0

# case: a global that only a later branch reads
n, k = 0, 2
def f(x):
    global n
    n += 1
    return x * k if n > 3 else x
# change:
k = v

# case: a walrus in a comprehension
k = 2
def f(x):
    ys = [(last := x * i * k) for i in range(3)]
    return last + ys[0]
# change:
k = v

# case: a global in an f-string
k = 2
def f(x): return x, f"{k:03d}"
# change:
k = v

# case: a large int
k = 2**70
def f(x): return x, k + 1
# change:
k = 2**70 + v

# case: a float that changes often
k = 0.1
def f(x): return x * k, k * 3
# change:
k += 0.1 * v
