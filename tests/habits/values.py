"""Habits that ask tensors for values, and what is done with them."""

import warnings

from tests.habits.parts import linear, ramp, row


def item_in_log_list(t, c):
    losses = []

    @c
    def step(x):
        loss = (x * x).sum()
        losses.append(loss.item())
        return loss * 2

    return [step(ramp(t, at=i)) for i in range(4)], losses


def item_running_total(t, c):
    total = 0.0

    @c
    def step(x):
        nonlocal total
        loss = (x * x).mean()
        total += loss.item()
        return loss

    return [step(ramp(t, at=i)) for i in range(4)], total / 4


def if_tensor(t, c):
    @c
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    return [f(ramp(t) + at) for at in (1, -1, 2, -2)]


def while_tensor(t, c):
    @c
    def f(x):
        while x.abs().sum() > 1:
            x = x / 2
        return x

    return [f(ramp(t) * by) for by in (1, 2, 4)]


def print_tensor(t, c):
    @c
    def f(x):
        y = x.sum() * 0 + 3
        print(y)
        return x + y

    return [f(ramp(t, at=i)) for i in range(3)]


def print_constant(t, c):
    @c
    def f(x):
        print("forward")
        return x + 1

    return [f(ramp(t, at=i)) for i in range(3)]


def log_every(t, c):
    class Trainer:
        n = 0

        def step(self, x):
            loss = (x * 0 + 2).sum()
            if self.n % 3 == 0:
                print(f"step {self.n}: {loss.item():.2f}")
            self.n += 1
            return loss + x

    trainer = Trainer()
    step = c(trainer.step)
    return [step(ramp(t, at=i)) for i in range(7)], trainer.n


def numpy_in(t, c):
    @c
    def f(x):
        found = x.detach().numpy().max()
        return x - float(found)

    return [f(ramp(t, at=i)) for i in range(3)]


def tolist_in(t, c):
    @c
    def f(x):
        return [v * 2 for v in x[0].tolist()], x + 1

    return [f(ramp(t, at=i)) for i in range(3)]


def bool_mask(t, c):
    @c
    def f(x):
        y = x * 2
        y[x > 0] = 0
        return y

    return [f(ramp(t, at=i)) for i in range(3)]


def bool_mask_out(t, c):
    @c
    def f(x):
        kept = x[x > 0]
        return kept * 2

    return [f(ramp(t, at=i)) for i in range(3)]


def nonzero_loop(t, c):
    @c
    def f(x):
        y = x.clone()
        for i in (x[:, 0] > 0).nonzero():
            y[i] = 0
        return y

    return [f(ramp(t, at=i)) for i in range(3)]


def unique_in(t, c):
    @c
    def f(x):
        ids, counts = t.unique(x, return_counts=True)
        return ids * 2, counts

    return [f(t.tensor(ids)) for ids in ([1, 2, 2], [3, 3, 3], [1, 2, 3])]


def lengths_max(t, c):
    @c
    def f(x, lengths):
        n = int(lengths.max())
        return x[:, :n].sum(1)

    return [f(ramp(t, at=i), t.tensor([1, i + 1])) for i in range(3)]


def arange_item(t, c):
    @c
    def f(x, n):
        return t.arange(n.item()) + x.sum()

    return [f(ramp(t), t.tensor(i)) for i in (2, 3, 2)]


def expert_by_item(t, c):
    experts = [linear(t, at=i) for i in range(2)]

    @c
    def f(x, which):
        return experts[which.item()](x)

    return [f(ramp(t, at=i), t.tensor(i % 2)) for i in range(4)]


def moe_loop_where(t, c):
    experts = t.nn.ModuleList([linear(t, at=i) for i in range(2)])

    @c
    def f(x, route):
        out = t.zeros_like(x)
        for i, expert in enumerate(experts):
            (rows,) = t.where(route == i)
            out[rows] += expert(x[rows])
        return out

    return [f(ramp(t, 3, 4, at=i), t.tensor([i % 2, 1, 0])) for i in range(3)]


def skip_nan_step(t, c):
    w = t.nn.Parameter(row(t))
    opt = t.optim.SGD([w], lr=0.1)

    @c
    def step(x):
        loss = (w * x).sum()
        if not t.isfinite(loss):
            return None
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss

    return [step(ramp(t) * by) for by in (1.0, float("nan"), 2.0, 3.0)], w


def assert_tensor(t, c):
    @c
    def f(x):
        assert (x > 0).all(), "not positive"
        return x.log()

    said = []
    for at in (3.0, 4.0, -3.0, 5.0):
        try:
            said.append(f(ramp(t) + at))
        except AssertionError as error:
            said.append(str(error))
    return said


def raise_on_nan(t, c):
    @c
    def f(x):
        if x.isnan().any():
            raise ValueError("a NaN")
        return x * 2

    said = []
    for by in (1.0, float("nan"), 2.0):
        try:
            said.append(f(ramp(t) * by))
        except ValueError as error:
            said.append(str(error))
    return said


