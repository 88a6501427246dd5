"""State that the standard library keeps: the environment, levels, filters, contexts, caches, registrations."""
# ruff: noqa
# fmt: off

# case: os.environ
os.environ["STATE_A"] = "2"
def f(x): return x * int(os.environ["STATE_A"])
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: os.environ.get of a missing one
def f(x): return x * int(os.environ.get("STATE_A", "7"))
# change:
os.environ["STATE_A"] = str(v)
# back:
del os.environ["STATE_A"]
# after:
os.environ.pop("STATE_A", None)

# case: os.getenv
os.environ["STATE_A"] = "2"
def f(x): return x * int(os.getenv("STATE_A"))
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: os.getenv with a computed name
os.environ["STATE_A"], k = "2", "A"
def f(x): return x * int(os.getenv("STATE_" + k))
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: os.environ in a library's way
os.environ["STATE_A"] = "2"
def flag(name): return int(os.environ.get("STATE_" + name, 0))
def f(x): return x * flag("A")
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: a name in os.environ
def f(x): return x * 2 if "STATE_A" in os.environ else x
# change:
os.environ["STATE_A"] = "1"
# back:
del os.environ["STATE_A"]
# after:
os.environ.pop("STATE_A", None)

# case: a loop over os.environ
def f(x): return x * len([k for k in os.environ if k.startswith("STATE_")])
# change:
os.environ["STATE_A"] = "1"
# back:
del os.environ["STATE_A"]
# after:
os.environ.pop("STATE_A", None)

# case: os.environ written
os.environ["STATE_A"] = "0"
def f(x):
    os.environ["STATE_A"] = str(int(os.environ["STATE_A"]) + 1)
    return x * int(os.environ["STATE_A"])
# change:
os.environ["STATE_A"] = str(v)
# look: os.environ["STATE_A"]
# after:
os.environ.pop("STATE_A", None)

# case: os.path.expandvars
os.environ["STATE_A"] = "2"
def f(x): return x * int(os.path.expandvars("$STATE_A"))
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: the working directory
_at = os.getcwd()
def f(x): return x * 2 if os.getcwd() == "/" else x
# change:
os.chdir("/")
# back:
os.chdir(_at)
# after:
os.chdir(_at)

# case: sys.path
def f(x): return x * 2 if "/state" in sys.path else x
# change:
sys.path.append("/state")
# back:
sys.path.remove("/state")
# after:
sys.path.remove("/state")

# case: sys.argv
_argv = list(sys.argv)
def f(x): return x * len([a for a in sys.argv if a == "--state"])
# change:
sys.argv.append("--state")
# after:
sys.argv[:] = _argv

# case: the recursion limit
_limit = sys.getrecursionlimit()
def f(x): return x * (sys.getrecursionlimit() == _limit)
# change:
sys.setrecursionlimit(_limit + v)
# after:
sys.setrecursionlimit(_limit)

# case: a name of sys
sys.state_k = 2
def f(x): return x * sys.state_k
# change:
sys.state_k = v
# after:
del sys.state_k

# case: the level of a logger
logger = logging.getLogger("state_logger"); logger.setLevel(logging.INFO)
def f(x): return x * 2 if logger.isEnabledFor(logging.DEBUG) else x
# change:
logger.setLevel(logging.DEBUG)
# back:
logger.setLevel(logging.INFO)
# after:
logger.setLevel(logging.NOTSET)

# case: the effective level of a logger, from its parent
_parent = logging.getLogger("state_p"); _parent.setLevel(logging.INFO)
logger = logging.getLogger("state_p.child")
def f(x): return x * logger.getEffectiveLevel()
# change:
_parent.setLevel(v)
# after:
_parent.setLevel(logging.NOTSET)

# case: the level of a logger, as a number
def f(x): return x * logging.getLogger("state_logger").level
# change:
logging.getLogger("state_logger").setLevel(v)
# after:
logging.getLogger("state_logger").setLevel(logging.NOTSET)

