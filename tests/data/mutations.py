"""What functions read of Python's objects: attributes, items, variables, classes, functions; also what they do not read."""
# ruff: noqa
# fmt: off

# case: plain attributes
o = Box(k=2, scale=1.5, flag=True, mode="add", unread=3, none=None, other_unread="text")
def f(x):
    y = x * o.k * o.scale if o.flag else x
    return y + 1 if o.mode == "add" and o.none is None else y

# case: nested attributes of an argument
o = Box(a=Box(b=Box(k=2, unread=1), unread=[1]), unread=Box(k=3))
args = (x, o)
def f(x, o): return x * o.a.b.k

# case: methods, class attributes and inheritance
class Base:
    scale, unread = 2, 3
    def apply(self, x): return x * self.scale + self.offset
    def unused(self): return 1
class Derived(Base):
    offset = 1.5
    def apply(self, x): return super().apply(x) * self.k
o = Derived()
o.k, o.unread_too = 3, 4
def f(x): return o.apply(x)

# case: a dataclass config
@dataclasses.dataclass
class Config:
    depth: int = 2
    rate: float = 0.5
    name: str = "tanh"
    bias: bool = True
    sizes: tuple = (2, 3)
    unread: int = 4
cfg = Config()
def f(x):
    for _ in range(cfg.depth):
        x = getattr(ja, cfg.name)(x) * cfg.rate
    return x + cfg.sizes[0] if cfg.bias else x

# case: a frozen dataclass with slots
@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    k: int = 2
    rate: float = 0.5
    unread: int = 4
cfg = Config()
def f(x): return x * cfg.k + cfg.rate

# case: an argument that is a dataclass
@dataclasses.dataclass
class Config:
    k: int = 2
    deep: object = None
    unread: int = 4
args = (x, Config(deep=Config(3)))
def f(x, cfg): return x * cfg.k + cfg.deep.k

# case: properties
class P:
    def __init__(self): self._k, self._unread, self.half = 2, 3, 0.5
    @property
    def k(self): return self._k * self.half
    @property
    def unused(self): return self._unread
o = P()
def f(x): return x * o.k

# case: a cached property that is read first before
class P:
    def __init__(self): self.base, self.unread = 2, 3
    @functools.cached_property
    def k(self): return self.base * 3
o = P()
o.k
def f(x): return x * o.k

# case: a cached property that is read first inside
class P:
    def __init__(self): self.base, self.unread = 2, 3
    @functools.cached_property
    def k(self): return self.base * 3
o = P()
def f(x): return x * o.k + 1

# case: __getattr__
class Lazy:
    def __init__(self): self.table, self.unread = {"k": 2, "j": 3}, 1
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self.table[name]
o = Lazy()
def f(x): return x * o.k

# case: __getattr__ that forwards
class Proxy:
    def __init__(self, inner): self.inner, self.unread = inner, 1
    def __getattr__(self, name): return getattr(self.inner, name)
o = Proxy(Box(k=2, unread=3))
def f(x): return x * o.k

# case: special methods
class S:
    def __init__(self, k): self.k, self.unread, self.items = k, 1, [1.0, 2.0]
    def __call__(self, x): return x * self.k
    def __len__(self): return len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __bool__(self): return self.k > 1
    def __contains__(self, item): return item in self.items
    def __eq__(self, other): return self.k == other.k
    def __add__(self, other): return self.k + other.k
    __hash__ = None
o, p = S(2), S(3)
def f(x):
    x = o(x) + len(o) + o[0]
    if o and 1.0 in p: x = x + (o + p)
    return x * 2 if o == p else x

# case: hasattr and getattr with a default
o = Box(k=2, unread=1)
def f(x):
    if hasattr(o, "scale"): x = x * o.scale
    return x * o.k + getattr(o, "offset", 0.5)

# case: getattr with computed names
o = Box(a0=2, a1=3, a2=4, unread=5)
def f(x):
    for i in range(2): x = x * getattr(o, f"a{i}")
    return x

# case: attrgetter, itemgetter and methodcaller
o = Box(a=Box(k=2, unread=1), items=[1, 2, 3], unread=1)
get, item = operator.attrgetter("a.k"), operator.itemgetter(1)
def f(x): return x * get(o) + item(o.items)

# case: a tensor in an attribute
o = Box(w=ja.tensor([3.0, 4.0]), unread=ja.tensor([1.0, 1.0]), k=2)
def f(x): return x * o.w * o.k

# case: containers in attributes
o = Box(sizes=[1, 2, 3], table={"a": 2.0, "b": 3.0}, pair=(2, 0.5), names={"u", "v"}, unread=[1])
def f(x):
    for n in o.sizes: x = x + n
    x = x * o.table["a"] + o.pair[1]
    return x * 2 if "u" in o.names else x

# case: nested containers of objects
layers = [Box(k=2, unread=1), Box(k=3, unread=2)]
o = Box(layers=layers, by_name={"first": layers[0], "deep": {"last": [layers[1]]}})
def f(x):
    for layer in o.layers: x = x * layer.k
    return x + o.by_name["deep"]["last"][0].k

# case: a deque and an ordered dict
o = Box(last=collections.deque([1, 2], maxlen=4), table=collections.OrderedDict(a=1, b=2), unread=0)
def f(x): return x + sum(o.last) + list(o.table.items())[-1][1]

# case: subclasses of dict and list with attributes
class D(dict):
    scale, unread = 2, 1
class L(list):
    def total(self): return sum(self) * self.k
d, l = D(a=2, b=3), L([1, 2])
d.k, d.unread_too, l.k = 3, 4, 5
def f(x): return x * d["a"] * d.k * d.scale + l.total()

