"""What a function could see of being watched: classes, frames, tools and collections are as they are eagerly."""
# ruff: noqa
# fmt: off

# case: what a class has of its own
class A: k = 2
o = A()
def f(x):
    o.k
    return x * o.k, sorted(vars(A))
# change:
A.k = v

# case: whether a class has its own __getattribute__
class A: k = 2
o = A()
def f(x):
    o.k
    return x * o.k, type(o).__getattribute__ is object.__getattribute__, "__getattribute__" in A.__dict__
# change:
A.k = v

# case: whether a class has its own __setattr__
class A: k = 2
o = A()
def f(x):
    o.k = o.k + 1
    return x * o.k, type(o).__setattr__ is object.__setattr__, "__setattr__" in vars(A), "__delattr__" in vars(A)
# change:
o.k = v

# case: the dir of an object that was read
class A: k = 2
o = A()
def f(x):
    o.k
    return x * o.k, len(dir(o)) - len(dir(object()))
# change:
A.k = v

# case: the members of a class by inspect
class A:
    k = 2
    def m(self): pass
o = A()
def f(x): return x * o.k, [name for name, member in inspect.getmembers(A, inspect.isfunction)]
# change:
A.k = v

# case: the class after the calls
class A: k = 2
o = A()
def f(x):
    o.j = 1
    return x * o.k
# change:
o.k = v
# look: (sorted(vars(A)), A.__getattribute__ is object.__getattribute__, A.__setattr__ is object.__setattr__)

# case: the class after a call that raises
class A: k = 2
o = A()
def f(x):
    if o.k == 3: raise ValueError("three")
    return x * o.k
# change:
o.k = v
# look: (sorted(vars(A)), A.__getattribute__ is object.__getattribute__, A.__setattr__ is object.__setattr__)

# case: the class after a call that runs eagerly
class A: k = 2
o = A()
random.seed(3)
def f(x): return x * o.k * random.randint(1, 9)
# change:
o.k = v
# look: (sorted(vars(A)), A.__getattribute__ is object.__getattribute__, A.__setattr__ is object.__setattr__)

# case: a class made inside from one that was read
class A:
    k = 2
    def m(self): return self.k
o = A()
made = []
def f(x):
    o.k
    class B(A): pass
    return x * B().m(), sorted(n for n in vars(B) if "attr" in n)
# change:
A.k = v

# case: a class made inside that is kept
class A: k = 2
o = A()
kinds = {}
def f(x):
    if "B" not in kinds: kinds["B"] = type("B", (A,), {"j": 3})
    return x * kinds["B"]().j * o.k
# change:
A.k = v

# case: __getattribute__ in two classes of a chain
log = []
class A:
    def __getattribute__(self, name):
        log.append("A")
        return super().__getattribute__(name)
class B(A):
    def __getattribute__(self, name):
        log.append("B")
        return super().__getattribute__(name)
o = B(); object.__setattr__(o, "k", 2)
def f(x): return x * o.k
# change:
log.clear()

# case: __setattr__ in two classes of a chain
log = []
class A:
    def __setattr__(self, name, value):
        log.append("A")
        super().__setattr__(name, value)
class B(A):
    def __setattr__(self, name, value):
        log.append("B")
        super().__setattr__(name, value)
o = B()
def f(x):
    o.k = 2
    return x * o.k
# change:
log.clear()

# case: __getattr__ after a missing attribute, once
log = []
class A:
    def __getattr__(self, name):
        log.append(name)
        raise AttributeError(name)
o = A()
def f(x): return x * getattr(o, "k", 2)
# change:
log.clear()

# case: an AttributeError with the usual text
o = Box()
def f(x):
    try: o.missing
    except AttributeError as error: return x, str(error), error.name, error.obj is o
# change:
o.j = v

# case: an AttributeError of a slot
class A: __slots__ = ("k",)
o = A()
def f(x):
    try: return x * o.k
    except AttributeError as error: return x, str(error)
# change:
o.k = v
# back:
del o.k

# case: a write that is refused by slots
class A: __slots__ = ("k",)
o = A(); o.k = 2
def f(x):
    try: o.j = 1
    except AttributeError as error: return x * o.k, str(error)
