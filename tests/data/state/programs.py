"""Programs of a screen: trainers, configs, registries, caches, tokenizers, plugins, as people write them."""
# ruff: noqa
# fmt: off

# case: a trainer with callbacks
class Callback:
    def on_start(self, trainer): pass
    def on_end(self, trainer, loss): pass
class History(Callback):
    def __init__(self): self.steps = []
    def on_end(self, trainer, loss): self.steps.append(trainer.step_number)
class EarlyStop(Callback):
    def __init__(self, at): self.at = at
    def on_start(self, trainer): trainer.stopped = trainer.step_number >= self.at
class Trainer:
    def __init__(self, *callbacks): self.callbacks, self.step_number, self.stopped = list(callbacks), 0, False
    def step(self, x):
        for callback in self.callbacks: callback.on_start(self)
        if self.stopped: return x
        self.step_number += 1
        loss = x * self.step_number
        for callback in self.callbacks: callback.on_end(self, loss)
        return loss
stop = EarlyStop(4)
trainer = Trainer(History(), stop)
f = trainer.step
# change:
stop.at += v

# case: nested configs with overrides
@dataclasses.dataclass
class Norm: eps: float = 0.5; kind: str = "rms"
@dataclasses.dataclass
class Model:
    width: int = 2
    norm: Norm = dataclasses.field(default_factory=Norm)
    extra: dict = dataclasses.field(default_factory=dict)
    def __getattr__(self, name):
        if name in self.__dict__.get("extra", ()): return self.extra[name]
        raise AttributeError(name)
config = Model(extra={"scale": 2})
def f(x):
    y = x * config.width * config.scale
    return y + config.norm.eps if config.norm.kind == "rms" else y
# change:
config.extra["scale"], config.norm.kind = v, "layer" if v == 3 else "rms"

# case: a config of transformers' kind
class PretrainedConfig:
    attribute_map = {}
    def __init__(self, **kwargs):
        for key, value in kwargs.items(): setattr(self, key, value)
    def __setattr__(self, key, value): super().__setattr__(super().__getattribute__("attribute_map").get(key, key), value)
    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)
class GPT2Config(PretrainedConfig): attribute_map = {"hidden_size": "n_embd", "num_layers": "n_layer"}
config = GPT2Config(n_embd=2, n_layer=2, use_cache=True)
def f(x):
    for _ in range(config.num_layers): x = x * config.hidden_size
    return x if getattr(config, "use_cache", False) and not hasattr(config, "quantized") else x + 1
# change:
config.hidden_size, config.n_layer = v, 2 + (v == 3)

# case: a mapping of all model types, imported lazily
class LazyMapping(collections.OrderedDict):
    def __init__(self, names): self.names, self.loaded = names, {}
    def __getitem__(self, key):
        if key not in self.loaded: self.loaded[key] = type(key, (), {"k": self.names[key]})
        return self.loaded[key]
    def keys(self): return list(self.names)
mapping = LazyMapping({f"M{i}": i for i in range(300)})
which = "M2"
def f(x): return x * mapping[which].k
# change:
which = f"M{v}"

# case: a tokenizer in a closure
def make():
    class Tokenizer:
        def __init__(self, words):
            self.ids = {word: i for i, word in enumerate(words)}
            self.unknown, self.cache = len(words), {}
        def __call__(self, text):
            if text not in self.cache: self.cache[text] = [self.ids.get(word, self.unknown) for word in text.split()]
            return self.cache[text]
    tokenizer = Tokenizer(["a", "b", "c"])
    def f(x): return x * sum(tokenizer(o.text)) + tokenizer.unknown
    return f, tokenizer
o = Box(text="a b d")
f, tokenizer = make()
# change:
o.text, tokenizer.ids["d"] = f"c d {v}", v

# case: a table of positions by length
class Rotary:
    def __init__(self): self.tables, self.hits = {}, 0
    def table(self, n):
        if n in self.tables: self.hits += 1
        else: self.tables[n] = ja.arange(float(n)) * self.base
        return self.tables[n]
    base = 2.0