# case: global variables and functions
SCALE, OFFSET, UNREAD = 2, 0.5, 7
def helper(x, factor=3, *, shift=1): return x * SCALE * factor + shift
def unread_function(x): return x
def f(x): return helper(x) + OFFSET + len([1, 2])

# case: closures
def make(k, scale):
    unread = 5
    def inner(x): return x * k
    def unused(x): return x * unread
    def f(x): return inner(x) * scale if max(k, 1) else unused
    return f
f = make(2, 0.5)

# case: a state that is written
class Counter:
    def __init__(self): self.n, self.total, self.log, self.last, self.unread = 0, 0.0, [], None, 1
    def step(self, x):
        self.n += 1
        self.total = self.total * 0.5 + 1.0
        self.log.append(self.n)
        self.last = "seen"
        return x * self.total
o = Counter()
def f(x): return o.step(x)

# case: a state that is read after it was written
o = Box(scratch=0, k=2, unread=1)
def f(x):
    o.scratch = 5
    y = x * o.scratch * o.k
    o.made = o.scratch + 1
    return y + o.made

# case: slots, some of them empty
class S:
    __slots__ = ("k", "empty", "unread")
    def __init__(self): self.k, self.unread = 2, 3
o = S()
def f(x): return x * o.k + getattr(o, "empty", 1)

# case: static and class methods
class S:
    k, unread = 2, 3
    @staticmethod
    def twice(x): return x * 2
    @classmethod
    def scaled(cls, x): return x * cls.k
    @classmethod
    def unused(cls): return cls.unread
def f(x): return S.twice(x) + S.scaled(x)

# case: a metaclass and a registry in a class
class Meta(type):
    factor = 2
    def __len__(cls): return len(cls.items)
class R(metaclass=Meta):
    items = {"a": 1, "b": 2}
    unread = 3
def f(x): return x * R.factor + len(R) + R.items["a"]

# case: descriptors
class Scaled:
    def __init__(self, factor): self.factor, self.unread = factor, 1
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, cls): return self if obj is None else getattr(obj, self.name) * self.factor
    def __set__(self, obj, value): setattr(obj, self.name, value)
class S:
    k = Scaled(3)
    def __init__(self): self.k, self.unread = 2, 1
o = S()
def f(x): return x * o.k

# case: __getattribute__
class S:
    def __init__(self): self.k, self.unread = 2, 1
    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found * 2 if name == "k" else found
o = S()
def f(x): return x * o.k

# case: vars of an object
o = Box(k=2, j=3)
def f(x):
    for value in vars(o).values(): x = x * value
    return x

# case: a copy of an object
o = Box(k=2, unread=3)
def f(x):
    other = copy.copy(o)
    other.k += 1
    return x * other.k

# case: a namespace and a named tuple
Pair = collections.namedtuple("Pair", "k scale")
space, pair = types.SimpleNamespace(k=2, pair=Pair(3, 0.5), unread=1), Pair(2, 1.5)
def f(x): return x * space.k * space.pair.scale + pair.k

# case: enums
class Mode(enum.Enum):
    SUM, MEAN, UNREAD = 1, 2, 3
o = Box(mode=Mode.SUM, unread=Mode.UNREAD)
def f(x):
    match o.mode:
        case Mode.SUM: return x + x.sum()
        case Mode.MEAN: return x + x.mean()
    return x * o.mode.value

# case: bound methods and partials that are kept
class S:
    def __init__(self, k): self.k, self.unread = k, 1
    def scale(self, x, by=1): return x * self.k * by
o = Box(hook=S(2).scale, part=functools.partial(S(3).scale, by=2), unread=1)
def f(x): return o.hook(x) + o.part(x)

# case: class patterns
class Point:
    __match_args__ = ("a", "b")
    def __init__(self, a, b): self.a, self.b, self.unread = a, b, 0
o = Point(2, 3)
def f(x):
    match o:
        case Point(2, b): return x * b
        case Point(a, b): return x + a * b

# case: identity of objects
a, b = Box(k=2, unread=1), Box(k=3, unread=1)
o = Box(cur=a, all=[a, b])
def f(x): return x * a.k if o.cur is a else x * o.cur.k + o.all.index(o.cur)

# case: a text made of fields
o = Box(k=2, name="w", unread=1)
table = {"w2": 3.0, "w3": 4.0, "v2": 5.0}
def f(x): return x * table["{0.name}{0.k}".format(o)]

# case: a module of the user's
helpers = types.ModuleType("state_helpers")
exec("K, UNREAD = 2, 3\ndef scale(x): return x * K", vars(helpers))
def f(x): return helpers.scale(x) + helpers.K

# case: values of libraries
def f(x): return x * math.pi + math.sqrt(4.0) + np.float32(2.0) + float(os.environ.get("STATE_OF_A_CASE", "1"))

# case: NumPy arrays and arrays of JAX
o = Box(a=np.array([1.0, 2.0], np.float32), b=jnp.array([3.0, 4.0]), unread=np.zeros(2))
def f(x): return x * ja.as_tensor(o.a) + ja.as_tensor(o.b)

# case: an exception that decides
o = Box(table={"a": 2}, key="a", fallback=3, unread=1)
def f(x):
    try: return x * o.table[o.key]
    except KeyError: return x + o.fallback

# case: a module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.scale, self.unread = nn.Linear(2, 2), 0.5, 1
        self.register_buffer("shift", ja.tensor([0.5, 1.5]))
    def forward(self, x): return self.fc(x) * self.scale + (self.shift if self.training else 0)
net = Net()
@ja.no_grad()
def f(x): return net(x)

# case: code that is replaced
class S:
    def scale(self, x): return x * 3
def helper(x): return x + 2
s = S()
def f(x): return helper(s.scale(x)) * 5
