"""What reads an object whole, or as text: vars, copies, pickles, dataclasses, dir, code in strings, formats."""
# ruff: noqa
# fmt: off

# case: vars
o = Box(k=2)
def f(x): return x * vars(o)["k"]
# change:
o.k = v

# case: the sum of vars
o = Box(a=1, b=2)
def f(x): return x * sum(vars(o).values())
# change:
o.b = v

# case: vars with an attribute added
o = Box(a=1)
def f(x): return x * len(vars(o))
# change:
o.c = v
# back:
del o.c

# case: vars written
o = Box(n=0)
def f(x):
    vars(o)["n"] += 1
    return x * o.n
# change:
o.n = v

# case: __dict__
o = Box(k=2)
def f(x): return x * o.__dict__["k"]
# change:
o.k = v

# case: __dict__ in a loop
o = Box(a=1, b=2)
def f(x):
    for name, value in o.__dict__.items(): x = x * value + len(name)
    return x
# change:
o.ccc = v
# back:
del o.ccc

# case: the order of __dict__
o = Box(a=1, b=2)
def f(x):
    for value in o.__dict__.values(): x = x * 2 + value
    return x
# change:
o.__dict__ = dict(reversed(o.__dict__.items()))

# case: __dict__ updated
o = Box(n=0)
def f(x):
    o.__dict__.update(n=o.n + 1, m=o.n)
    return x * o.n
# change:
o.n = v

# case: __dict__ replaced
o = Box(k=2)
def f(x): return x * o.k
# change:
o.__dict__ = {"k": v}

# case: __dict__ replaced by the function
o = Box(n=1)
def f(x):
    o.__dict__ = {"n": o.n + 1}
    return x * o.n
# change:
o.n = v

# case: __dict__ shared by two objects
o, p = Box(k=2), Box()
p.__dict__ = o.__dict__
def f(x):
    p.k += 1
    return x * o.k
# change:
o.k = v

# case: a name in vars
o = Box(k=2)
def f(x): return x * 2 if "j" in vars(o) else x
# change:
o.j = v
# back:
del o.j

# case: vars held from outside
o = Box(k=2)
d = vars(o)
def f(x): return x * d["k"]
# change:
o.k = v

# case: vars through an attrgetter
o = Box(k=2)
get = operator.attrgetter("__dict__")
def f(x): return x * get(o)["k"]
# change:
o.k = v

# case: copy.copy
o = Box(k=2)
def f(x): return x * copy.copy(o).k
# change:
o.k = v

# case: copy.copy, the list inside shared
o = Box(ks=[2])
def f(x):
    c = copy.copy(o)
    c.ks.append(1)
    return x * sum(c.ks)
# change:
o.ks[0] = v

# case: copy.deepcopy
o = Box(a=Box(ks=[2]))
def f(x):
    c = copy.deepcopy(o)
    c.a.ks.append(1)
    return x * sum(c.a.ks)
# change:
o.a.ks[0] = v

# case: copy.deepcopy of a dict of lists
d = {"a": [1, 2]}
def f(x):
    c = copy.deepcopy(d)
    c["a"].pop()
    return x * sum(c["a"]) + len(d["a"])
# change:
d["a"].append(v)

# case: deepcopy of an object with slots
class A: __slots__ = ("k",)
o = A(); o.k = 2
def f(x): return x * copy.deepcopy(o).k
# change:
o.k = v

# case: __copy__ with an effect
class A:
    n = 0
    def __copy__(self):
        self.n += 1
        return Box(k=self.n)
o = A()
def f(x): return x * copy.copy(o).k
# change:
o.n = v

# case: __deepcopy__ that reads
class A:
    k = 2
    def __deepcopy__(self, memo): return Box(k=self.k)
o = A()
def f(x): return x * copy.deepcopy(o).k
# change:
o.k = v

# case: __reduce__ in a copy
class A:
    k = 2
    def __reduce__(self): return (make, (self.k,))
def make(k): return Box(k=k)
o = A()
def f(x): return x * copy.copy(o).k
# change:
o.k = v

# case: __getstate__ in a copy
class A:
    k = 2
    def __getstate__(self): return {"k": self.k + 1}
o = A()
def f(x): return x * copy.copy(o).k
# change:
o.k = v

