"""Containers: items, order, length, views and methods of all kinds, nested, held from outside, subclassed."""
# ruff: noqa
# fmt: off

# case: an item of a list
l = [1, 2]
def f(x): return x * l[1]
# change:
l[1] = v

# case: an item of a list in an attribute
o = Box(l=[1, 2])
def f(x): return x * o.l[1]
# change:
o.l[1] = v

# case: the length of a list
l = [1]
def f(x): return x * len(l)
# change:
l.append(v)

# case: a slice of a list
l = [1, 2, 3]
def f(x): return x * sum(l[1:])
# change:
l[2] = v

# case: a negative index
l = [1, 2]
def f(x): return x * l[-1]
# change:
l.append(v)

# case: the truth of a list
l = []
def f(x): return x * 2 if l else x
# change:
l.append(v)
# back:
l.clear()

# case: in a list of plain values
l = [1, 2]
def f(x): return x * 2 if 3 in l else x
# change:
l.append(3)
# back:
del l[2:]

# case: a list replaced in place
l = [1, 2]
def f(x): return x * sum(l)
# change:
l[:] = [v, v, v]

# case: a list that is sorted
l = [2, 1]
def f(x):
    l.sort()
    return x * l[0]
# change:
l.insert(0, v)

# case: a list sorted with a key
l = [Box(k=2, y=1), Box(k=1, y=3)]
def f(x):
    l.sort(key=lambda o: o.k)
    return x * l[0].y
# change:
l[0].k = v

# case: a list sorted in reverse by a global key
table = {"a": 2, "b": 1}
l = ["a", "b"]
def f(x): return x * table[sorted(l, key=table.get)[0]]
# change:
table["b"] = v

# case: a list that is reversed
l = [1, 2]
def f(x):
    l.reverse()
    return x * l[0]
# change:
l[0] = v

# case: append
l = []
def f(x):
    l.append(1)
    return x + 1
# change:
l.clear()

# case: append and the length
l = []
def f(x):
    l.append(1)
    return x * len(l)
# change:
l.clear()

# case: extend, insert and pop
l = [1, 2]
def f(x):
    l.extend([3, 4])
    l.insert(0, 5)
    return x * l.pop() + l.pop(1)
# change:
l.append(v)

# case: del of an item and of a slice
l = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
def f(x):
    del l[0]
    if len(l) > 12: del l[:1]
    return x * l[0]
# change:
l[0] = v

# case: remove
l = [1, 2, 1, 2, 1, 2, 1, 2]
def f(x):
    if 1 in l: l.remove(1)
    return x * l[0] + len(l)
# change:
l.append(1)

# case: an item that counts
l = [0]
def f(x):
    l[0] += 1
    return x * l[0]
# change:
l[0] = v

# case: a list appended through an alias
l = []
o = Box(l=l)
def f(x):
    o.l.append(1)
    return x * len(l)
# change:
l.clear()

# case: a list appended by a method kept from outside
l = []
add = l.append
def f(x):
    add(1)
    return x * 2
# change:
l.clear()

# case: a list extended by itself
l = [1]
def f(x):
    if len(l) < 8: l.extend(l)
    return x * len(l)
# change:
del l[1:]

# case: a list of tensors
l = [ja.ones(2), ja.ones(2) * 2]
def f(x): return x * l[0] + l[1]
# change:
l[1] = ja.ones(2) * v

# case: a list of tensors that grows
l = []
def f(x):
    l.append(x * 2)
    return x + len(l)
# change:
l.clear()

# case: a list of tensors, swapped
l = [ja.ones(2), ja.ones(2) * 2]
def f(x):
    l[0], l[1] = l[1], l[0]
    return x * l[0]
# change:
l[0] = ja.ones(2) * v

# case: list times and plus
l = [1]
def f(x): return x * len(l * 2 + l)
# change:
l.append(v)

# case: a list written with +=
l = [1]
def f(x):
    global l
    l += [2]
    return x * len(l)
# change:
del l[1:]

# case: a list compared
l = [1, 2]
def f(x): return x * 2 if l == [1, 2] else x
# change:
l[1] = v

