"""Captured training steps, whole, against eager PyTorch."""

import builtins
import functools
from pathlib import Path

import models
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from running import difference, run_whole
from stepping import check_whole, eager_steps, program_steps

from shardonnay.torch import OptimizerError, UnsupportedError, capture, capture_step, seeded

# bfloat16 rounds otherwise in a program that is compiled: three steps of plain descent stay near.
LOOSE = {"gpt_autocast": 200}


@pytest.mark.parametrize("name", models.MODELS)
def test_model(name):
    optimizer = functools.partial(torch.optim.SGD, lr=0.1) if name in LOOSE else models.ADAMW
    check_whole(*models.build(name), optimizer, slack=LOOSE.get(name, 5))


def mlp():
    return models.build("mlp")


OPTIMIZERS = {
    "sgd": functools.partial(torch.optim.SGD, lr=0.1),
    "momentum": functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "adam": functools.partial(torch.optim.Adam, lr=0.01, weight_decay=0.1, eps=1e-3),
    "amsgrad": functools.partial(torch.optim.AdamW, lr=0.01, amsgrad=True, eps=1e-3),
    "maximize": functools.partial(torch.optim.AdamW, lr=0.01, maximize=True, eps=1e-3),
    "rmsprop": functools.partial(torch.optim.RMSprop, lr=0.01, momentum=0.9, centered=True, eps=1e-3),
    "adadelta": functools.partial(torch.optim.Adadelta, lr=1.0),
    "nadam": functools.partial(torch.optim.NAdam, lr=0.01, eps=1e-3),
    "radam": functools.partial(torch.optim.RAdam, lr=0.01, eps=1e-3),
    "adamax": functools.partial(torch.optim.Adamax, lr=0.01, eps=1e-3),
    "adagrad": functools.partial(torch.optim.Adagrad, lr=0.1, lr_decay=0.1),
    "adafactor": functools.partial(torch.optim.Adafactor, lr=0.01),
    "asgd": functools.partial(torch.optim.ASGD, lr=0.1, t0=1),
    "rate": functools.partial(torch.optim.SGD, lr=torch.tensor(0.1), momentum=0.9, weight_decay=0.1),
    "rates": functools.partial(torch.optim.Adam, lr=torch.tensor(0.01), betas=(torch.tensor(0.9), torch.tensor(0.99))),
}
# torch exports some classes as of another module than the one in which they are written.
MATRICES = {"muon": functools.partial(torch.optim.Muon, lr=0.01)}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    check_whole(*mlp(), OPTIMIZERS[name], steps=4, slack=5)


@pytest.mark.parametrize("name", MATRICES)
def test_optimizer_of_matrices(name):
    model, loss, batch = mlp()
    for parameter in model.parameters():
        parameter.requires_grad_(parameter.ndim == 2)
    check_whole(model, loss, batch, MATRICES[name], steps=2, slack=10)


def test_optimizer_whose_states_are_not_known():
    model, loss, batch = mlp()
    with pytest.raises(OptimizerError, match="LBFGS: its states are not known before its first step"):
        capture_step(model, loss, batch, optimizer=torch.optim.LBFGS)


class Bags(nn.Module):
    """Embeddings whose gradients PyTorch makes sparse."""

    def __init__(self):
        super().__init__()
        self.words, self.tags = nn.Embedding(9, 4, sparse=True), nn.EmbeddingBag(7, 4, sparse=True)

    def forward(self, x):
        return self.words(x).sum(1) + self.tags(x % 7) + F.embedding(x, self.words.weight, sparse=True).mean(1)


@pytest.mark.parametrize("optimizer", [OPTIMIZERS["sgd"], OPTIMIZERS["adagrad"]])
def test_gradients_that_are_sparse(optimizer):
    batch = torch.arange(24).view(8, 3) % 9, models.numbers(8, 4)
    check_whole(Bags(), lambda model, x, y: F.mse_loss(model(x), y), batch, optimizer, slack=5)
    with pytest.raises(OptimizerError, match="SparseAdam updates the rows that a sparse gradient has"):
        capture_step(Bags(), mlp()[1], batch, optimizer=torch.optim.SparseAdam)