# case: the handlers of a logger
logger = logging.getLogger("state_logger")
def f(x): return x * len(logger.handlers)
# change:
logger.addHandler(logging.NullHandler())
# after:
logger.handlers.clear()

# case: logging.disable
logger = logging.getLogger("state_logger"); logger.setLevel(logging.INFO)
def f(x): return x * 2 if logger.isEnabledFor(logging.INFO) else x
# change:
logging.disable(logging.CRITICAL)
# back:
logging.disable(logging.NOTSET)
# after:
logging.disable(logging.NOTSET), logger.setLevel(logging.NOTSET)

# case: warnings.filters
def f(x): return x * len([w for w in warnings.filters if w[2] is ResourceWarning and w[0] == "once"])
# change:
warnings.filterwarnings("once", category=ResourceWarning, message=f"a{v}")

# case: a warning as an error
def f(x):
    try: warnings.warn("state", ResourceWarning)
    except ResourceWarning: return x * 2
    return x
# change:
warnings.filterwarnings("error", category=ResourceWarning, message="state")
# back:
warnings.filterwarnings("ignore", category=ResourceWarning, message="state")

# case: a context variable
c = contextvars.ContextVar("c", default=2)
def f(x): return x * c.get()
# change:
c.set(v)

# case: a context variable without a default
c = contextvars.ContextVar("c")
def f(x): return x * c.get(7)
# change:
c.set(v)

# case: a context variable that counts
c = contextvars.ContextVar("c", default=0)
def f(x):
    c.set(c.get() + 1)
    return x * c.get()
# change:
c.set(v)
# look: c.get()

# case: a context variable that is set and reset
c = contextvars.ContextVar("c", default=2)
def g(): return c.get()
def f(x):
    token = c.set(c.get() + 5)
    try: return x * g()
    finally: c.reset(token)
# change:
c.set(v)
# look: c.get()

# case: a context variable that holds a list
c = contextvars.ContextVar("c", default=[1])
def f(x):
    c.get().append(1)
    return x * len(c.get())
# change:
c.set([1] * v)

# case: copy_context().run
c = contextvars.ContextVar("c", default=2)
def g(): c.set(c.get() + 1); return c.get()
def f(x): return x * contextvars.copy_context().run(g)
# change:
c.set(v)
# look: c.get()

# case: threading.local
t = threading.local(); t.k = 2
def f(x): return x * t.k
# change:
t.k = v

# case: threading.local that counts
t = threading.local(); t.n = 0
def f(x):
    t.n += 1
    return x * t.n
# change:
t.n = v
# look: t.n

# case: a missing attribute of threading.local
t = threading.local()
def f(x): return x * getattr(t, "k", 7)
# change:
t.k = v
# back:
del t.k

# case: a subclass of threading.local
class T(threading.local):
    def __init__(self): self.k = 2
t = T()
def f(x): return x * t.k
# change:
t.k = v

# case: a lock that is held
lock = threading.Lock()
def f(x): return x * 2 if lock.locked() else x
# change:
lock.acquire()
# back:
lock.release()

# case: work under a lock
lock, n = threading.RLock(), 0
def f(x):
    global n
    with lock: n += 1
    return x * n
# change:
n = v

# case: an event
e = threading.Event()
def f(x): return x * 2 if e.is_set() else x
# change:
e.set()
# back:
e.clear()

# case: a semaphore
s = threading.Semaphore(20)
def f(x): return x * 2 if s.acquire(blocking=False) else x
# change:
s.release(v)

# case: the name of a thread
_name = threading.current_thread().name
def f(x): return x * 2 if threading.current_thread().name == "state" else x
# change:
threading.current_thread().name = "state"
# back:
threading.current_thread().name = _name
# after:
threading.current_thread().name = _name

# case: lru_cache
k = 2
@functools.lru_cache
def g(n): return n + k
def f(x): return x * g(1)
# change:
k = v