# case: an unpacked list
l = [1, 2, 3]
def f(x):
    a, *b = l
    return x * a + sum(b)
# change:
l[2] = v

# case: a starred call
l = [1, 2]
def g(*args): return sum(args)
def f(x): return x * g(*l)
# change:
l.append(v)

# case: a copy of a list
l = [1, 2]
def f(x):
    c = l.copy()
    c.append(3)
    return x * sum(c) + sum(list(l))
# change:
l[1] = v

# case: a tuple of lists
t = ([1], [2])
def f(x): return x * t[1][0]
# change:
t[1][0] = v

# case: three deep
d = {"a": [{"b": (1, [2])}]}
def f(x): return x * d["a"][0]["b"][1][0]
# change:
d["a"][0]["b"][1][0] = v

# case: three deep, the middle replaced
d = {"a": [{"b": 2}]}
def f(x): return x * d["a"][0]["b"]
# change:
d["a"][0] = {"b": v}

# case: three deep, written
d = {"a": [{"n": 0}]}
def f(x):
    d["a"][0]["n"] += 1
    return x * d["a"][0]["n"]
# change:
d["a"][0]["n"] = v

# case: one list twice in a list
inner = [1]
l = [inner, inner]
def f(x):
    l[0].append(1)
    return x * len(l[1])
# change:
l[1] = list(l[1])

# case: a list that holds itself
l = [1]
l.append(l)
def f(x): return x * l[1][1][0]
# change:
l[0] = v

# case: an item of a dict
d = {"k": 2}
def f(x): return x * d["k"]
# change:
d["k"] = v

# case: a missing key
d = {}
def f(x):
    try: return x * d["k"]
    except KeyError: return x
# change:
d["k"] = v
# back:
d.clear()

# case: get with a default
d = {}
def f(x): return x * d.get("k", 7)
# change:
d["k"] = v
# back:
d.clear()

# case: a key in a dict
d = {}
def f(x): return x * 2 if "k" in d else x
# change:
d["k"] = v
# back:
d.clear()

# case: a computed key
d = {"k1": 2}
def f(x): return x * d["k" + str(1)]
# change:
d["k1"] = v

# case: a key from elsewhere
d, key = {"a": 2, "b": 3}, "a"
def f(x): return x * d[key]
# change:
key = "b" if key == "a" else "a"

# case: a tuple as a key
d = {(1, "a"): 2}
def f(x): return x * d[1, "a"]
# change:
d[1, "a"] = v

# case: a float key that equals an int
d = {1: 2}
def f(x): return x * d[1.0]
# change:
d[1] = v

# case: the order of a dict
d = {"a": 1, "b": 2}
def f(x):
    y = 0
    for value in d.values(): y = y * 10 + value
    return x * y
# change:
d["a"] = d.pop("a")

# case: the order of the keys of a dict
d = {"a": 1, "b": 2}
def f(x): return x, list(d)
# change:
d["a"] = d.pop("a")

# case: the first key of a dict
d = {"a": 1, "b": 2}
def f(x): return x * d[next(iter(d))]
# change:
first = next(iter(d))
d[first] = d.pop(first)

# case: a loop over items
d = {"a": 1, "b": 2}
def f(x):
    for key, value in d.items(): x = x * value + len(key)
    return x
# change:
d["b"] = v

# case: the keys of a dict held from outside
d = {"a": 1}
keys = d.keys()
def f(x): return x * len(keys)
# change:
d[f"b{v}"] = 1

# case: the values of a dict held from outside
d = {"a": 1, "b": 2}
values = d.values()
def f(x): return x * sum(values)
# change:
d["b"] = v

# case: the items of a dict held from outside
d = {"a": 1, "b": 2}
items = d.items()
def f(x):
    for key, value in items: x = x * value
    return x
# change:
d["b"] = v

# case: setdefault
d = {}
def f(x):
    d.setdefault("k", []).append(1)
    return x * len(d["k"])
# change:
d.clear()