def test_groups_and_rates_that_are_tensors():
    model, loss, batch = mlp()

    def optimizer(parameters):
        decayed, others = parameters[:2], parameters[2:]
        groups = [
            {"params": decayed, "weight_decay": 0.5, "lr": torch.tensor(0.02)},
            {"params": others, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=0.01, eps=1e-3)

    captured = check_whole(model, loss, batch, optimizer, slack=5)
    assert "param_groups.0.lr" in [argument.name for argument in captured.arguments]


def test_an_optimizer_that_has_made_steps():
    model, loss, batch = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.5)
    loss(model, *batch).backward()
    optimizer.step()
    captured = capture_step(model, loss, batch, optimizer=optimizer)
    found = program_steps(captured, batch, 1, lambda values: run_whole(captured, values))[1]
    optimizer.zero_grad()
    loss(model, *batch).backward()
    optimizer.step()
    for name, parameter in model.named_parameters():
        assert not difference(found[name], parameter.detach())
        assert not difference(found[f"state.{name}.momentum_buffer"], optimizer.state[parameter]["momentum_buffer"])


def resumed(model, loss, batch, optimizer, steps=3):
    """What a captured step makes of parameters after `steps`, and what the optimizer itself makes of them."""

    def train(count):
        for _ in range(count):
            optimizer.zero_grad()
            loss(model, *batch).backward()
            optimizer.step()

    train(2)
    captured = capture_step(model, loss, batch, optimizer=optimizer)
    found = program_steps(captured, batch, steps, lambda values: run_whole(captured, values))[1]
    train(steps)
    return "".join(difference(found[name], parameter.detach(), 5) for name, parameter in model.named_parameters())


def test_an_optimizer_that_has_made_steps_without_a_parameter():
    """That one's states are those before a first step, and the others' are as they are."""
    model, loss, batch = mlp()
    model.unused = nn.Linear(2, 2)
    for kind in (torch.optim.AdamW, functools.partial(torch.optim.SGD, momentum=0.9)):
        assert not resumed(model, loss, batch, kind(model.parameters(), lr=0.05))


class Counting(torch.optim.Optimizer):
    """One of somebody's, which counts its steps beside the states."""

    def __init__(self, parameters, count):
        super().__init__(parameters, {"count": count, "lr": 0.1, "capturable": False})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            assert not group["capturable"]
            group["count"] += 1
            for parameter in group["params"]:
                total = self.state[parameter].setdefault("total", torch.zeros_like(parameter))
                total += parameter.grad
                parameter.sub_(total * (group["lr"] / group["count"]))


def test_an_optimizer_that_counts_its_steps():
    model, loss, batch = mlp()
    assert not resumed(model, loss, batch, Counting(model.parameters(), torch.tensor(1.0)))
    assert not resumed(model, loss, batch, Counting(model.parameters(), 1))


@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.RAdam])
def test_what_follows_from_the_count_of_steps_is_exact(kind):
    """In double, to 1e-10: eager PyTorch computes `1 - beta**step` as Python does."""
    model, loss, (x, y) = mlp()
    check_whole(model.double(), loss, (x.double(), y), functools.partial(kind, lr=0.01, eps=1e-3), steps=7)


def test_settings_that_are_tensors_are_arguments():
    model, loss, batch = mlp()
    names = [entry.name for entry in capture_step(model, loss, batch, optimizer=OPTIMIZERS["rates"]).arguments]
    assert {"param_groups.0.lr", "param_groups.0.betas.0", "param_groups.0.betas.1"} <= set(names)


def test_hooks_of_an_optimizer():
    def double(made, *_):
        for parameter in made.param_groups[0]["params"]:
            parameter.grad.mul_(2)

    def optimizer(parameters):
        made = OPTIMIZERS["momentum"](parameters)
        made.register_step_pre_hook(double)
        torch.optim.lr_scheduler.StepLR(made, 5)  # puts a `step` of its own into the optimizer
        return made

    check_whole(*mlp(), optimizer, slack=5)


def test_builtins_stay_while_an_optimizer_is_traced():
    """Adafactor compares tensors by `max`, which is another in its module, and is gone from there afterwards; that of
    this module hands on what is no tensor.
    """
    seen = []

    def optimizer(parameters):
        made = OPTIMIZERS["adafactor"](parameters)
        made.register_step_pre_hook(lambda *_: seen.append((builtins.max, max(3, 2), max([1, 4], key=abs))))
        return made

    before = builtins.max
    capture_step(*mlp(), optimizer=optimizer)
    assert seen == [(before, 3, 4)] and max is before
    assert not {"min", "max"} & set(vars(torch.optim._adafactor))


def test_hooks_of_parameters():
    model, loss, batch = mlp()
    hooked = model.layers[0].weight

    def gradient():
        captured = capture_step(model, loss, batch)
        values = {**captured.values, "inputs.0": batch[0], "inputs.1": batch[1]}
        return run_whole(captured, values)["grad.layers.0.weight"]

    before = gradient()
    hooked.register_hook(lambda found: 3 * found)
    assert not difference(gradient(), 3 * before)
    hooked.register_post_accumulate_grad_hook(lambda parameter: None)
    with pytest.raises(TypeError, match=r"layers\.0\.weight: has a hook for when its gradient is accumulated"):
        capture_step(model, loss, batch)


