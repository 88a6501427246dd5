"""jaxaot's modules and optimizers: modes, hooks, buffers, parts, parameters, groups."""
# ruff: noqa
# fmt: off

# case: training
m = nn.Dropout(1.0)
def f(x): return m(x)
# change:
m.train(not m.training)

# case: training of the user's module
class M(nn.Module):
    def forward(self, x): return x * 2 if self.training else x
m = M()
def f(x): return m(x)
# change:
m.train(not m.training)

# case: a module that is compiled itself
class M(nn.Module):
    k = 2
    def forward(self, x): return x * self.k
f = m = M()
# change:
m.k = v

# case: training of a part
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(1.0)
    def forward(self, x): return self.drop(x)
m = M()
def f(x): return m(x)
# change:
m.drop.train(not m.drop.training)

# case: a number of a module
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2
    def forward(self, x): return x * self.k
m = M()
def f(x): return m(x)
# change:
m.k = v

# case: a count of a module
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
    def forward(self, x):
        self.n += 1
        return x * self.n
m = M()
def f(x): return m(x)
# change:
m.n = v

# case: a parameter replaced
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return m(x)
# change:
m.weight = nn.Parameter(ja.ones(2, 2) * v)

# case: a parameter written
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return m(x)
# change:
with ja.no_grad(): m.weight.fill_(v)

# case: a bias removed
m = nn.Linear(2, 2)
m.weight, m.bias = nn.Parameter(ja.ones(2, 2)), nn.Parameter(ja.ones(2))
def f(x): return m(x)
# change:
m.bias = None
# back:
m.bias = nn.Parameter(ja.ones(2))

# case: a buffer replaced
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", ja.ones(2))
    def forward(self, x): return x * self.b
m = M()
def f(x): return m(x)
# change:
m.b = ja.ones(2) * v

# case: a buffer that counts
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", ja.zeros(2))
    def forward(self, x):
        self.n += 1
        return x * self.n
m = M()
def f(x): return m(x)
# change:
m.n.zero_()

# case: a buffer that the function replaces
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", ja.zeros(2))
    def forward(self, x):
        self.n = self.n + 1
        return x * self.n
m = M()
def f(x): return m(x)
# change:
m.n = ja.zeros(2)

# case: a part replaced
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
    def forward(self, x): return self.act(x - 1.5)
m = M()
def f(x): return m(x)
# change:
m.act = nn.Identity() if isinstance(m.act, nn.ReLU) else nn.ReLU()

# case: _modules edited
m = nn.Sequential(nn.Identity())
def f(x): return m(x - 1.5)
# change:
m._modules["0"] = nn.ReLU() if isinstance(m[0], nn.Identity) else nn.Identity()

# case: a part appended to a Sequential
m = nn.Sequential(nn.Identity())
def f(x): return m(x - 1.5)
# change:
m.append(nn.ReLU())

# case: a ModuleList
m = nn.ModuleList([nn.Identity()])
def f(x):
    for part in m: x = part(x - 1.5)
    return x
# change:
m.append(nn.ReLU())

# case: a ModuleDict
m = nn.ModuleDict({"a": nn.Identity()})
def f(x): return m["b"](x - 1.5) if "b" in m else m["a"](x)
# change:
m["b"] = nn.ReLU()
# back:
del m["b"]

# case: a ParameterList
m = nn.ParameterList([nn.Parameter(ja.ones(2))])
def f(x):
    for p in m: x = x * p + 1
    return x
# change:
m.append(nn.Parameter(ja.ones(2) * v))

# case: a hook before
m = nn.Identity()
def f(x): return m(x)
# change:
handle = m.register_forward_pre_hook(lambda m, args, v=v: (args[0] * v,))
# back:
handle.remove()

# case: a hook after
m = nn.Identity()
def f(x): return m(x)
# change:
handle = m.register_forward_hook(lambda m, args, out, v=v: out * v)
# back:
handle.remove()

# case: a hook that logs
m, log = nn.Identity(), []
m.register_forward_hook(lambda m, args, out: log.append(len(log)))
def f(x): return m(x) * 2
# change:
log.clear()

# case: a hook that keeps activations
m, kept = nn.Identity(), {}
m.register_forward_hook(lambda m, args, out: kept.update(out=out * 2))
def f(x): return m(x) * 2
# change:
kept.clear()

# case: the dict of hooks edited
m = nn.Identity()
handle = m.register_forward_hook(lambda m, args, out: out * 2)
def f(x): return m(x)
# change:
m._hooks["forward"][handle.id] = lambda m, args, out, v=v: out * v

# case: forward patched on the object
m = nn.Identity()
def f(x): return m(x)
# change:
m.forward = lambda x, v=v: x * v
# back:
del m.forward

# case: forward patched on the class
class M(nn.Module):
    def forward(self, x): return x * 2
m = M()
def f(x): return m(x)
# change:
M.forward = lambda self, x, v=v: x * v

# case: a loop over parameters
m = nn.Linear(2, 2)
m.weight, m.bias = nn.Parameter(ja.ones(2, 2)), nn.Parameter(ja.ones(2))
def f(x):
    for p in m.parameters(): x = x + p.sum()
    return x
# change:
m.register_parameter(f"p{v}", nn.Parameter(ja.ones(2) * v))