# case: pickle
o = Box(k=2)
def f(x): return x * pickle.loads(pickle.dumps(o)).k
# change:
o.k = v

# case: pickle of a nested object
o = Box(a=Box(ks=[1, 2]))
def f(x): return x * sum(pickle.loads(pickle.dumps(o)).a.ks)
# change:
o.a.ks[1] = v

# case: __getstate__ and __setstate__ with effects
log = []
class A:
    k = 2
    def __getstate__(self):
        log.append("get")
        return {"k": self.k}
    def __setstate__(self, state):
        log.append("set")
        self.k = state["k"]
o = A()
def f(x): return x * pickle.loads(pickle.dumps(o)).k + len(log)
# change:
o.k = v

# case: the length of a pickle
o = Box(s="ab")
def f(x): return x * (len(pickle.dumps(o)) - 50)
# change:
o.s = "a" * v

# case: json.dumps
d = {"k": [1, 2]}
def f(x): return x * len(json.dumps(d))
# change:
d["k"].append(v)

# case: json.loads of a global string
s = '{"k": 2}'
def f(x): return x * json.loads(s)["k"]
# change:
s = '{"k": %d}' % v

# case: json.dumps with a default that reads
o = Box(k="ab")
def f(x): return x * len(json.dumps([o], default=lambda o: o.k))
# change:
o.k = "a" * v

# case: dataclasses.replace
@dataclasses.dataclass
class C: a: int = 1; b: int = 2
c = C()
def f(x): return x * dataclasses.replace(c, a=5).b
# change:
c.b = v

# case: dataclasses.asdict
@dataclasses.dataclass
class C: a: int = 1; b: int = 2
c = C()
def f(x): return x * dataclasses.asdict(c)["b"]
# change:
c.b = v

# case: dataclasses.asdict, nested
@dataclasses.dataclass
class D: ks: list = dataclasses.field(default_factory=lambda: [1, 2])
@dataclasses.dataclass
class C: d: D = dataclasses.field(default_factory=D)
c = C()
def f(x): return x * sum(dataclasses.asdict(c)["d"]["ks"])
# change:
c.d.ks[1] = v

# case: dataclasses.astuple
@dataclasses.dataclass
class C: a: int = 1; b: int = 2
c = C()
def f(x): return x * sum(dataclasses.astuple(c))
# change:
c.b = v

# case: dataclasses.fields
@dataclasses.dataclass
class C: a: int = 1; b: int = 2
c = C()
def f(x):
    for field in dataclasses.fields(c): x = x * getattr(c, field.name)
    return x
# change:
c.b = v

# case: metadata of a field
@dataclasses.dataclass
class C: a: int = dataclasses.field(default=1, metadata={"on": True})
c, on = C(), [2]
def f(x): return x * on[0] if dataclasses.fields(C)[0].metadata["on"] else x
# change:
on[0] = v

# case: a dataclass with slots
@dataclasses.dataclass(slots=True)
class C: a: int = 1
c = C()
def f(x): return x * dataclasses.asdict(c)["a"]
# change:
c.a = v

# case: the repr of a dataclass
@dataclasses.dataclass
class C: a: int = 1
c = C()
def f(x): return x, repr(c)
# change:
c.a = v

# case: dir
o = Box(k=2)
def f(x): return x * len([n for n in dir(o) if n.startswith("k")])
# change:
o.k2 = v
# back:
del o.k2

# case: dir of a class
class A: k1 = 2
def f(x): return x * len([n for n in dir(A) if n.startswith("k")])
# change:
A.k2 = v
# back:
del A.k2

# case: a loop over dir with getattr
class A: pass
o = A(); o.k1, o.k2 = 1, 2
def f(x): return x * sum([getattr(o, n) for n in dir(o) if n[0] == "k"])
# change:
o.k2 = v

# case: inspect.getmembers
o = Box(k=2)
def f(x): return x * dict(inspect.getmembers(o))["k"]
# change:
o.k = v

# case: __dir__ of a class
class A:
    names = ["a"]
    def __dir__(self): return self.names
o = A()
def f(x): return x * len(dir(o))
# change:
A.names.append("b")

# case: locals
k = 2
def f(x):
    a = k
    return x * locals()["a"]
# change:
k = v

# case: eval
k = 2
def f(x): return x * eval("k + 1")
# change:
k = v