# case: lru_cache that is cleared
k = 2
@functools.lru_cache
def g(n): return n + k
def f(x): return x * g(1)
# change:
k = v
g.cache_clear()

# case: lru_cache with effects
made = []
@functools.lru_cache
def g(n):
    made.append(n)
    return len(made)
def f(x): return x * g(1)
# change:
g.cache_clear()

# case: lru_cache that overflows
made = []
@functools.lru_cache(maxsize=1)
def g(n):
    made.append(n)
    return len(made)
def f(x): return x * g(1) + g(2)
# change:
made.append(v)

# case: cache_info of lru_cache
@functools.lru_cache
def g(n): return n
def f(x):
    g(1)
    return x * g.cache_info().hits
# change:
g.cache_clear()

# case: lru_cache of a method
class A:
    k = 2
    @functools.lru_cache
    def m(self, n): return self.k + n
a = A()
def f(x): return x * a.m(1)
# change:
a.k = v
A.m.cache_clear()

# case: lru_cache filled from outside
made = []
@functools.lru_cache
def g(n): made.append(n); return len(made)
def f(x): return x * g(1)
# change:
g.cache_clear()
made.append(v)
g(1)

# case: functools.cache of a tensor
k = 2
@functools.cache
def g(n): return ja.ones(2) * n * k
def f(x): return x * g(1)
# change:
k = v
g.cache_clear()

# case: a partial
def g(x, k): return x * k[0]
l = [2]
p = functools.partial(g, k=l)
def f(x): return p(x)
# change:
l[0] = v

# case: a partial replaced
def g(k, x): return x * k
p = functools.partial(g, 2)
def f(x): return p(x)
# change:
p = functools.partial(g, v)

# case: the keywords of a partial
def g(x, k): return x * k
p = functools.partial(g, k=2)
def f(x): return p(x)
# change:
p.keywords["k"] = v

# case: the func of a partial
def g(x): return x * g.k
g.k = 2
p = functools.partial(g)
def f(x): return p.func(x)
# change:
g.k = v

# case: a partial of a partial
def g(a, b, x): return x * a.k + b
o = Box(k=2)
p = functools.partial(functools.partial(g, o), 3)
def f(x): return p(x)
# change:
o.k = v

# case: a partial method
class A:
    k = 2
    def m(self, n, x): return x * n * self.k
    twice = functools.partialmethod(m, 2)
a = A()
def f(x): return a.twice(x)
# change:
a.k = v

# case: singledispatch
@functools.singledispatch
def g(o, x): return x
@g.register
def _(o: int, x): return x * 2
def f(x): return g(3, x)
# change:
g.register(int, lambda o, x, v=v: x * v)

# case: singledispatch of a new class
class A: pass
a = A()
@functools.singledispatch
def g(o, x): return x
def f(x): return g(a, x)
# change:
g.register(A, lambda o, x, v=v: x * v)

# case: singledispatchmethod
class A:
    k = 2
    @functools.singledispatchmethod
    def m(self, o, x): return x
    @m.register
    def _(self, o: int, x): return x * self.k
a = A()
def f(x): return a.m(3, x)
# change:
a.k = v

# case: the dispatch of singledispatch by an attribute's type
@functools.singledispatch
def g(o, x): return x
@g.register
def _(o: int, x): return x * 2
o = Box(k="a")
def f(x): return g(o.k, x)
# change:
o.k = 3 if o.k == "a" else "a"

# case: a contextmanager
log = []
@contextlib.contextmanager
def scope(name):
    log.append(name)
    try: yield len(log)
    finally: log.append("-" + name)
def f(x):
    with scope("a") as n: return x * n
# change:
log.clear()

# case: a contextmanager that sets a global
k = 2
@contextlib.contextmanager
def scope(value):
    global k
    old, k = k, value
    try: yield
    finally: k = old
def g(x): return x * k
def f(x):
    with scope(7): y = g(x)
    return y + g(x)
# change:
k = v

# case: an ExitStack
log = []
def f(x):
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, 1)
        return x * len(log)