def grad_norm_item(t, c):
    model = linear(t)
    opt, norms = t.optim.SGD(model.parameters(), lr=0.1), []

    @c
    def step(x):
        opt.zero_grad()
        model(x).square().mean().backward()
        norms.append(t.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        opt.step()

    for i in range(3):
        step(ramp(t, at=i))
    return norms, list(model.parameters())


def per_param_norms(t, c):
    model = linear(t)

    @c
    def step(x):
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for name, p in model.named_parameters():
            print(f"{name}: {p.grad.norm().item():.2f}")
        return loss

    return [step(ramp(t, at=i)) for i in range(3)]


def accuracy_item(t, c):
    right = []

    @c
    def f(x, y):
        right.append((x.argmax(1) == y).float().mean().item())
        return x.log_softmax(1)

    return [f(ramp(t, 3, 4, at=i), t.tensor([0, 1, 2])) for i in range(3)], right


def max_python_tensor(t, c):
    @c
    def f(x):
        return max(x.sum(), x.prod()) * 2

    return [f(ramp(t, at=i)) for i in range(3)]


def format_loss(t, c):
    said = []

    @c
    def f(x):
        loss = x.sum() * 0 + 1.5
        said.append(f"loss {loss:.2f}")
        return loss

    return [f(ramp(t, at=i)) for i in range(3)], said


def sorted_by_value(t, c):
    @c
    def f(x):
        return sorted([x[0].sum(), x[1].sum(), x[2].sum()], key=lambda v: v.item())

    return [f(ramp(t, at=i)) for i in range(3)]


def early_stop_loop(t, c):
    @c
    def f(x):
        for n in range(10):
            y = x * 0.5
            if (y - x).abs().max() < 0.1:
                return x, n
            x = y
        return x, 10

    return [f(ramp(t, at=i)) for i in range(3)]


def generate_until_eos(t, c):
    @c
    def generate(table, token):
        out = [token]
        for _ in range(6):
            token = table[token].argmax()
            out.append(token)
            if token == 2:
                break
        return t.stack(out)

    return [generate(ramp(t, 4, 4, at=i), t.tensor(i)) for i in range(4)]


def raise_then_go_on(t, c):
    @c
    def f(x, mode):
        if mode not in ("add", "mul"):
            raise ValueError(mode)
        return x + 1 if mode == "add" else x * 2

    said = []
    for mode in ("add", "pow", "mul", "add"):
        try:
            said.append(f(ramp(t), mode))
        except ValueError as error:
            said.append(str(error))
    return said


def best_tracking(t, c):
    class Best:
        loss, at, n = float("inf"), None, 0

    best = Best()

    @c
    def f(x):
        loss = x.sum()
        if loss.item() < best.loss:
            best.loss, best.at = loss.item(), best.n
        best.n += 1
        return loss

    return [f(ramp(t) + at) for at in (0.0, -1.0, 1.0, -2.0)], best.loss, best.at, best.n


def meter_class(t, c):
    class Meter:
        def __init__(self):
            self.sum = self.n = 0

        def update(self, value, n):
            self.sum += value * n
            self.n += n

    meter = Meter()

    @c
    def f(x):
        loss = x.square().mean()
        meter.update(loss.item(), x.shape[0])
        return loss

    return [f(ramp(t, at=i)) for i in range(3)], meter.sum / meter.n


def meter_tensor(t, c):
    total = t.zeros(())

    @c
    def f(x):
        loss = x.square().mean()
        total.add_(loss.detach())
        return loss

    return [f(ramp(t, at=i)) for i in range(3)], total


def string_keys_loss_dict(t, c):
    history = {}

    @c
    def f(x):
        losses = {"l1": x.abs().mean(), "l2": x.square().mean()}
        for name, value in losses.items():
            history.setdefault(name, []).append(value.item())
        return sum(losses.values())

    return [f(ramp(t, at=i)) for i in range(3)], history


def pbar_set_description(t, c):
    class Bar:
        said = ""

        def set_description(self, said):
            self.said = said
            print(said)

    bar = Bar()

    @c
    def f(x):
        loss = x.sum() * 0 + bar_of["at"]
        bar.set_description(f"loss {loss.item():.2f}")
        return loss + x

    bar_of, out = {"at": t.tensor(0.0)}, []
    for i in range(3):
        bar_of["at"] = t.tensor(float(i))
        out.append(f(ramp(t)))
    return out, bar.said


def warn_in(t, c):
    @c
    def f(x):
        warnings.warn("slow path", stacklevel=1)
        return x + 1

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        out = [f(ramp(t, at=i)) for i in range(3)]
    return out, sum(str(one.message) == "slow path" for one in said)


def sampling_multinomial(t, c):
    @c
    def f(x):
        return t.multinomial((x * 4).softmax(-1), 1)

    t.manual_seed(0)
    return [f(ramp(t, at=i)).shape for i in range(3)]


def thresholds_schedule(t, c):
    @c
    def f(x, threshold):
        return t.where(x > threshold, x, 0.0)

    return [f(ramp(t), at / 10) for at in range(4)]


def shape_prints_f(t, c):
    @c
    def f(x):
        name = f"{x.shape[0]}x{x.shape[1]}"
        return x.sum(), name, f"{tuple(x.shape)}"

    return [f(ramp(t, at=i)) for i in range(3)]