# case: setdefault with a number
d = {}
def f(x): return x * d.setdefault("k", 7)
# change:
d["k"] = v
# back:
d.clear()

# case: pop of a dict
d = {"k": 2}
def f(x): return x * d.pop("k", 7)
# change:
d["k"] = v

# case: popitem
d = {"a": 1, "b": 2}
def f(x):
    if not d: return x
    key, value = d.popitem()
    return x * value
# change:
d["c"] = v

# case: update
d = {"a": 1}
def f(x):
    d.update(a=d["a"] + 1, b=2)
    return x * d["a"]
# change:
d["a"] = v

# case: a dict that is a cache
cache = {}
def g(n):
    if n not in cache: cache[n] = n * 2
    return cache[n]
def f(x): return x * g(3)
# change:
cache[3] = v

# case: a cache that is cleared
cache, made = {}, []
def g(n):
    if n not in cache:
        made.append(n)
        cache[n] = n * 2
    return cache[n]
def f(x): return x * g(3)
# change:
cache.clear()

# case: a cache of tensors
cache = {}
def g(n):
    if n not in cache: cache[n] = ja.ones(2) * n
    return cache[n]
def f(x): return x * g(3)
# change:
cache[3] = ja.ones(2) * v

# case: a dict merged
a, b = {"k": 1}, {"k": 2}
def f(x): return x * (a | b)["k"] + {**b, **a}["k"]
# change:
b["k"] = v

# case: a dict merged in place
a, b = {"k": 1}, {"k": 2}
def f(x):
    global a
    a |= b
    return x * a["k"]
# change:
b["k"] = v

# case: a double star
d = {"k": 2}
def g(k=7, j=0): return k + j
def f(x): return x * g(**d)
# change:
d["j"] = v
# back:
del d["j"]

# case: a comprehension over a dict
d = {"a": 1, "b": 2}
def f(x): return x * sum({k: n + 1 for k, n in d.items() if n > 1}.values())
# change:
d["a"] = v

# case: a dict with objects
d = {"a": Box(k=2)}
def f(x): return x * d["a"].k
# change:
d["a"] = Box(k=v)

# case: a dict by ints, one in the middle
d = {i: i for i in range(5)}
def f(x): return x * d[3]
# change:
d[3] = v

# case: a dict of 300 numbers
d = {i: 1 for i in range(300)}
def f(x): return x * d[77] + sum(d.values())
# change:
d[200] = v

# case: a list of 1,000 numbers
l = [1] * 1000
def f(x): return x * sum(l)
# change:
l[777] = v

# case: a list of 400 objects
l = [Box(k=1) for _ in range(400)]
def f(x): return x * sum(o.k for o in l)
# change:
l[333].k = v

# case: an item of a list of 400 objects
l = [Box(k=1) for _ in range(400)]
def f(x): return x * l[333].k
# change:
l[333] = Box(k=v)

# case: a key deleted and put back
d = {"a": 1, "b": 2}
def f(x):
    value = d.pop("a")
    d["a"] = value
    return x * value + (1 if list(d)[0] == "a" else 2)
# change:
d["a"] = v

# case: a set
s = {1, 2}
def f(x): return x * len(s) + (1 if 3 in s else 0)
# change:
s ^= {3}

# case: the sum of a set
s = {1, 2}
def f(x): return x * sum(s)
# change:
s.add(v)

# case: a set that grows
s = set()
def f(x):
    s.add(len(s))
    return x * len(s)
# change:
s.clear()

# case: a set of objects that were met
s, o = set(), Box()
def f(x):
    is_new = o not in s
    s.add(o)
    return x * 2 if is_new else x
# change:
o = Box()

# case: discard and pop of a set
s = {1}
def f(x):
    s.discard(1)
    return x * len(s)
# change:
s.add(v)

# case: union and difference of sets
a, b = {1, 2}, {2, 3}
def f(x): return x * len(a | b) + len(a - b) * 10 + (a <= b)
# change:
b.symmetric_difference_update({1})

