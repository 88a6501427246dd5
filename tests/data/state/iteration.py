"""Iteration: over what lies outside, by iterators and generators that are held outside or made inside."""
# ruff: noqa
# fmt: off

# case: a loop over a list
l = [1, 2]
def f(x):
    for k in l: x = x * k
    return x
# change:
l.append(v)

# case: zip of two lists
a, b = [1, 2], [3, 4]
def f(x):
    for i, j in zip(a, b): x = x * i + j
    return x
# change:
b[1] = v

# case: zip of lists of unequal lengths
a, b = [1, 2, 3], [3, 4]
def f(x): return x * len(list(zip(a, b)))
# change:
b.append(v)

# case: strict zip
a, b = [1, 2], [3, 4]
def f(x):
    try: return x * len(list(zip(a, b, strict=True)))
    except ValueError: return x * 9
# change:
b.append(v)
# back:
del b[2:]

# case: enumerate
l = [1, 2]
def f(x):
    for i, k in enumerate(l, 1): x = x * i + k
    return x
# change:
l[1] = v

# case: map
l = [1, 2]
def g(k): return k + 1
def f(x): return x * sum(map(g, l))
# change:
l[1] = v

# case: map of two lists
a, b = [1, 2], [3, 4]
def f(x): return x * sum(map(operator.mul, a, b))
# change:
b[1] = v

# case: map of a method
class A:
    k = 2
    def m(self, i): return self.k * i
a = A()
def f(x): return x * sum(map(a.m, [1, 2]))
# change:
a.k = v

# case: map with an effect
seen = []
def g(k): seen.append(k); return k
def f(x): return x * sum(map(g, [1, 2]))
# change:
seen.clear()

# case: filter
l, least = [1, 2, 3], 2
def f(x): return x * sum(filter(lambda k: k >= least, l))
# change:
least = v

# case: reversed
l = [1, 2]
def f(x):
    for k in reversed(l): x = x * 2 + k
    return x
# change:
l[0] = v

# case: sorted, min, max, sum, any, all
l = [3, 1, 2]
def f(x): return x * sorted(l)[0] + min(l) + max(l) + sum(l) + any(l) + all(l)
# change:
l[1] = v

# case: itertools over lists
a, b = [1, 2], [3]
def f(x): return x * sum(itertools.chain(a, b)) + len(list(itertools.product(a, b))) + sum(itertools.accumulate(a))
# change:
b.append(v)

# case: itertools.islice of a list
l = [1, 2, 3]
def f(x): return x * sum(itertools.islice(l, 1, None))
# change:
l[2] = v

# case: itertools.groupby
l = [Box(g=1, k=2), Box(g=1, k=3), Box(g=2, k=4)]
def f(x):
    for key, group in itertools.groupby(l, key=lambda o: o.g): x = x * sum(o.k for o in group) + key
    return x
# change:
l[1].g = v

# case: itertools.compress and takewhile
l, on = [1, 2, 3], [1, 0, 1]
def f(x): return x * sum(itertools.compress(l, on)) + len(list(itertools.takewhile(bool, on)))
# change:
on[1] = 1 - on[1]

# case: itertools.chain.from_iterable
ll = [[1], [2]]
def f(x): return x * sum(itertools.chain.from_iterable(ll))
# change:
ll[1].append(v)

# case: itertools.pairwise and zip_longest
l = [1, 2, 3]
def f(x): return x * sum(a * b for a, b in itertools.pairwise(l)) + len(list(itertools.zip_longest(l, [1])))
# change:
l.append(v)

# case: an iterator held outside
it = iter([1, 2, 3, 4, 5, 6, 7, 8])
def f(x): return x * next(it)
# change:
it = iter([v] * 8)

# case: an iterator held outside, with a default
it = iter([1, 2])
def f(x): return x * next(it, 9)
# change:
it = iter([v])

# case: an iterator held outside, in a loop
it = iter([1, 2])
def f(x):
    for k in it: x = x + k
    return x
# change:
it = iter([v])

# case: a generator held outside
def g():
    k = 0
    while True:
        k += 1
        yield k
it = g()
def f(x): return x * next(it)
# change:
next(it)

# case: a generator that is sent to
def g():
    k = 1
    while True: k = (yield k) or k + 1
it = g()
next(it)
def f(x): return x * it.send(None)
# change:
it.send(v * 10)

# case: a generator in an attribute
def g():
    yield from range(1, 30)