# case: a loop over named parameters
m = nn.Linear(2, 2)
m.weight, m.bias = nn.Parameter(ja.ones(2, 2)), nn.Parameter(ja.ones(2))
def f(x):
    for name, p in m.named_parameters():
        if "bias" not in name: x = x * len(name) + p.sum()
    return x
# change:
m.extra = nn.Parameter(ja.ones(2) * v)
# back:
del m.extra

# case: a loop over modules
m = nn.Sequential(nn.Identity(), nn.ReLU())
def f(x): return x * sum(isinstance(part, nn.ReLU) for part in m.modules())
# change:
m[0] = nn.ReLU() if isinstance(m[0], nn.Identity) else nn.Identity()

# case: state_dict
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return x + m.state_dict()["weight"].sum()
# change:
m.weight = nn.Parameter(ja.ones(2, 2) * v)

# case: load_state_dict from outside
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return m(x)
# change:
m.load_state_dict({"weight": ja.ones(2, 2) * v})

# case: requires_grad of a module's parameters
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return m(x)
# change:
m.requires_grad_(not m.weight.requires_grad)

# case: to of a module
m = nn.Linear(2, 2, bias=False)
m.weight = nn.Parameter(ja.ones(2, 2))
def f(x): return m(x.to(m.weight.dtype))
# change:
m.to(ja.float16 if m.weight.dtype == ja.float32 else ja.float32)

# case: extra arguments of a layer: the p of dropout
m = nn.Dropout(0.0)
def f(x): return m(x)
# change:
m.p = 1.0 - m.p

# case: the eps of a norm
m = nn.LayerNorm(2)
def f(x): return m(x)
# change:
m.eps = v / 10

# case: the momentum of a batch norm
m = nn.BatchNorm1d(2)
def f(x): return m(ja.stack([x, x + 1]))
# change:
m.momentum = v / 8

# case: a batch norm in both modes
m = nn.BatchNorm1d(2)
def f(x): return m(ja.stack([x, x + 1]))
# change:
m.train(not m.training)

# case: the inplace flag of a ReLU
m = nn.ReLU()
def f(x): return m(x - 1.5)
# change:
m.inplace = not m.inplace

# case: lr of an optimizer
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
opt.param_groups[0]["lr"] = v / 4

# case: momentum and weight decay
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5, momentum=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
opt.param_groups[0].update(momentum=v / 8, weight_decay=v / 16)

# case: betas of Adam
w = nn.Parameter(ja.ones(2))
opt = ja.optim.Adam([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return opt.state[w]["exp_avg"] * 1
# change:
opt.param_groups[0]["betas"] = (v / 8, 0.5)

# case: a group added
w, u = nn.Parameter(ja.ones(2)), nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * u * x).sum().backward()
    opt.step()
    return u * 1
# change:
if v == 3: opt.add_param_group({"params": [u], "lr": 0.25})

# case: a parameter added to a group
w, u = nn.Parameter(ja.ones(2)), nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
def f(x):
    opt.zero_grad()
    (w * u * x).sum().backward()
    opt.step()
    return u * 1
# change:
if v == 3: opt.param_groups[0]["params"].append(u)

# case: the state of an optimizer reset
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5, momentum=0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
opt.state.clear()

# case: an optimizer replaced
w = nn.Parameter(ja.ones(2))
o = Box(opt=ja.optim.SGD([w], lr=0.5))
def f(x):
    o.opt.zero_grad()
    (w * x).sum().backward()
    o.opt.step()
    return w * 1
# change:
o.opt = ja.optim.SGD([w], lr=v / 8, momentum=0.5)

# case: a scheduler's step outside
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
schedule = ja.optim.lr_scheduler.StepLR(opt, 1, 0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    return w * 1
# change:
schedule.step()

# case: a scheduler's step inside
w = nn.Parameter(ja.ones(2))
opt = ja.optim.SGD([w], lr=0.5)
schedule = ja.optim.lr_scheduler.StepLR(opt, 2, 0.5)
def f(x):
    opt.zero_grad()
    (w * x).sum().backward()
    opt.step()
    schedule.step()
    return w * 1
# change:
schedule.gamma = v / 4
# look: opt.param_groups[0]["lr"]

# case: gradients that are not set to none
w = nn.Parameter(ja.ones(2))
def f(x):
    (w * x).sum().backward()
    return w.grad * 1
# change:
w.grad = None

# case: freezing in the middle
w, u = nn.Parameter(ja.ones(2)), nn.Parameter(ja.ones(2))
def f(x):
    w.grad = u.grad = None
    (w * u * x).sum().backward()
    return sum(p.grad for p in (w, u) if p.grad is not None)
# change:
u.requires_grad_(not u.requires_grad)

# case: clip by an attribute
w, o = nn.Parameter(ja.ones(2)), Box(most=0.5)
def f(x):
    w.grad = None
    (w * x).sum().backward()
    if o.most: nn.utils.clip_grad_value_([w], o.most)
    return w.grad * 1
# change:
o.most = v / 4 if v != 2 else None

# case: an average of weights by hand
class EMA:
    def __init__(self, p): self.p, self.shadow, self.decay, self.n = p, p.detach().clone(), 0.5, 0
    def update(self):
        self.n += 1
        self.shadow = self.shadow * self.decay + self.p.detach() * (1 - self.decay)
w = nn.Parameter(ja.ones(2))
ema = EMA(w)
def f(x):
    ema.update()
    return ema.shadow * x
# change:
ema.decay = v / 8