# change:
log.clear()

# case: an ExitStack held outside
log = []
stack = contextlib.ExitStack()
def f(x):
    stack.callback(log.append, 1)
    return x * 2
# change:
stack.close()

# case: nullcontext and suppress
class A:
    def __enter__(self): log.append(1)
    def __exit__(self, *a): pass
log = []
on = False
def f(x):
    with A() if on else contextlib.nullcontext(): x = x * 2
    with contextlib.suppress(ValueError): raise ValueError
    return x
# change:
on = not on

# case: a contextmanager as a decorator
log = []
@contextlib.contextmanager
def scope():
    log.append(1)
    yield
@scope()
def f(x): return x * 2
# change:
log.clear()

# case: redirect_stdout
def f(x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out): sys.stdout.write("a" * k)
    return x * len(out.getvalue())
k = 2
# change:
k = v

# case: an enum whose member is looked up
class E(enum.Enum):
    A = 2
    B = 3
o = Box(name="A")
def f(x): return x * E[o.name].value
# change:
o.name = "B" if o.name == "A" else "A"

# case: a StrEnum and auto
class E(enum.StrEnum):
    A = enum.auto()
    BCD = enum.auto()
o = Box(e=E.A)
def f(x): return x * len(o.e)
# change:
o.e = E.BCD if o.e == "a" else E.A

# case: _missing_ of an enum
log = []
class E(enum.Enum):
    A = 2
    @classmethod
    def _missing_(cls, value): log.append(value); return cls.A
def f(x): return x * E(9).value
# change:
log.clear()

# case: a Random
r = random.Random(3)
def f(x): return x * r.random()
# change:
r.seed(v)
# look: r.getstate()[1][-1]

# case: the global random numbers
random.seed(3)
def f(x): return x * random.randint(1, 9)
# change:
random.seed(v)

# case: random.choice imported by name
from random import choice
random.seed(3)
def f(x): return x * choice([1, 2, 3, 4, 5, 6, 7])
# change:
random.seed(v)

# case: a Generator of NumPy
r = np.random.default_rng(3)
def f(x): return x * float(r.random())
# change:
r = np.random.default_rng(v)

# case: np.random
np.random.seed(3)
def f(x): return x * float(np.random.rand())
# change:
np.random.seed(v)

# case: a generator of random numbers of the user's own
class LCG:
    state = 7
    def draw(self):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return self.state % 10
r = LCG()
def f(x): return x * r.draw()
# change:
r.state = v

# case: ja.manual_seed
def f(x): return x * ja.rand(2)
# change:
ja.manual_seed(v)

# case: a key of jax
o = Box(key=jax.random.key(0))
def f(x):
    o.key, key = jax.random.split(o.key)
    return x * jax.random.uniform(key, (2,))
# change:
o.key = jax.random.key(v)

# case: the decimal context
def f(x): return x * float(decimal.Decimal(1) / decimal.Decimal(3))
# change:
decimal.getcontext().prec = v
# back:
decimal.getcontext().prec = 28
# after:
decimal.getcontext().prec = 28

# case: the precision of the decimal context
def f(x): return x * decimal.getcontext().prec
# change:
decimal.getcontext().prec = v
# after:
decimal.getcontext().prec = 28

# case: a local decimal context
o = Box(prec=2)
def f(x):
    with decimal.localcontext() as c:
        c.prec = o.prec
        return x * float(decimal.Decimal(1) / decimal.Decimal(3))
# change:
o.prec = v

# case: a Decimal
o = Box(d=decimal.Decimal("2"))
def f(x): return x * float(o.d + 1)
# change:
o.d = decimal.Decimal(v)

# case: a Fraction
o = Box(d=fractions.Fraction(1, 2))
def f(x): return x * float(o.d * 2)
# change:
o.d = fractions.Fraction(v, 2)

# case: a date
o = Box(d=datetime.date(2020, 1, 2))
def f(x): return x * o.d.day
# change:
o.d = datetime.date(2020, 1, v)

