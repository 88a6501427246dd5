"""State that is reached from arguments: objects, containers, keywords, and what they share with what is captured."""
# ruff: noqa
# fmt: off

# case: an object
o = Box(k=2)
args = (x, o)
def f(x, o): return x * o.k
# change:
o.k = v

# case: another object of the class
args = (x, Box(k=2))
def f(x, o): return x * o.k
# change:
args = (x, Box(k=v))

# case: an object of another class
class A: k = 2
class B: k = 3
args = (x, A())
def f(x, o): return x * o.k
# change:
args = (x, B() if v == 3 else A())

# case: a list
l = [1, 2]
args = (x, l)
def f(x, l): return x * l[1]
# change:
l[1] = v

# case: a list that is appended to
l = [1]
args = (x, l)
def f(x, l):
    l.append(len(l))
    return x * len(l)
# change:
l.clear()

# case: a list of objects
l = [Box(k=1), Box(k=2)]
args = (x, l)
def f(x, l): return x * sum(o.k for o in l)
# change:
l[1].k = v

# case: a dict with an object in a list
d = {"a": [Box(k=2)]}
args = (x, d)
def f(x, d): return x * d["a"][0].k
# change:
d["a"][0].k = v

# case: a dict that is written
d = {"n": 0}
args = (x, d)
def f(x, d):
    d["n"] += 1
    return x * d["n"]
# change:
d["n"] = v

# case: a dict in another order
d = {"a": 1, "b": 2}
args = (x, d)
def f(x, d):
    for key, value in d.items(): x = x * 2 + value
    return x
# change:
d["a"] = d.pop("a")

# case: an int
args = (x, 2)
def f(x, k): return x * k if k > 2 else x + k
# change:
args = (x, v)

# case: a float that is asked for its type
args = (x, 2.0)
def f(x, k): return (x * k if isinstance(k, float) else x), k
# change:
args = (x, v if v == 3 else float(v))

# case: a bool
args = (x, True)
def f(x, on): return x * 2 if on else x
# change:
args = (x, not args[1])

# case: a string
args = (x, "ab")
def f(x, s): return x * len(s)
# change:
args = (x, "a" * v)

# case: None
args = (x, None)
def f(x, k=None): return x if k is None else x * k
# change:
args = (x, v)
# back:
args = (x, None)

# case: a function
args = (x, lambda x: x * 2)
def f(x, g): return g(x)
# change:
args = (x, lambda x, v=v: x * v)

# case: a function whose closure changes
def make():
    k = [2]
    return (lambda x: x * k[0]), k
g, k = make()
args = (x, g)
def f(x, g): return g(x)
# change:
k[0] = v

# case: a class
class A: k = 2
args = (x, A)
def f(x, cls): return x * cls().k
# change:
A.k = v

# case: a module
m = types.ModuleType("state_m"); m.k = 2
args = (x, m)
def f(x, m): return x * m.k
# change:
m.k = v

# case: an argument that is also a global
o = Box(k=2)
args = (x, o)
def f(x, p):
    o.k += 1
    return x * p.k
# change:
o = Box(k=v)

# case: an argument that is compared with a global
a, b = Box(), Box()
args = (x, a)
def f(x, o): return x * 2 if o is a else x
# change:
args = (x, b if args[1] is a else a)

# case: two arguments that may be one
a, b = Box(n=0), Box(n=0)
args = (x, a, a)
def f(x, p, q):
    p.n += 1
    q.n += 10
    return x * p.n
# change:
args = (x, a, b if args[2] is a else a)

# case: an argument kept in a global
kept = None
args = (x, Box(k=2))
def f(x, o):
    global kept
    kept = o
    return x * kept.k
# change:
args = (x, Box(k=v))

# case: an argument in a global list
seen = []
args = (x, Box(k=2))
def f(x, o):
    if o not in seen: seen.append(o)
    return x * len(seen)
# change:
args = (x, Box(k=v))

# case: keywords
kwargs = {"k": 2}
def f(x, k=1, j=1): return x * k + j
# change:
kwargs = {"j": v, "k": 2} if v == 3 else {"k": v}

# case: keywords in a dict, by order
kwargs = {"a": 1, "b": 2}
def f(x, **options):
    for value in options.values(): x = x * 2 + value
    return x
# change:
kwargs = dict(reversed(kwargs.items()))

# case: more positional arguments
args = (x, 1, 2)
def f(x, *ks): return x * sum(ks)
# change:
args = (x, *([1] * v))

# case: a dataclass of tensors and numbers
@dataclasses.dataclass
class Batch: w: ja.Tensor; k: int; name: str = "a"
b = Batch(ja.ones(2), 2)
args = (x, b)
def f(x, b): return x * b.w * b.k + len(b.name)
# change:
b.k, b.name = v, "a" * v

# case: a namedtuple with an object
P = collections.namedtuple("P", "o k")
o = Box(k=2)
args = (x, P(o, 2))
def f(x, p): return x * p.o.k * p.k
# change:
o.k = v

# case: an attribute set on an argument
o = Box()
args = (x, o)
def f(x, o):
    o.last = x * 2
    o.n = getattr(o, "n", 0) + 1
    return x * o.n
# change:
o.n = v

# case: another argument with a history of its own
a, b = Box(n=0), Box(n=5)
args = (x, a)
def f(x, o):
    o.n += 1
    return x * o.n
# change:
args = (x, b if args[1] is a else a)

# case: the same tensor twice
w = ja.ones(2)
args = (x, w, w)
def f(x, a, b): return x * 2 if a is b else x
# change:
args = (x, w, w.clone() if args[2] is w else w)

# case: a generator as an argument
args = (x, (k for k in [1, 2, 3]))
def f(x, items): return x * sum(items)
# change:
args = (x, (k for k in [1, v]))

# case: an iterator as an argument, read in part
it = iter([1, 2, 3, 4, 5, 6, 7, 8, 9])
args = (x, it)
def f(x, it): return x * next(it)
# change:
it = iter([v] * 9)
args = (x, it)

# case: a set as an argument
s = {1, 2}
args = (x, s)
def f(x, s): return x * len(s)
# change:
s.add(v)

# case: an object whose method reads a global
k = 2
class A:
    def m(self, x): return x * k
args = (x, A())
def f(x, a): return a.m(x)
# change:
k = v
