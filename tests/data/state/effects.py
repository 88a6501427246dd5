"""What functions do to Python's objects: counts, logs, best scores, meters, exceptions, what happens at last."""
# ruff: noqa
# fmt: off

# case: a count on an object
class A:
    n = 0
    def step(self, x):
        self.n += 1
        return x * self.n
a = A()
def f(x): return a.step(x)
# change:
a.n = v

# case: a count that nothing reads
o = Box(n=0)
def f(x):
    o.n += 1
    return x + 1
# change:
o.n = v

# case: every third call
o = Box(n=0)
def f(x):
    o.n += 1
    return x * 10 if o.n % 3 == 0 else x + 1
# change:
o.n = v

# case: a warm-up schedule
o = Box(n=0, warm=3)
def f(x):
    o.n += 1
    return x * min(1.0, o.n / o.warm)
# change:
o.warm = v

# case: a decay
o = Box(rate=1.0)
def f(x):
    o.rate *= 0.5
    return x * o.rate
# change:
o.rate = float(v)

# case: a best score
o = Box(best=0.0, score=1.0, at=0, n=0)
def f(x):
    o.n += 1
    if o.score > o.best: o.best, o.at = o.score, o.n
    return x * o.best
# change:
o.score = float(v)

# case: patience
o = Box(best=9.0, bad=0, loss=5.0)
def f(x):
    if o.loss < o.best: o.best, o.bad = o.loss, 0
    else: o.bad += 1
    return x * o.bad, o.bad > 1
# change:
o.loss = float(v)

# case: an average meter
class Meter:
    def __init__(self): self.total, self.n = 0.0, 0
    def update(self, value): self.total += value; self.n += 1
    @property
    def mean(self): return self.total / max(self.n, 1)
meter = Meter()
def f(x):
    meter.update(2.0)
    return x * meter.mean
# change:
meter.total = float(v)

# case: a meter of tensors
class Meter:
    def __init__(self): self.total, self.n = ja.zeros(2), 0
    def update(self, value): self.total = self.total + value; self.n += 1
meter = Meter()
def f(x):
    meter.update(x * 2)
    return meter.total / meter.n
# change:
meter.n = v

# case: a running average in a closure
def make():
    mean = 0.0
    def f(x):
        nonlocal mean
        mean = mean * 0.5 + 1.0
        return x * mean
    return f
f = make()
# change:
pass

# case: a log of dicts
log = []
o = Box(n=0)
def f(x):
    o.n += 1
    log.append({"step": o.n, "tags": ["a"]})
    return x * 2
# change:
log.clear()

# case: a log of tensors
log = []
def f(x):
    y = x * 2
    log.append(y)
    return y + 1
# change:
log.clear()

# case: a history of the last three
from collections import deque
last = deque(maxlen=3)
o = Box(k=2)
def f(x):
    last.append(o.k)
    return x * sum(last)
# change:
o.k = v

