"""What is not read of objects of libraries."""
# ruff: noqa
# fmt: off

# case: an unread field of a pydantic model
import pydantic
class C(pydantic.BaseModel): k: int = 2; j: int = 2
c = C()
def f(x): return x * c.k
# change:
c.j = v

# case: an unread field of a pydantic model in another
import pydantic
class D(pydantic.BaseModel): k: int = 2; j: int = 2
class C(pydantic.BaseModel): d: D = D(); j: int = 2
c = C()
def f(x): return x * c.d.k
# change:
c.j = c.d.j = v
