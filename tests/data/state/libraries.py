"""Objects of libraries: models of pydantic, bars of tqdm (A4)."""
# ruff: noqa
# fmt: off

# case: a pydantic model
import pydantic
class C(pydantic.BaseModel): k: int = 2
c = C()
def f(x): return x * c.k
# change:
c.k = v

# case: model_dump of a pydantic model
import pydantic
class C(pydantic.BaseModel): k: int = 2
c = C()
def f(x): return x * c.model_dump()["k"]
# change:
c.k = v

# case: a pydantic model in a pydantic model
import pydantic
class D(pydantic.BaseModel): k: int = 2
class C(pydantic.BaseModel): d: D = D()
c = C()
def f(x): return x * c.d.k
# change:
c.d.k = v

# case: model_copy of a pydantic model
import pydantic
class C(pydantic.BaseModel): k: int = 2; j: int = 3
c = C()
def f(x): return x * c.model_copy(update={"j": 1}).k
# change:
c.k = v

# case: A4: a bar of tqdm
import tqdm
_out = open(os.devnull, "w")
_bar = tqdm.tqdm(total=40, file=_out)
def f(x):
    _bar.update(1)
    return x * 2
# change:
_bar.n = v
# look: _bar.n
# after:
_bar.close(), _out.close()

# case: A4: a bar of tqdm around a loop
import tqdm
_out = open(os.devnull, "w")
o = Box(n=2)
def f(x):
    for i in tqdm.tqdm(range(o.n), file=_out): x = x + i
    return x
# change:
o.n = v