def test_a_step_without_gradients_evaluates():
    model, loss, batch = mlp()
    evaluate = torch.no_grad()(loss)
    captured = capture_step(model, evaluate, batch)
    assert [entry.name for entry in captured.results] == ["loss"]
    with pytest.raises(TypeError, match="the loss depends on no parameter that is trained"):
        capture_step(model, evaluate, batch, optimizer=OPTIMIZERS["sgd"])


def test_functions_as_operands_are_named():
    def branch(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    with pytest.raises(
        UnsupportedError, match=r"test_steps\.py:\d+: error: 'cond' takes functions, which are not captured"
    ):
        capture(branch, (torch.randn(3),))


def test_optimizer_of_which_the_first_step_differs():
    model, loss, batch = mlp()
    with pytest.raises(OptimizerError, match="dampening"):
        capture_step(
            model, loss, batch, optimizer=functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9, dampening=0.5)
        )


def test_clipping_and_accumulation():
    model, loss, batch = mlp()
    check_whole(model, loss, batch, OPTIMIZERS["sgd"], clip_grad_norm=0.1, accumulate=4, slack=5)
    with pytest.raises(ValueError, match="accumulate=3"):
        capture_step(model, loss, batch, optimizer=OPTIMIZERS["sgd"], accumulate=3)


def test_frozen_parameters_have_no_new_value():
    model, loss, batch = mlp()
    model.layers[0].weight.requires_grad_(False)
    captured = check_whole(model, loss, batch, models.ADAMW, slack=5)
    assert "layers.0.weight" not in [entry.updates for entry in captured.results]
    assert "layers.0.bias" in [entry.updates for entry in captured.results]


def test_gradients_and_other_results():
    model, loss, batch = mlp()
    captured = capture_step(model, lambda model, x, y: (loss(model, x, y), {"logits": model(x)}), batch)
    values = {**captured.values, "inputs.0": batch[0], "inputs.1": batch[1]}
    found = run_whole(captured, values)
    loss(model, *batch).backward()
    assert not difference(found["others.logits"], model(batch[0]).detach())
    for name, parameter in model.named_parameters():
        assert not difference(found[f"grad.{name}"], parameter.grad)


def test_random_numbers_are_the_seeds():
    model, loss, batch = models.build("gpt_dropout")
    captured = capture_step(model, loss, batch)
    values = {**captured.values, "inputs.0": batch[0], "inputs.1": batch[1]}
    losses = [run_whole(captured, {**values, "seed": torch.tensor(seed)})["loss"] for seed in (3, 3, 2**40 + 3)]
    assert losses[0] == losses[1] != losses[2]
    with seeded(2**40 + 3):
        assert not difference(losses[2], loss(model, *batch).detach())


def forked(n):
    """Draws nothing that what follows would notice."""
    with torch.random.fork_rng():
        return torch.rand(n)