rotary = Rotary()
def f(x): return x + rotary.table(len(x))
# change:
Rotary.base = float(v)
rotary.tables.clear()

# case: a cache of keys and values
class Cache:
    def __init__(self): self.keys, self.length = [], 0
    def update(self, key):
        self.keys.append(key)
        self.length += 1
        return self.keys
    def crop(self, n): self.keys, self.length = self.keys[:n], n
cache = Cache()
def f(x):
    keys = cache.update(x * 2)
    return sum(keys[1:], keys[0]) / cache.length
# change:
cache.crop(1)

# case: accumulation of gradients
w = nn.Parameter(ja.ones(2))
class Accumulator:
    every, n = 2, 0
    def __call__(self, x):
        ((w * x).sum() / self.every).backward()
        self.n += 1
        if self.n % self.every == 0:
            with ja.no_grad(): w.sub_(w.grad)
            w.grad = None
            return True
        return False
accumulate = Accumulator()
def f(x):
    did = accumulate(x)
    return w * 1, did
# change:
accumulate.every = v

# case: a plugin system
plugins = {}
class Plugin:
    priority = 0
    def __init_subclass__(cls, name): plugins[name] = cls
    def apply(self, x): return x
class Double(Plugin, name="double"):
    def apply(self, x): return x * 2
class Shift(Plugin, name="shift"):
    priority = 1
    def apply(self, x): return x + 1
def f(x):
    for cls in sorted(plugins.values(), key=lambda cls: cls.priority): x = cls().apply(x)
    return x
# change:
Shift.priority = -Shift.priority
class Extra(Plugin, name=f"extra{v}"):
    priority = v
    def apply(self, x): return x * 3

# case: mixins and a chain of super
class Base:
    def __init__(self): self.calls = []
    def forward(self, x): return x
class Scaled(Base):
    scale = 2
    def forward(self, x):
        self.calls.append("scaled")
        return super().forward(x) * self.scale
class Shifted(Base):
    shift = 1
    def forward(self, x):
        self.calls.append("shifted")
        return super().forward(x) + self.shift
class Model(Scaled, Shifted): pass
model = Model()
def f(x): return model.forward(x)
# change:
Shifted.shift, model.scale = v, v

# case: feature flags from several places
defaults = {"fast": True, "scale": 2}
class Flags(collections.ChainMap):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name) from None
local = {}
flags = Flags(local, defaults)
def f(x): return x * flags.scale if flags.fast else x + flags.scale
# change:
local["scale"], defaults["fast"] = v, v != 3

# case: a graph of nodes that is evaluated
class Node:
    def __init__(self, op, *inputs): self.op, self.inputs, self.visits = op, inputs, 0
    def run(self, x, done):
        if id(self) not in done:
            self.visits += 1
            done[id(self)] = ops[self.op](*[node.run(x, done) for node in self.inputs] or [x])
        return done[id(self)]
ops = {"in": lambda x: x, "add": lambda a, b: a + b, "double": lambda a: a * 2}
source = Node("in")
double = Node("double", source)
out = Node("add", double, double)
def f(x): return out.run(x, {})
# change:
ops["double"] = lambda a, v=v: a * v
out.inputs = (double, source) if v == 3 else (double, double)

# case: a meter dictionary with a smoothing window
class SmoothedValue:
    def __init__(self, window=3): self.values, self.total, self.count = collections.deque(maxlen=window), 0.0, 0
    def update(self, value): self.values.append(value); self.total += value; self.count += 1
    @property
    def mean(self): return sum(self.values) / len(self.values)
    def __str__(self): return f"{self.mean:.2f} ({self.total / self.count:.2f})"