# case: eval of a global string
text = "2 + 1"
def f(x): return x * eval(text)
# change:
text = f"{v} + 1"

# case: eval with a dict
names = {"k": 2}
def f(x): return x * eval("k + 1", {}, names)
# change:
names["k"] = v

# case: eval of an attribute
o = Box(k=2)
def f(x): return x * eval("o.k")
# change:
o.k = v

# case: exec
k = 2
def f(x):
    space = {"k": k}
    exec("y = k + 1", space)
    return x * space["y"]
# change:
k = v

# case: exec that writes globals
n = 0
def f(x):
    exec("global n; n += 1")
    return x * n
# change:
n = v

# case: exec of compiled code
k = 2
code = compile("y = k + 1", "<code>", "exec")
def f(x):
    space = {"k": k}
    exec(code, space)
    return x * space["y"]
# change:
k, code = v, compile(f"y = k + {v}", "<code>", "exec")

# case: a function made by exec
space = {"k": 2}
exec("def g(x): return x * k", space)
def f(x): return space["g"](x)
# change:
space["k"] = v

# case: types.FunctionType made inside
space = {"k": 2}
def g(x): return x * k
def f(x): return types.FunctionType(g.__code__, space)(x)
# change:
space["k"] = v

# case: an f-string of an attribute
o = Box(k=2)
def f(x): return x, f"{o.k}-{o.k!r:>4}"
# change:
o.k = v

# case: an f-string of a float
o = Box(k=0.5)
def f(x): return x, f"{o.k:.2f}"
# change:
o.k = v / 4

# case: an f-string with a width from outside
o = Box(w=2)
def f(x): return x, f"{7:{o.w}d}"
# change:
o.w = v

# case: a format field with an attribute
o = Box(k=2)
def f(x): return x, "{0.k}".format(o)
# change:
o.k = v

# case: a format field with a nested attribute and an index
o = Box(a=Box(ks=[1, 2]))
def f(x): return x, "{o.a.ks[1]}".format(o=o)
# change:
o.a.ks[1] = v

# case: a format string from outside
o, text = Box(k=2, j=5), "{0.k}"
def f(x): return x * int(text.format(o))
# change:
text = "{0.j}" if v == 3 else "{0.k}"

# case: format_map
d = {"k": 2}
def f(x): return x, "{k}".format_map(d)
# change:
d["k"] = v

# case: percent formatting of a dict
d = {"k": 2}
def f(x): return x, "%(k)03d" % d
# change:
d["k"] = v

# case: a string template
t = string.Template("$k")
d = {"k": 2}
def f(x): return x * int(t.substitute(d))
# change:
d["k"] = v

# case: str.join of attributes
items = [Box(s="a"), Box(s="b")]
def f(x): return x * len(",".join(o.s for o in items))
# change:
items[1].s = "b" * v

# case: __format__ with an effect
class A:
    n = 0
    def __format__(self, spec):
        self.n += 1
        return f"{self.n}{spec}"
o = A()
def f(x): return x, f"{o:ab}"
# change:
o.n = v

# case: __str__ that reads
class A:
    k = 2
    def __str__(self): return "a" * self.k
o = A()
def f(x): return x * len(str(o))
# change:
o.k = v

# case: __repr__ of an item in the repr of a list
class A:
    k = 2
    def __repr__(self): return "a" * self.k
items = [A()]
def f(x): return x * len(repr(items))
# change:
items[0].k = v

# case: the repr of a list
items = [1, "a"]
def f(x): return x, repr(items)
# change:
items.append(v)

# case: hash of a tuple from outside
o = Box(t=(1, 2))
def f(x): return x * (hash(o.t) % 97)
# change:
o.t = (1, v)

# case: sys.getsizeof
items = [1]
def f(x): return x * (sys.getsizeof(items) > 100)
# change:
items.extend(range(100))
# back:
del items[1:]

# case: a regular expression from outside
o = Box(r=re.compile("a+"))
def f(x): return x * len(o.r.match("aabb").group())
# change:
o.r = re.compile("a" if v == 3 else "a+")

# case: the groups of a match from outside
o = Box(m=re.match("(a+)b", "aab"))
def f(x): return x * len(o.m.group(1))
# change:
o.m = re.match("(a+)b", "a" * v + "b")