@pytest.mark.parametrize("make", [torch.rand, torch.randn, lambda n: torch.randint(3, 9, (n,)),
                                  lambda n: torch.bernoulli(torch.full((n,), 0.3)),
                                  lambda n: torch.empty(n).exponential_(), torch.randperm,
                                  lambda n: torch.empty(n).log_normal_(0.5, 0.5),
                                  lambda n: torch.empty(n).geometric_(0.3), lambda n: torch.empty(n).cauchy_().atan(),
                                  lambda n: F.rrelu(torch.full((n,), -1.0), training=True),
                                  lambda n: torch.randn(n, generator=None),
                                  lambda n: torch.multinomial(torch.tensor([0.2, 0.0, 0.5, 0.3]), n, True),
                                  lambda n: torch.multinomial(torch.tensor([[0.2, 0.0, 3.0]]).expand(n, 3), 2)[:, 0],
                                  lambda n: torch.multinomial(torch.ones(n // 4, 4), 4, True).flatten(),
                                  lambda n: torch.normal(torch.zeros(n), 2.0),
                                  lambda n: torch.normal(0.5, torch.ones(n, 1))[:, 0],
                                  lambda n: torch.normal(torch.zeros(n), torch.ones(())),
                                  lambda n: torch.normal(1.0, 2.0, (n,)),
                                  lambda n: torch.empty(n, dtype=torch.int32).random_(),
                                  lambda n: torch.empty(n).random_(),
                                  lambda n: torch.empty(n).random_(7), lambda n: torch.empty(n).random_(3, 9),
                                  forked, lambda n: torch.rand(n, dtype=torch.float64)])  # fmt: skip
def test_random_op(make):
    captured = capture(lambda x: make(4096) + x, [torch.zeros(())])
    found = run_whole(captured, {"inputs.0": torch.zeros(()), "seed": torch.tensor(5)})["result"]
    with seeded(5):
        expected = make(4096)
    assert not difference(found, expected + torch.zeros(()))
    torch.manual_seed(0)
    mean, spread = make(4096).double().mean(), make(4096).double().std()
    assert abs(found.double().mean() - mean) < 0.1 * spread and abs(found.double().std() - spread) < 0.1 * spread


def test_a_seed_that_forward_sets():
    """What is drawn next is the same in all steps, and what comes behind `fork_rng` is not."""

    def drawn(x):
        with torch.random.fork_rng():
            torch.manual_seed(3)
            return x + torch.rand(4), torch.rand(4)

    captured = capture(lambda x: (*drawn(x), torch.rand(4)), [torch.zeros(4)])
    found = [list(run_whole(captured, {"inputs.0": torch.zeros(4), "seed": torch.tensor(seed)}).values())
             for seed in (5, 6)]  # fmt: skip
    assert torch.equal(found[0][0], found[1][0]) and torch.equal(found[0][1], found[1][1])
    assert not torch.equal(found[0][0], found[0][1]) and not torch.equal(found[0][2], found[1][2])
    with seeded(3):
        assert not difference(found[0][0], torch.rand(4))


def test_backward_within_a_loss():
    """Its gradients are added to those of the loss that is returned."""

    def loss(model, x, y):
        model(x).square().mean().backward()
        return F.cross_entropy(model(x), y)

    model, _, batch = mlp()
    check_whole(model, loss, batch, OPTIMIZERS["momentum"], slack=5)
    check_whole(model, loss, batch, OPTIMIZERS["sgd"], accumulate=2, slack=5)


@pytest.mark.parametrize("name", ["gpt_checkpointed_dropout", "gpt_reentrant_dropout"])
def test_recomputed_dropout_is_the_same(name):
    """A mask of a checkpointed block that differed in the backward pass would give other gradients."""
    model, loss, batch = models.build(name)
    plain = models.GPT(dropout=0.2)
    plain.load_state_dict(model.state_dict())
    values = {"seed": torch.tensor(1), "inputs.0": batch[0], "inputs.1": batch[1]}
    found = []
    for each in (model, plain):
        captured = capture_step(each, loss, batch)
        found.append(run_whole(captured, {**captured.values, **values}))
    for name, value in found[1].items():
        assert not difference(found[0][name], value, 5), name


class Headed(nn.Module):
    """A body that is checkpointed with reentry, of an input that needs no gradient."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.head(torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=True))


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_reentrant_checkpoint_whose_inputs_need_no_gradient():
    """Nothing within is given a gradient, in eager PyTorch too."""
    model, loss, batch = Headed(), lambda model, x, y: F.mse_loss(model(x), y), (models.numbers(8, 6),
        models.numbers(8, 2))
    check_whole(model, loss, batch, OPTIMIZERS["sgd"])
    captured = capture_step(model, loss, batch, optimizer=OPTIMIZERS["sgd"])
    assert {result.updates for result in captured.results if result.updates} == {"head.weight", "head.bias"}


def test_gradients_of_attention():
    """torch's core decomposition of CPU flash attention has wrong gradients; what is captured has the right ones."""
    q, k, v, w = (models.numbers(2, 2, 8, 4, seed=seed) for seed in range(4))

    def gradients(q, k, v):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        with torch.enable_grad():
            result = F.scaled_dot_product_attention(*leaves, is_causal=True)
            return list(torch.autograd.grad((result * w).sum(), leaves))

    captured = capture(gradients, [q, k, v])
    found = run_whole(captured, {f"inputs.{at}": x for at, x in enumerate((q, k, v))})
    for value, expected in zip(found.values(), gradients(q, k, v), strict=True):
        assert not difference(value, expected)


def test_new_values_of_buffers():
    model = nn.BatchNorm1d(3)
    x = models.numbers(5, 3)
    captured = capture(model, [x])
    found = run_whole(captured, {**captured.values, "inputs.0": x})
    expected = model(x)
    assert not difference(found["result"], expected.detach())
    for name, buffer in model.named_buffers():
        assert not difference(found[name], buffer)


def test_tied_weights_are_one_argument():
    model, loss, batch = models.build("gpt_tied")
    names = [argument.name for argument in capture_step(model, loss, batch).arguments]
    assert "tok.weight" in names and "head.weight" not in names


def test_locations_are_the_users_lines():
    model, loss, batch = models.build("gpt")
    text = capture_step(model, loss, batch).text
    assert 'loc("blocks.0.attention.wq/' in text and "(backward)" in text and "models.py" in text
    lines = [line for line in text.splitlines() if " loc(" in line and "func.func" not in line]
    assert sum("models.py" in line for line in lines) > 0.9 * len(lines)


def test_a_model_on_the_meta_device():
    with torch.device("meta"):
        model = models.GPT()
    _, loss, batch = models.build("gpt")
    captured = capture_step(model, loss, batch, optimizer=models.ADAMW)
    _, real_loss, _ = models.build("gpt")
    assert captured.text.count("dot_general") == capture_step(
        models.GPT(), real_loss, batch, optimizer=models.ADAMW
    ).text.count("dot_general")


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: x[x > 0], "depends on the numbers"),
        (lambda x: torch.masked_select(x, x > 0).cumsum(0), "depends on the numbers"),
        (lambda x: x[: int(x.sum())], "depends on the numbers"),
        (lambda x: x.tensor_split(x[0].long()), "depends on the numbers"),
        (lambda x: torch.special.gammainc(x, x), "has no entry in the table"),
        (lambda x: x.view(torch.complex64), "view_as_complex"),
        (lambda x: torch.amp.GradScaler("cpu").scale(x), "a loss that torch.amp.GradScaler scales"),
        (lambda x: x * torch.rand(4, generator=torch.Generator()), "random numbers of a generator"),
        (lambda x: x.unfold(0, 2, 1).add_(1), "a view that has a place in memory twice"),
        (lambda x: x.expand(2, -1).zero_().sum() + x, "a view that has a place in memory twice"),
        (lambda x: x.as_strided((2, 3), (1, 1)).clamp_(min=2).sum() + x, "a view that has a place in memory twice"),
        (lambda x: torch._foreach_add_([x, x], 1) or x, "'_foreach_add_' changes a view with a grad"),
        (lambda x: torch._foreach_mul_([(x.requires_grad_() * 1)[:2]], 2.0) or x, "'_foreach_mul_' changes a view"),
        (lambda x: torch.eye(4).to_sparse() @ x, r"a tensor that is torch\.sparse_coo; expected a dense one"),
        (lambda x: torch.nested.nested_tensor([x, x[:1]], layout=torch.jagged).sum(), "a nested tensor; expected"),
    ],
)
def test_refused_with_its_line(function, message):
    with pytest.raises(UnsupportedError, match=message) as refused:
        capture(function, [torch.ones(4)]).text
    assert "test_steps.py" in str(refused.value)