class Logger:
    def __init__(self): self.meters = collections.defaultdict(SmoothedValue)
    def update(self, **values):
        for name, value in values.items(): self.meters[name].update(value)
    def __getattr__(self, name):
        if name in self.__dict__["meters"]: return self.meters[name]
        raise AttributeError(name)
logger, o = Logger(), Box(loss=1.0)
def f(x):
    logger.update(loss=o.loss, lr=0.5)
    return x * logger.loss.mean, str(logger.lr)
# change:
o.loss = float(v)

# case: dependency injection by annotations
class Scale:
    k = 2
class Shift:
    k = 1
container = {Scale: Scale(), Shift: Shift()}
def inject(fn):
    kinds = [kind for name, kind in fn.__annotations__.items() if name != "x"]
    return functools.wraps(fn)(lambda x: fn(x, *[container[kind] for kind in kinds]))
@inject
def f(x, scale: Scale, shift: Shift): return x * scale.k + shift.k
# change:
container[Scale] = Box(k=v)

# case: an undo stack
class Document:
    def __init__(self): self.k, self.done = 2, []
    def do(self, k):
        self.done.append(self.k)
        self.k = k
    def undo(self): self.k = self.done.pop()
document = Document()
def f(x):
    document.do(document.k + 5)
    y = x * document.k
    document.undo()
    return y
# change:
document.do(v)

# case: a lazy module-level singleton
_instance = None
def instance():
    global _instance
    if _instance is None: _instance = Box(k=start, n=0)
    _instance.n += 1
    return _instance
start = 2
def f(x): return x * instance().k + instance().n
# change:
start, _instance = v, None

# case: an observable value
class Observable:
    def __init__(self, value): self._value, self._watchers = value, []
    value = property(lambda self: self._value)
    @value.setter
    def value(self, value):
        old, self._value = self._value, value
        for watcher in self._watchers: watcher(old, value)
    def watch(self, fn): self._watchers.append(fn)
seen, n = [], Observable(0)
n.watch(lambda old, new: seen.append((old, new)))
def f(x):
    n.value += 1
    return x * n.value
# change:
n.value = v

# case: a retry with a count of failures
failures = [2]
class Flaky(Exception): pass
def work(x):
    if failures[0]:
        failures[0] -= 1
        raise Flaky(failures[0])
    return x * 2
log = []
def f(x):
    for attempt in range(5):
        try: return work(x) + attempt
        except Flaky as error: log.append(error.args[0])
# change:
failures[0] = v - 2

# case: a schedule in a class hierarchy with a class method as a factory
class Schedule:
    kinds = {}
    def __init__(self, **options): self.__dict__.update(options)
    def __init_subclass__(cls): Schedule.kinds[cls.__name__.lower()] = cls
    @classmethod
    def make(cls, kind, **options): return cls.kinds[kind](**options)
class Constant(Schedule):
    def at(self, step): return self.value
class Linear(Schedule):
    def at(self, step): return self.value * min(1.0, step / self.warm)
o = Box(step=0, schedule=Schedule.make("linear", value=2.0, warm=4))
def f(x):
    o.step += 1
    return x * o.schedule.at(o.step)
# change:
o.schedule = Schedule.make("constant" if v == 3 else "linear", value=float(v), warm=2)

# case: a pipeline of generators
def read(items):
    for item in items:
        stats["read"] += 1
        yield item
def keep(items, least):
    for item in items:
        if item >= least: yield item
        else: stats["dropped"] += 1
stats, items, o = collections.Counter(), [1, 2, 3], Box(least=2)
def f(x): return x * sum(keep(read(items), o.least))
# change:
o.least = v

# case: an interpreter of a small language
program = [("push", 2), ("mul", None), ("push", 1), ("add", None)]
def f(x):
    stack = [x]
    for op, arg in program:
        match op:
            case "push": stack.append(arg)
            case "mul": stack.append(stack.pop() * stack.pop())
            case "add": stack.append(stack.pop() + stack.pop())
    return stack.pop()
# change:
program[0] = ("push", v)