o = Box(it=g())
def f(x): return x * next(o.it)
# change:
o.it = g()

# case: itertools.count
it = itertools.count(1)
def f(x): return x * next(it)
# change:
it = itertools.count(v)

# case: itertools.cycle
it = itertools.cycle([1, 2])
def f(x): return x * next(it)
# change:
it = itertools.cycle([v])

# case: itertools.repeat
it = itertools.repeat(2)
def f(x): return x * next(it)
# change:
it = itertools.repeat(v)

# case: zip held outside
it = zip([1, 2, 3, 4, 5, 6, 7, 8], [2] * 8)
def f(x):
    a, b = next(it)
    return x * a + b
# change:
next(it)

# case: enumerate held outside
it = enumerate([5] * 20)
def f(x):
    i, k = next(it)
    return x * i + k
# change:
next(it)

# case: map held outside
seen = []
it = map(seen.append, range(20))
def f(x):
    next(it)
    return x * len(seen)
# change:
next(it)

# case: an iterator of a dict held outside
d = {i: i + 1 for i in range(20)}
it = iter(d.items())
def f(x):
    key, value = next(it)
    return x * value
# change:
next(it)

# case: an iterator held by a bound method
it = itertools.count(1).__next__
def f(x): return x * it()
# change:
it()

# case: iter of a function and a sentinel
l = [1, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0]
def f(x): return x * sum(iter(lambda: l.pop(0), 0))
# change:
l.insert(0, v)

# case: a generator made inside that reads
k = 2
def g():
    for i in range(3): yield i * k
def f(x): return x * sum(g())
# change:
k = v

# case: a generator made inside that writes
log = []
def g():
    for i in range(2):
        log.append(i)
        yield i
def f(x):
    for i in g(): x = x + i
    return x
# change:
log.clear()

# case: a generator expression over a global
l, k = [1, 2], 2
def f(x): return x * sum(i * k for i in l)
# change:
k, l[1] = v, v

# case: a generator with finally
log = []
def g():
    try:
        yield 1
        yield 2
    finally: log.append("closed")
def f(x):
    it = g()
    y = x * next(it)
    it.close()
    return y
# change:
log.clear()

# case: a generator that is thrown into
log = []
def g():
    while True:
        try: yield 1
        except ValueError as error: log.append(str(error))
def f(x):
    it = g()
    next(it)
    it.throw(ValueError("a"))
    return x * 2
# change:
log.append(v)

# case: yield from with a result
k = 2
def g():
    yield 1
    return k
def h(): return (yield from g())
def f(x):
    it = h()
    next(it)
    try: next(it)
    except StopIteration as stop: return x * stop.value
# change:
k = v

# case: a generator that is a coroutine for averages
def averages():
    total = n = 0
    mean = None
    while True:
        total, n = total + (yield mean), n + 1
        mean = total / n
def f(x):
    it = averages()
    next(it)
    for k in l: mean = it.send(k)
    return x * mean
l = [1, 2]
# change:
l.append(v)

# case: a nested comprehension
ll = [[1, 2], [3]]
def f(x): return x * sum([k for row in ll for k in row])
# change:
ll[1].append(v)

# case: a loop with else
l = [1, 2]
def f(x):
    for k in l:
        if k == 3: return x * 9
    else: x = x * 2
    return x
# change:
l[1] = v

# case: a loop that changes its list
l = [1, 2, 3]
def f(x):
    for k in list(l):
        if k == 3: l.remove(k)
    return x * len(l)
# change:
l.append(3)

# case: a while loop over a list that empties
l = [1, 2]
def f(x):
    while l: x = x * l.pop()
    return x
# change:
l.extend([1, v])

# case: an iterator class over a global list
class Batches:
    def __init__(self, items): self.items = items
    def __iter__(self):
        for i in range(0, len(self.items), 2): yield self.items[i : i + 2]
items = [1, 2, 3]
batches = Batches(items)
def f(x):
    for batch in batches: x = x * sum(batch)
    return x
# change:
items.append(v)

# case: an iterator class with a position
class Loader:
    at = 0
    items = [1, 2, 3]
    def __iter__(self): return self
    def __next__(self):
        item = self.items[self.at % 3]
        self.at += 1
        return item
loader = Loader()
def f(x): return x * next(loader)
# change:
loader.at = v

# case: tee
def f(x):
    a, b = itertools.tee(l)
    return x * sum(a) + next(b)
l = [1, 2]
# change:
l[0] = v