def test_lines_of_torchvision_are_nobodys_but_its_own():
    scope, file = {}, f"{Path(torch.__file__).parent}vision/a.py"
    exec(compile("def ask(x):\n    return x * float(x.sum())", file, "exec"), scope)
    with pytest.raises(UnsupportedError, match=r"torchvision/a\.py:2: "):
        capture(scope["ask"], [torch.ones(4)])


@pytest.mark.filterwarnings("ignore:.*prototype stage", "ignore:.*beta state", "ignore:.*quantize")
@pytest.mark.parametrize(
    "make, message",
    [
        (lambda x: torch.nested.nested_tensor([x, x[:1]]), "a nested tensor, .*to_padded_tensor"),
        (lambda x: torch.nested.nested_tensor([x, x[:1]], layout=torch.jagged), "a nested tensor"),
        (torch.Tensor.to_sparse, r"a tensor that is torch\.sparse_coo, .*to_dense\(\)"),
        (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), r"a tensor that is quantized, .*dequantize\(\)"),
    ],
)
def test_inputs_that_are_not_dense_are_named(make, message):
    with pytest.raises(TypeError, match=rf"inputs\.0\.mask: {message}"):
        capture_step(mlp()[0], lambda model, batch: model(batch["mask"]), {"mask": make(models.numbers(2, 3))})


def test_a_loss_of_several_elements():
    model, _, batch = mlp()
    with pytest.raises(TypeError, match="expected a tensor of one element"):
        capture_step(model, lambda model, x, y: model(x), batch)


def test_eager_steps_use_the_seeds():
    """The other side of the comparisons: without the mode, dropout would draw other numbers."""
    model, loss, batch = models.build("gpt_dropout")
    again = [eager_steps(model, loss, batch, models.ADAMW, 1)[0][0] for _ in range(2)]
    assert again[0] == again[1]