# case: a path
o = Box(p=pathlib.Path("/a/b"))
def f(x): return x * len(o.p.parts) + len(str(o.p / "c"))
# change:
o.p = pathlib.Path("/a" * v)

# case: a weak reference
o = Box(k=2)
r = weakref.ref(o)
def f(x): return x * r().k
# change:
o.k = v

# case: a weak reference to what goes
o = Box(k=2)
r = weakref.ref(o)
def f(x): return x * r().k if r() is not None else x
# change:
o = None
# back:
o = Box(k=2)
r = weakref.ref(o)

# case: a weak proxy
o = Box(k=2)
p = weakref.proxy(o)
def f(x): return x * p.k
# change:
o.k = v

# case: a WeakKeyDictionary
o = Box()
d = weakref.WeakKeyDictionary({o: 2})
def f(x): return x * d[o]
# change:
d[o] = v

# case: a WeakKeyDictionary that is a cache
o = Box(k=2)
d = weakref.WeakKeyDictionary()
def f(x):
    if o not in d: d[o] = o.k + 1
    return x * d[o]
# change:
o = Box(k=v)

# case: a WeakValueDictionary
o = Box(k=2)
d = weakref.WeakValueDictionary({"a": o})
def f(x): return x * d["a"].k if "a" in d else x
# change:
o = None
# back:
o = Box(k=2)
d["a"] = o

# case: a WeakSet
o, p = Box(k=2), Box(k=3)
s = weakref.WeakSet([o])
def f(x): return x * len(s) + sum(q.k for q in s)
# change:
s.add(p)
# back:
s.remove(p)

# case: a StringIO
s = io.StringIO("ab")
def f(x):
    s.write("c")
    return x * len(s.getvalue())
# change:
s.seek(0), s.truncate()
# look: s.getvalue()

# case: a BytesIO that is read
s = io.BytesIO(bytes(range(1, 30)))
def f(x): return x * s.read(1)[0]
# change:
s.seek(v)
# look: s.tell()

# case: a configparser
import configparser
c = configparser.ConfigParser(); c["a"] = {"k": "2"}
def f(x): return x * c.getint("a", "k")
# change:
c["a"]["k"] = str(v)

# case: a type variable and an alias, read
A = list[int]
def f(x): return x * (2 if typing.get_args(A) == (int,) else 1)
# change:
A = list[str] if A == list[int] else list[int]

# case: operator.setitem and delitem
d = {"n": 0}
def f(x):
    operator.setitem(d, "n", operator.getitem(d, "n") + 1)
    return x * d["n"]
# change:
d["n"] = v

# case: functools.reduce with a lambda over a global
l, k = [1, 2], 2
def f(x): return x * functools.reduce(lambda a, b: a + b * k, l)
# change:
k = v

# case: functools.cmp_to_key
l, sign = [1, 2], 1
def f(x): return x * sorted(l, key=functools.cmp_to_key(lambda a, b: sign * (a - b)))[0]
# change:
sign = -sign

# case: a counter of uuid, of the user's own
ids = {"n": 0}
def new_id():
    ids["n"] += 1
    return f"id{ids['n']}"
def f(x): return x, new_id()
# change:
ids["n"] = v

# case: inspect.stack-free reflection by sys._getframe
def f(x): return x * g()
def g(): return sys._getframe(1).f_globals["k"]
k = 2
# change:
k = v

# case: a signal-like flag in a module-level list
stop = [False]
def f(x): return x if stop[0] else x * 2
# change:
stop[0] = not stop[0]

# case: locale and float formats
o = Box(spec=".2f")
def f(x): return x, format(2.5, o.spec)
# change:
o.spec = f".{v}f"

# case: time.time replaced by a function of the user's
import time
_time, _now = time.time, [2.0]
time.time = lambda: _now[0]
def f(x): return x * time.time()
# change:
_now[0] = float(v)
# after:
time.time = _time