# case: a frozenset
o = Box(s=frozenset({1, 2}))
def f(x): return x * len(o.s)
# change:
o.s = frozenset({1, 2, v})

# case: a set in a dict
d = {"a": {1}}
def f(x): return x * 2 if 3 in d["a"] else x
# change:
d["a"] ^= {3}

# case: a deque
q = collections.deque([1, 2], maxlen=3)
def f(x):
    q.append(len(q))
    return x * sum(q)
# change:
q.append(v)

# case: a deque from both ends
q = collections.deque([1, 2, 3])
def f(x):
    q.append(q.popleft())
    return x * q[0]
# change:
q[0] = v

# case: a deque that is rotated
q = collections.deque([1, 2, 3])
def f(x):
    q.rotate(1)
    return x * q[0]
# change:
q.appendleft(v)

# case: the maxlen of a deque
q = collections.deque([1], maxlen=2)
def f(x): return x * q.maxlen
# change:
q = collections.deque([1], maxlen=v)

# case: a defaultdict
d = collections.defaultdict(list)
def f(x):
    d["a"].append(1)
    return x * len(d["a"])
# change:
d.clear()

# case: a defaultdict of ints
d = collections.defaultdict(int)
def f(x):
    d["a"] += 1
    return x * d["a"]
# change:
d["a"] = v

# case: the factory of a defaultdict
k = 2
d = collections.defaultdict(lambda: k)
def f(x):
    y = d["a"]
    del d["a"]
    return x * y
# change:
k = v

# case: a factory with an effect
made = []
d = collections.defaultdict(lambda: made.append(1) or len(made))
def f(x):
    y = d["a"]
    d.clear()
    return x * y
# change:
made.clear()

# case: default_factory replaced
d = collections.defaultdict(lambda: 2)
def f(x):
    y = d["a"]
    d.clear()
    return x * y
# change:
d.default_factory = lambda v=v: v

# case: an OrderedDict
d = collections.OrderedDict(a=1, b=2)
def f(x):
    d.move_to_end("a")
    return x * next(iter(d.values()))
# change:
d["b"] = v

# case: the order of an OrderedDict compared
p, q = collections.OrderedDict(a=1, b=2), collections.OrderedDict(a=1, b=2)
def f(x): return x * 2 if p == q else x
# change:
q.move_to_end("a")
# back:
q.move_to_end("b")

# case: popitem of an OrderedDict from the front
d = collections.OrderedDict(a=1, b=2, c=3)
def f(x):
    key, value = d.popitem(last=False)
    d[key] = value + 1
    return x * value
# change:
d["a"] = v

# case: a Counter
c = collections.Counter("aab")
def f(x):
    c.update("a")
    return x * c["a"] + c["none"]
# change:
c["a"] = v

# case: most_common of a Counter
c = collections.Counter(a=2, b=1)
def f(x): return x * c.most_common(1)[0][1]
# change:
c["b"] = v

# case: total of a Counter
c = collections.Counter(a=2, b=1)
def f(x): return x * c.total() + sum((c + c).values())
# change:
c["b"] = v

# case: a ChainMap
a, b = {}, {"k": 2}
c = collections.ChainMap(a, b)
def f(x): return x * c["k"]
# change:
a["k"] = v
# back:
a.clear()

# case: a ChainMap that is written
a, b = {"n": 0}, {"k": 2}
c = collections.ChainMap(a, b)
def f(x):
    c["n"] = c["n"] + 1
    return x * a["n"]
# change:
a["n"] = v

# case: the maps of a ChainMap
c = collections.ChainMap({}, {"k": 2})
def f(x): return x * c["k"]
# change:
c.maps.insert(0, {"k": v})

# case: a UserDict
d = collections.UserDict(k=2)
def f(x):
    d["n"] = d.get("n", 0) + 1
    return x * d["k"] + d["n"]
# change:
d["k"] = v

# case: a UserList
l = collections.UserList([1, 2])
def f(x):
    l.append(1)
    return x * l[1] + len(l)
# change:
l[1] = v

# case: a UserString
o = Box(s=collections.UserString("ab"))
def f(x): return x * len(o.s)
# change:
o.s = collections.UserString("a" * v)