# case: a trace of names
names = []
def traced(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        names.append(fn.__name__)
        return fn(*args)
    return wrapper
@traced
def g(x): return x * 2
@traced
def f(x): return g(x) + 1
# change:
names.clear()

# case: a stack that is pushed and popped
stack, deepest = [], [0]
def g(x, n):
    stack.append(n)
    deepest[0] = max(deepest[0], len(stack))
    try: return x if n == 0 else g(x * 2, n - 1)
    finally: stack.pop()
def f(x): return g(x, o.depth)
o = Box(depth=2)
# change:
o.depth = v

# case: an event bus
class Bus:
    def __init__(self): self.handlers = {}
    def on(self, name, fn): self.handlers.setdefault(name, []).append(fn)
    def emit(self, name, *args): return [fn(*args) for fn in self.handlers.get(name, [])]
bus, seen = Bus(), []
bus.on("a", seen.append)
def f(x):
    bus.emit("a", 1)
    return x * len(seen)
# change:
bus.on("a", lambda k, v=v: seen.append(v))

# case: callbacks in a list of objects
class Count:
    n = 0
    def on_step(self): self.n += 1
callbacks = [Count(), Count()]
def f(x):
    for c in callbacks: c.on_step()
    return x * 2
# change:
callbacks.append(Count())

# case: an exception caught with a value
o = Box(k=2)
def g():
    if o.k > 2: raise ValueError("big", o.k)
    return 1
def f(x):
    try: return x * g()
    except ValueError as error: return x * error.args[1]
# change:
o.k = v

# case: an exception kept
errors = []
o = Box(k=2)
def f(x):
    try: 1 / (o.k - 2)
    except ZeroDivisionError as error: errors.append(str(error))
    return x * len(errors)
# change:
o.k = v

# case: a KeyError of a dict
d = {}
def f(x):
    try: return x * d["k"]
    except KeyError as error: return x, error.args[0]
# change:
d["k"] = v
# back:
d.clear()

# case: a LookupError of a list
l = [1]
def f(x):
    try: return x * l[1]
    except LookupError: return x
# change:
l.append(v)
# back:
l.pop()

# case: an exception that the function raises
o = Box(k=2, n=0)
def f(x):
    o.n += 1
    if o.k == 3: raise RuntimeError("three")
    return x * 2
# change:
o.k = v

# case: an exception class of the user's with attributes
class Stop(Exception):
    def __init__(self, k): super().__init__(k); self.k = k
o = Box(k=2)
def g(): raise Stop(o.k)
def f(x):
    try: g()
    except Stop as stop: return x * stop.k
# change:
o.k = v

# case: raise from
log = []
def f(x):
    try:
        try: {}["a"]
        except KeyError as error: raise ValueError("b") from error
    except ValueError as error: log.append((str(error), type(error.__cause__).__name__))
    return x * 2
# change:
log.clear()

# case: an assertion
o = Box(k=2)
def f(x):
    assert o.k != 3, f"k is {o.k}"
    return x * 2
# change:
o.k = v

# case: an assertion that is caught
o = Box(k=2)
def f(x):
    try: assert o.k < 3
    except AssertionError: return x * 9
    return x * 2
# change:
o.k = v

# case: finally
log = []
o = Box(k=2)
def f(x):
    try:
        if o.k == 3: return x * 3
        return x * 2
    finally: log.append(o.k)
# change:
o.k = v

# case: else of try
log = []
d = {"k": 2}
def f(x):
    try: k = d["k"]
    except KeyError: log.append("no")
    else: log.append(k)
    return x * len(log)
# change:
d.pop("k")
# back:
d["k"] = 2

# case: an exception group
o = Box(k=2)
def f(x):
    try: raise ExceptionGroup("a", [ValueError(o.k), TypeError()])
    except* ValueError as group: y = x * group.exceptions[0].args[0]
    except* TypeError: pass
    return y
# change:
o.k = v

# case: add_note
log = []
def f(x):
    try: raise ValueError
    except ValueError as error:
        error.add_note("a")
        log.append(error.__notes__)
    return x * 2
# change:
log.clear()

# case: an exception object that is a global, raised
error = ValueError(1)
o = Box(n=0)
def f(x):
    try: raise error
    except ValueError as caught: o.n += caught.args[0]
    return x * o.n
# change:
error.args = (v,)

# case: a state machine
class Machine:
    state = "a"
    table = {"a": "b", "b": "c", "c": "a"}
    def step(self): self.state = self.table[self.state]
m = Machine()
def f(x):
    m.step()
    return x * {"a": 1, "b": 2, "c": 3}[m.state]
# change:
Machine.table = {"a": "c", "b": "a", "c": "b"} if v == 3 else {"a": "b", "b": "c", "c": "a"}

# case: a toggle
o = Box(on=True)
def f(x):
    o.on = not o.on
    return x * 2 if o.on else x
# change:
o.on = not o.on

# case: a swap of two fields
o = Box(a=2, b=3)
def f(x):
    o.a, o.b = o.b, o.a
    return x * o.a
# change:
o.a = v

# case: a string that grows
o = Box(s="")
def f(x):
    o.s += "a"
    return x * len(o.s)
# change:
o.s = "b" * v

# case: a tuple that grows
o = Box(t=())
def f(x):
    o.t += (1,)
    return x * len(o.t)
# change:
o.t = ()

# case: a large count
o = Box(n=2**62)
def f(x):
    o.n *= 2
    return x, o.n
# change:
o.n = 2**60 + v

# case: a float sum that rounds
o = Box(s=0.1)
def f(x):
    o.s += 0.2
    return x, o.s
# change:
o.s = v / 10

# case: an object that is replaced at each call
o = Box(cur=Box(k=1))
def f(x):
    o.cur = Box(k=o.cur.k + 1)
    return x * o.cur.k
# change:
o.cur = Box(k=v)

# case: an object that is made once
o = Box(cur=None)
def f(x):
    if o.cur is None: o.cur = Box(k=2)
    return x * o.cur.k
# change:
o.cur = None

# case: an immutable config replaced by dataclasses.replace
@dataclasses.dataclass(frozen=True)
class C: n: int = 0
o = Box(c=C())
def f(x):
    o.c = dataclasses.replace(o.c, n=o.c.n + 1)
    return x * o.c.n
# change:
o.c = C(v)

# case: a write of what was just read by another name
o = Box(k=2)
p = o
def f(x):
    before = o.k
    p.k = before + 1
    return x * o.k - before
# change:
o.k = v

# case: a write under a condition of another state
o = Box(n=0, on=False)
def f(x):
    if o.on: o.n += 1
    return x * o.n
# change:
o.on = not o.on

# case: a write of a constant over another value
o = Box(k=2)
def f(x):
    o.k = 7
    return x + 1
# change:
o.k = v

# case: a write that is undone
o = Box(k=2)
def f(x):
    old, o.k = o.k, 9
    y = x * o.k
    o.k = old
    return y
# change:
o.k = v

# case: a deletion of what was made
o = Box()
def f(x):
    o.tmp = 3
    y = x * o.tmp
    del o.tmp
    return y
# change:
o.tmp = v
# back:
pass

# case: a write to two objects of which one may be the other
a = Box(n=0)
o = Box(p=a, q=a)
def f(x):
    o.p.n += 1
    o.q.n += 10
    return x * o.p.n
# change:
o.q = Box(n=v)

# case: a write to a list of which another may be the same
a = [0]
o = Box(p=a, q=a)
def f(x):
    o.p.append(1)
    o.q.append(2)
    return x * len(o.p)
# change:
o.q = [v]

# case: an effect of a property
class A:
    n = 0
    @property
    def k(self): A.n += 1; return 2
a = A()
def f(x): return x * a.k
# change:
A.n = v

# case: an effect of a function in a default argument's object
class Log:
    def __init__(self): self.items = []
    def __call__(self, item): self.items.append(item)
def g(x, log=Log()):
    log(1)
    return x * 2
def f(x): return g(x)
# change:
g.__defaults__[0].items.clear()

# case: an effect on what a weak reference leads to
o = Box(n=0)
r = weakref.ref(o)
def f(x):
    r().n += 1
    return x * 2
# change:
o.n = v

# case: an effect on a key of a dict
class K:
    n = 0
k = K()
d = {k: 1}
def f(x):
    for key in d: key.n += 1
    return x * 2
# change:
k.n = v

# case: an effect on a member of a set
class K:
    n = 0
k = K()
s = {k}
def f(x):
    for key in s: key.n += 1
    return x * 2
# change:
k.n = v

# case: an effect on an object in a frozenset in a tuple
class K:
    n = 0
k = K()
t = (frozenset([k]), 1)
def f(x):
    for key in t[0]: key.n += 1
    return x * 2
# change:
k.n = v

# case: an effect through a bound method in a partial
class A:
    n = 0
    def up(self, by): self.n += by
a = A()
p = functools.partial(a.up, 2)
def f(x):
    p()
    return x * 2
# change:
a.n = v

# case: an effect through a callback in a closure in a list
def make(box):
    def up(): box.n += 1
    return up
o = Box(n=0)
l = [make(o)]
def f(x):
    for fn in l: fn()
    return x * 2
# change:
o.n = v

# case: an effect through map that is consumed by C
o = Box(n=0)
def up(k): o.n += k; return k
def f(x): return x * sum(map(up, [1, 2]))
# change:
o.n = v

# case: an effect of a key function
o = Box(n=0)
def key(k): o.n += 1; return -k
def f(x): return x * max([1, 2], key=key)
# change:
o.n = v

# case: an effect of a function that is given to re.sub
o = Box(n=0)
def put(match): o.n += 1; return "bb"
def f(x): return x * len(re.sub("a", put, "aca"))
# change:
o.n = v

# case: an effect in a comprehension's condition
o = Box(n=0)
def ask(k): o.n += 1; return k > 1
def f(x): return x * len([k for k in [1, 2, 3] if ask(k)])
# change:
o.n = v

# case: an effect in a default factory of setdefault
o = Box(n=0)
d = {}
def make(): o.n += 1; return o.n
def f(x): return x * d.setdefault("a", make())
# change:
d.clear()

# case: an effect in a thread-safe counter
class Counter:
    def __init__(self): self.lock, self.n = threading.Lock(), 0
    def up(self):
        with self.lock: self.n += 1; return self.n
c = Counter()
def f(x): return x * c.up()
# change:
c.n = v

# case: a plan of steps popped from the front
plan = ["double", "inc", "double", "inc", "double", "inc", "double", "inc"]
def f(x): return x * 2 if plan.pop(0) == "double" else x + 1
# change:
plan.insert(0, "inc")

# case: a seed that is counted by hand
o = Box(seed=7)
def f(x):
    o.seed = (o.seed * 5 + 3) % 16
    return x * o.seed
# change:
o.seed = v

# case: an effect of what is returned lazily
o = Box(n=0)
def make():
    o.n += 1
    return Box(n=o.n)
def f(x): return make(), x * 2
# change:
o.n = v

# case: a tensor written and a count
w, o = ja.zeros(2), Box(n=0)
def f(x):
    w.add_(x)
    o.n += 1
    return w * o.n
# change:
w.zero_()

# case: a tensor replaced every second call
o = Box(w=ja.ones(2), n=0)
def f(x):
    o.n += 1
    if o.n % 2 == 0: o.w = x * 2
    return o.w + x
# change:
o.n += 1

# case: an attribute that is a tensor, then none
o = Box(w=None)
def f(x):
    if o.w is None: o.w = x * 2
    else: o.w = None
    return x + 1
# change:
o.w = None
