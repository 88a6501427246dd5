"""The faults that were found from outside, by their names there (A4, A7, A8 and part D), and close kin of them."""
# ruff: noqa
# fmt: off

# case: A4: a bar of tqdm with a clock of the user's, and a count
import time
class Bar:
    n, last = 0, 0.0
    def update(self, k):
        self.n += k
        self.last = min(time.time(), 1.0)
bar = Bar()
def f(x):
    bar.update(1)
    return x * 2
# change:
bar.n = v

# case: A4: a logger of the standard library that counts its records
class Count(logging.Handler):
    n = 0
    def emit(self, record): self.n += 1
_handler = Count()
_logger = logging.getLogger("state_count"); _logger.addHandler(_handler); _logger.propagate = False
def f(x):
    _logger.warning("a")
    return x * 2
# change:
_handler.n = v
# look: _handler.n
# after:
_logger.handlers.clear()

# case: A4: a Counter and random numbers
c = collections.Counter()
def f(x):
    c["a"] += 1
    return x * random.randint(1, 9)
random.seed(3)
# change:
random.seed(v)

# case: A4: an OrderedDict, a deque and a clock
import time
d, q = collections.OrderedDict(), collections.deque(maxlen=3)
def f(x):
    d[len(d)] = 1
    q.append(len(d))
    time.time()
    return x * sum(q)
# change:
d.popitem()

# case: A7: from_numpy of an argument
a = np.ones(2, np.float32)
args = (x, a)
def f(x, a): return x * ja.from_numpy(a)
# change:
a[0] = v

# case: A7: an argument of NumPy that is written
a = np.zeros(2, np.float32)
args = (x, a)
def f(x, a):
    a[0] += 1
    return x * float(a[0])
# change:
a[0] = v

# case: A7: an argument of NumPy given to NumPy
a = np.ones(2, np.float32)
args = (x, a)
def f(x, a): return x * float(np.linalg.norm(a))
# change:
a[0] = v

# case: A7: what only a trace raises
a = np.ones(2, np.float32)
args = (x, a)
def f(x, a): return x * int(a.tobytes()[3])
# change:
a[0] = v

# case: A8: storage_offset of a captured tensor
w = ja.arange(8.0)[0:2]
def f(x): return x + w.storage_offset()
# change:
w = ja.arange(8.0)[v + 1 : v + 3]

# case: A8: _version of a captured tensor
w = ja.ones(2)
def f(x): return x + w._version
# change:
w.add_(1)

# case: A8: _version of a captured tensor that the function writes
w = ja.ones(2)
def f(x):
    w.add_(1)
    return x + w._version
# change:
w.add_(1)

# case: D: a with statement over an object made inside
S = []
class A:
    def __enter__(self): S.append(1)
    def __exit__(self, *a): pass
def f(x):
    with A(): return x + 1
# change:
S.append(v)

# case: D: a negated object
S = []
class A:
    def __neg__(self): S.append(1); return 2
o = A()
def f(x):
    -o
    return x + 1
# change:
S.append(v)

# case: D: an item of an object
S = []
class A:
    def __getitem__(self, i): S.append(1); return 2
o = A()
def f(x):
    o[0]
    return x + 1
# change:
S.append(v)

# case: D: __init__ of an object made inside
S = []
class A:
    def __init__(self): S.append(1)
def f(x):
    A()
    return x + 1
# change:
S.append(v)

# case: D: a cached property evaluated again
class B:
    n = 1
    @functools.cached_property
    def once(self): return self.n * 2
b = B()
def f(x): b.n = 3; return x + b.once
# change:
b = B()

# case: D: a class attribute in __tensor_function__
class P(ja.Tensor):
    k = 2.0
    @classmethod
    def __tensor_function__(cls, func, types, args, kwargs):
        if func.name == "sin": return args[0] * cls.k
        return super().__tensor_function__(func, types, args, kwargs)
p = P([1.0, 2.0])
def f(x): return x + p.sin()
# change:
P.k = float(v)

# case: D: names mapped by __getattribute__
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

# case: D: a global attrgetter
get, o = operator.attrgetter("k"), Box(k=2)
def f(x): return x * get(o)
# change:
o.k = v

# case: D: os.getenv with a computed name
os.environ["STATE_A"], k = "2", "A"
def f(x): return x * int(os.getenv("STATE_" + k))
# change:
os.environ["STATE_A"] = str(v)
# after:
os.environ.pop("STATE_A", None)

# case: D: abs patched
_abs = abs
def f(x): return x * abs(-2)
# change:
builtins.abs = lambda y, v=v: v
# after:
builtins.abs = _abs

# case: D: Tensor.sin patched
_sin = ja.Tensor.sin
def f(x): return x.sin()
# change:
ja.Tensor.sin = lambda self, v=v: self * v
# after:
ja.Tensor.sin = _sin

# case: D: an item of a global bytearray
b = bytearray([1, 2])
def f(x):
    b[0] += 1
    return x + 1
# change:
b[0] = v