# case: a mapping proxy
d = {"k": 2}
p = types.MappingProxyType(d)
def f(x): return x * p["k"]
# change:
d["k"] = v

# case: a namedtuple
P = collections.namedtuple("P", "a b")
o = Box(p=P(1, 2))
def f(x): return x * o.p.b + o.p[0]
# change:
o.p = o.p._replace(b=v)

# case: a NamedTuple with a method
class P(typing.NamedTuple):
    a: int
    def twice(self): return self.a * 2
p = P(2)
def f(x): return x * p.twice()
# change:
p = P(v)

# case: _asdict of a namedtuple
P = collections.namedtuple("P", "a b")
p = P(1, 2)
def f(x): return x * p._asdict()["b"]
# change:
p = P(1, v)

# case: a namedtuple of lists
P = collections.namedtuple("P", "a b")
p = P([1], [2])
def f(x):
    p.a.append(1)
    return x * p.b[0] + len(p.a)
# change:
p.b[0] = v

# case: a bytearray
b = bytearray([2, 3])
def f(x): return x * b[0]
# change:
b[0] = v

# case: a bytearray that counts
b = bytearray([0, 3])
def f(x):
    b[0] += 1
    return x * b[0]
# change:
b[0] = v

# case: a bytearray that grows
b = bytearray()
def f(x):
    b.append(1)
    return x * len(b)
# change:
b.clear()

# case: an array
a = array.array("i", [1, 2])
def f(x): return x * a[1]
# change:
a[1] = v

# case: an array that counts
a = array.array("d", [0.0])
def f(x):
    a[0] += 1
    return x * a[0]
# change:
a[0] = v

# case: a memoryview
b = bytearray([2, 3])
m = memoryview(b)
def f(x): return x * m[0]
# change:
b[0] = v

# case: a memoryview that is written
b = bytearray([0, 3])
m = memoryview(b)
def f(x):
    m[0] = m[0] + 1
    return x * b[0]
# change:
b[0] = v

# case: a NumPy array
a = np.array([1.0, 2.0])
def f(x): return x * float(a[1])
# change:
a[1] = v

# case: a NumPy array that is written
a = np.zeros(2)
def f(x):
    a[0] += 1
    return x * float(a[0])
# change:
a[0] = v

# case: a view of a NumPy array
a = np.array([1.0, 2.0])
b = a[1:]
def f(x): return x * float(b[0])
# change:
a[1] = v

# case: a NumPy array of objects
a = np.array([Box(k=1), Box(k=2)], dtype=object)
def f(x): return x * a[1].k
# change:
a[1].k = v

# case: the shape and dtype of a NumPy array
o = Box(a=np.zeros((2, 3)))
def f(x): return x * o.a.shape[1] + o.a.itemsize
# change:
o.a = np.zeros((2, v), np.float32)

# case: a NumPy scalar
o = Box(k=np.float32(2))
def f(x): return x * float(o.k)
# change:
o.k = np.float32(v)

# case: a NumPy array as a mask of a list
mask, l = np.array([True, False]), [2, 7]
def f(x): return x * sum([n for n, on in zip(l, mask) if on])
# change:
mask[1] = not mask[1]

# case: a jax array
a = jnp.ones(2)
o = Box(a=a)
def f(x): return x * o.a
# change:
o.a = jnp.ones(2) * v

# case: a queue
q = queue.Queue()
q.put(2)
def f(x):
    k = q.get()
    q.put(k + 1)
    return x * k
# change:
q.get(), q.put(v)

# case: a heap
h = [3, 5]
def f(x):
    heapq.heappush(h, 4)
    return x * heapq.heappop(h)
# change:
heapq.heappush(h, 1)

# case: bisect
l = [1, 3]
def f(x):
    bisect.insort(l, 2)
    return x * bisect.bisect(l, 2)
# change:
l.insert(0, 0)

# case: a subclass of list with an attribute
class L(list): k = 2
l = L([1])
l.j = 3
def f(x): return x * l[0] * l.j * l.k
# change:
l[0], l.j, l.k = v, v + 1, v + 2