# change:
o.k = v

# case: a frozen dataclass that refuses
@dataclasses.dataclass(frozen=True)
class C: k: int = 2
o = Box(c=C())
def f(x):
    try: o.c.k = 3
    except dataclasses.FrozenInstanceError as error: return x * o.c.k, str(error)
# change:
o.c = C(v)

# case: object.__setattr__ on a frozen dataclass
@dataclasses.dataclass(frozen=True)
class C: n: int = 0
c = C()
def f(x):
    object.__setattr__(c, "n", c.n + 1)
    return x * c.n
# change:
object.__setattr__(c, "n", v)

# case: generic classes and protocols
T = typing.TypeVar("T")
class A(typing.Generic[T]):
    def __init__(self, k): self.k = k
class P(typing.Protocol):
    k: int
class B(A[int], P): pass
b = B(2)
def f(x):
    b.k = b.k + 1
    return x * b.k
# change:
b.k = v

# case: an abstract class and its methods
class A(abc.ABC):
    @abc.abstractmethod
    def m(self): ...
class B(A):
    k = 2
    def m(self): return self.k
b = B()
def f(x): return x * b.m(), sorted(A.__abstractmethods__)
# change:
b.k = v

# case: the name of the function that runs
def g(): return sys._getframe().f_code.co_name
def f(x): return x * 2, g()
# change:
pass

# case: the caller of a function
def g(): return sys._getframe(1).f_code.co_name
def f(x): return x * 2, g()
# change:
pass

# case: the line of an exception
def g(): raise ValueError
def f(x):
    try: g()
    except ValueError as error: return x * 2, error.__traceback__.tb_next.tb_frame.f_code.co_name
# change:
pass

# case: a compiled function that is called
k = 2
def g(x): return x * k
_inner = ja.compile(g)
def f(x): return _inner(x) + 1
# change:
k = v

# case: a compiled function that is called inside and outside
o = Box(n=0)
def g(x):
    o.n += 1
    return x * o.n
_inner = ja.compile(g)
def f(x): return _inner(x) + 1
# change:
_inner(x)

# case: two compiled functions over one object
o = Box(n=0, k=2)
def g(x):
    o.n += o.k
    return x * o.n
_other = ja.compile(g)
def f(x):
    o.k += 1
    return x * o.n
# change:
_other(x)

# case: a function that is called eagerly between
o = Box(n=0)
def f(x):
    o.n += 1
    return x * o.n
# change:
f(x)

# case: a function that calls itself through a global
o = Box(depth=2, calls=0)
def f(x):
    o.calls += 1
    if o.depth == 0: return x * o.calls
    o.depth -= 1
    try: return f(x)
    finally: o.depth += 1
# change:
o.depth = v

# case: a thread that is joined inside
o = Box(n=0)
def work(): o.n += 1
def f(x):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return x * 2
# change:
o.n = v

# case: a profile that the user has set
calls = []
def f(x): return x * 2, sys.getprofile() is None
# change:
pass

# case: objects that are collected
class A:
    alive = 0
    def __init__(self): A.alive += 1
    def __del__(self): A.alive -= 1
def f(x):
    a = A()
    k = A.alive
    del a
    return x * k + A.alive
# change:
pass
# look: A.alive

# case: a weak reference to an object made inside
refs = []
class A: pass
def f(x):
    a = A()
    refs.append(weakref.ref(a))
    return x * 2
# change:
pass
# look: [r() for r in refs]

# case: an object that nothing holds after the call
o = Box(cur=Box(k=2))
_ref = weakref.ref(o.cur)
def f(x):
    k = o.cur.k
    o.cur = Box(k=k + 1)
    return x * k
# change:
o.cur = Box(k=v)
_ref = weakref.ref(o.cur)
# look: _ref() is None

# case: the identity of a kept object
o = Box(k=2)
kept = []
def f(x):
    kept.append(o)
    return x * o.k, kept[0] is kept[-1]
# change:
o = Box(k=v)

# case: the hash of an object stays
o = Box(k=2)
d = {o: 1}
def f(x):
    o.k += 1
    return x * d[o] * o.k
# change:
o.k = v