# case: a subclass of list whose append counts
class L(list):
    n = 0
    def append(self, item):
        self.n += 1
        super().append(item)
l = L()
def f(x):
    l.append(1)
    return x * l.n + len(l)
# change:
l.n = v

# case: a subclass of dict with an attribute
class D(dict): pass
d = D(k=2)
d.j = 3
def f(x): return x * d["k"] * d.j
# change:
d["k"], d.j = v, v + 1

# case: a subclass of dict whose get counts
class D(dict):
    n = 0
    def __getitem__(self, key):
        self.n += 1
        return super().__getitem__(key)
d = D(k=2)
def f(x): return x * d["k"]
# change:
d.n, d["k"] = v, v

# case: a subclass of dict with __missing__
class D(dict):
    def __missing__(self, key):
        self[key] = len(self) + 1
        return self[key]
d = D()
def f(x): return x * d["a"]
# change:
d.clear()
d["b"] = v

# case: a subclass of tuple with an attribute
class T(tuple): pass
t = T((1, 2))
t.k = 2
def f(x): return x * t[1] * t.k
# change:
t.k = v

# case: a subclass of int with an attribute
class I(int): pass
i = I(2)
i.k = 2
def f(x): return x * int(i) * i.k
# change:
i.k = v

# case: a subclass of str
class S(str): pass
o = Box(s=S("ab"))
def f(x): return x * len(o.s)
# change:
o.s = S("a" * v)

# case: a subclass of set
class S(set): pass
s = S({1})
def f(x):
    s.add(len(s) + 1)
    return x * len(s)
# change:
s.clear()

# case: a mapping of collections.abc
class D(collections.abc.MutableMapping):
    def __init__(self): self.d = {"k": 2}
    def __getitem__(self, key): return self.d[key]
    def __setitem__(self, key, value): self.d[key] = value
    def __delitem__(self, key): del self.d[key]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
d = D()
def f(x):
    d["n"] = d.get("n", 0) + 1
    return x * d["k"] + len(dict(d))
# change:
d["k"] = v

# case: a ring buffer
class Ring:
    def __init__(self): self.items, self.at = [0.0] * 3, 0
    def push(self, item):
        self.items[self.at] = item
        self.at = (self.at + 1) % 3
ring = Ring()
def f(x):
    ring.push(ring.at + 1.0)
    return x * sum(ring.items)
# change:
ring.items[0] = float(v)

# case: a linked list
class Node:
    def __init__(self, k, rest=None): self.k, self.rest = k, rest
head = Node(1, Node(2))
def f(x):
    node = head
    while node is not None:
        x = x * node.k
        node = node.rest
    return x
# change:
head = Node(v, head)

# case: a linked list that the function lengthens
class Node:
    def __init__(self, k, rest=None): self.k, self.rest = k, rest
head = None
def f(x):
    global head
    head = Node(2, head)
    return x * head.k
# change:
head = None

# case: a list of lists made by times
grid = [[0] * 2 for _ in range(2)]
def f(x):
    grid[1][0] += 1
    return x * sum(map(sum, grid))
# change:
grid[0][1] = v

# case: a list given to a function that changes it
l = [1]
def g(l): l.append(len(l))
def f(x):
    g(l)
    return x * l[-1]
# change:
l.append(v)

# case: a list of a closure that a global function changes
def make():
    l = [1]
    return l.append, lambda: len(l)
add, size = make()
def f(x):
    add(1)
    return x * size()
# change:
add(1)

# case: a dict of bound methods
class A:
    n = 0
    def up(self): self.n += 1; return self.n
a = A()
d = {"up": a.up}
def f(x): return x * d["up"]()
# change:
a.n = v

# case: a list result that is the global itself
l = [1, 2]
def f(x):
    l.append(3)
    return l
# change:
l.clear()

# case: a result that holds a global twice
o = Box(k=2)
def f(x): return {"a": o, "b": [o, x * o.k]}
# change:
o.k = v
