"""Small models for the tests of `shardonnay.torch`: (model, loss function, batch) of each."""

import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch.utils.checkpoint


def cross_entropy(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits.flatten(0, -2), y.flatten())


def tokens(batch=8, length=8, vocabulary=32):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, vocabulary, (batch, length + 1), generator=generator)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def images(batch=8, channels=3, size=8, classes=10):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, channels, size, size, generator=generator), torch.randint(
        0, classes, (batch,), generator=generator
    )


def numbers(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Attention(nn.Module):
    def __init__(self, width, heads, causal=True, kv_heads=None):
        super().__init__()
        self.heads, self.kv_heads, self.causal = heads, kv_heads or heads, causal
        size = width // heads
        self.wq, self.wo = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.wk, self.wv = (nn.Linear(width, size * self.kv_heads, bias=False) for _ in range(2))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            w(x).view(batch, length, heads, -1).transpose(1, 2)
            for w, heads in ((self.wq, self.heads), (self.wk, self.kv_heads), (self.wv, self.kv_heads))
        )
        a = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=self.kv_heads != self.heads)
        return self.wo(a.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, dropout=0.0):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.w1, self.w2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.ln1(x)))
        return x + self.dropout(self.w2(F.gelu(self.w1(self.ln2(x)))))


class GPT(nn.Module):
    def __init__(
        self, vocabulary=32, width=16, heads=4, layers=2, length=8, dropout=0.0, tied=False, checkpointed=None
    ):
        """checkpointed: None, or use_reentrant of the blocks' activation checkpointing."""
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.checkpointed = checkpointed
        if tied:
            self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            if self.checkpointed is None:
                x = block(x)
            else:
                x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=self.checkpointed)
        return self.head(self.ln(x))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rotated(x, positions):
    half = x.shape[-1] // 2
    angle = positions[:, None] * 10000.0 ** (-torch.arange(half) / half)
    return torch.cat(
        [x[..., :half] * angle.cos() - x[..., half:] * angle.sin(),
         x[..., half:] * angle.cos() + x[..., :half] * angle.sin()], -1
    )


class Llama(nn.Module):
    """Rotary positions, RMS norms, gated feed-forward, grouped queries."""

    def __init__(self, vocabulary=32, width=16, heads=4, kv_heads=2, layers=2):
        super().__init__()
        self.tok, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(2 * layers + 1))
        self.attention = nn.ModuleList(Attention(width, heads, kv_heads=kv_heads) for _ in range(layers))
        self.up, self.gate, self.down = (
            nn.ModuleList(nn.Linear(*sizes, bias=False) for _ in range(layers))
            for sizes in ((width, 2 * width), (width, 2 * width), (2 * width, width))
        )

    def forward(self, ids):
        x = self.tok(ids)
        x = rotated(x, torch.arange(ids.shape[1]))
        for at, attention in enumerate(self.attention):
            x = x + attention(self.norms[2 * at](x))
            y = self.norms[2 * at + 1](x)
            x = x + self.down[at](F.silu(self.gate[at](y)) * self.up[at](y))
        return self.head(self.norms[-1](x))


class Experts(nn.Module):
    """A mixture of experts: every expert on every token, weighted by the router's two best."""

    def __init__(self, width=16, experts=4, vocabulary=32):
        super().__init__()
        self.tok, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.router = nn.Linear(width, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.1)
        self.w2 = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.1)

    def forward(self, ids):
        x = self.tok(ids)
        weight, chosen = self.router(x).softmax(-1).topk(2, -1)
        gates = torch.zeros(*x.shape[:2], self.w1.shape[0]).scatter(-1, chosen, weight)
        hidden = torch.einsum("btd,edh->bteh", x, self.w1).relu()
        return self.head(x + torch.einsum("bteh,ehd,bte->btd", hidden, self.w2, gates))


class ResNet(nn.Module):
    def __init__(self, channels=8, classes=10):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv1, self.norm1 = nn.Conv2d(channels, 2 * channels, 3, 2, 1, bias=False), nn.BatchNorm2d(2 * channels)
        self.conv2, self.norm2 = (
            nn.Conv2d(2 * channels, 2 * channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(2 * channels),
        )
        self.skip, self.head = nn.Conv2d(channels, 2 * channels, 1, 2), nn.Linear(2 * channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 1, 1)
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        x = F.relu(y + self.skip(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class UNet(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.down, self.norm = nn.Conv2d(3, channels, 3, 2, 1), nn.GroupNorm(2, channels)
        self.middle = nn.Conv2d(channels, channels, 3, padding=1)
        self.up = nn.ConvTranspose2d(channels, channels, 2, 2)
        self.out = nn.Conv2d(channels + 3, 3, 3, padding=1)

    def forward(self, x):
        y = self.middle(F.silu(self.norm(self.down(x))))
        y = self.up(y) + F.interpolate(y, scale_factor=2, mode="nearest")
        return self.out(torch.cat([x, y], 1))


class Graph(nn.Module):
    """Two layers of message passing by scatter-adds along edges."""

    def __init__(self, width=8, classes=4):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, x, edges):
        source, target = edges
        for layer in (self.first, self.second):
            message = layer(x)[source]
            degree = torch.zeros(x.shape[0]).index_add(0, target, torch.ones(target.shape[0])).clamp(min=1)
            x = torch.relu(torch.zeros(x.shape[0], message.shape[1]).index_add(0, target, message) / degree[:, None])
        return x


class Recurrent(nn.Module):
    def __init__(self, kind=nn.LSTM, vocabulary=32, width=8):
        super().__init__()
        self.tok, self.cells, self.head = nn.Embedding(vocabulary, width), kind(width, width,
            batch_first=True), nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.head(self.cells(self.tok(ids))[0])


class Mamba(nn.Module):
    """A selective state space, its recurrence as a loop over positions."""

    def __init__(self, vocabulary=32, width=8, states=4):
        super().__init__()
        self.tok, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.rates = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(width, 1))
        self.project, self.step = nn.Linear(width, 2 * states), nn.Linear(width, width)
        self.mix = nn.Conv1d(width, width, 3, padding=2, groups=width)

    def forward(self, ids):
        x = self.tok(ids)
        x = F.silu(self.mix(x.transpose(1, 2))[..., : ids.shape[1]].transpose(1, 2))
        inputs, outputs = self.project(x).chunk(2, -1)
        delta = F.softplus(self.step(x))
        decay = torch.exp(-delta[..., None] * self.rates.exp())
        drive = delta[..., None] * x[..., None] * inputs[:, :, None]
        state, results = torch.zeros_like(drive[:, 0]), []
        for at in range(ids.shape[1]):
            state = decay[:, at] * state + drive[:, at]
            results.append((state * outputs[:, at, None]).sum(-1))
        return self.head(torch.stack(results, 1))


class DLRM(nn.Module):
    """Embedding tables and dense features, combined by their products."""

    def __init__(self, tables=3, rows=16, width=8):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(4, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + 6, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, dense, sparse):
        features = torch.stack([self.bottom(dense), *(table(sparse[:, at]) for at, table in enumerate(self.tables))], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        row, column = torch.triu_indices(4, 4, 1)
        return self.top(torch.cat([features[:, 0], products[:, row, column]], 1)).squeeze(-1)


class ViT(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.patches, self.cls = nn.Conv2d(3, width, 4, 4), nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, 5, width))
        self.block, self.head = (
            nn.TransformerEncoderLayer(width, 4, 32, 0.0, batch_first=True),
            nn.Linear(width, classes),
        )

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.block(x)[:, 0])


class MLP(nn.Module):
    def __init__(self, *widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in zip(widths, widths[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


def _language(model):
    return model, cross_entropy, tokens()


def _classes(model):
    return model, lambda model, x, y: F.cross_entropy(model(x), y), images()


def _autocast(model, x, y):
    with torch.autocast("cpu", torch.bfloat16):
        return cross_entropy(model, x, y)


def _vae():
    model = nn.ModuleDict({"encoder": nn.Linear(8, 8), "decoder": nn.Linear(4, 8)})

    def loss(model, x):
        mean, log = model["encoder"](x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * torch.exp(log / 2)
        return F.mse_loss(model["decoder"](z), x) - 0.5 * (1 + log - mean**2 - log.exp()).mean()

    return model, loss, (numbers(8, 8),)


def _graph():
    generator = torch.Generator().manual_seed(1)
    edges = torch.randint(0, 12, (2, 30), generator=generator)
    target = torch.randint(0, 4, (12,), generator=generator)
    return Graph(), lambda model, x, edges, y: F.cross_entropy(model(x, edges), y), (numbers(12, 8), edges, target)


def _clip():
    model = nn.ModuleDict({"image": MLP(8, 16, 8), "text": MLP(6, 16, 8)})

    def loss(model, image, text):
        a, b = F.normalize(model["image"](image), dim=-1), F.normalize(model["text"](text), dim=-1)
        logits = a @ b.T * 10
        target = torch.arange(len(a))
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2

    return model, loss, (numbers(8, 8), numbers(8, 6, seed=2))


def _dlrm():
    sparse = torch.randint(0, 16, (8, 3), generator=torch.Generator().manual_seed(1))
    loss = lambda model, dense, sparse, y: F.binary_cross_entropy_with_logits(model(dense, sparse), y)
    return DLRM(), loss, (numbers(8, 4), sparse, (numbers(8) > 0).float())


def _transformer():
    model = nn.Transformer(16, 4, 1, 1, 32, 0.0, batch_first=True)
    return model, lambda model, x, y: F.mse_loss(model(x, y), y), (numbers(8, 6, 16), numbers(8, 4, 16, seed=2))


def _normalizing():
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 2), nn.LogSoftmax(-1))
    return model, lambda model, x, y: F.nll_loss(model(x), y), (numbers(8, 6), torch.arange(8) % 2)


MODELS = {
    "gpt": lambda: _language(GPT()),
    "gpt_tied": lambda: _language(GPT(tied=True)),
    "gpt_dropout": lambda: _language(GPT(dropout=0.2)),
    "gpt_checkpointed": lambda: _language(GPT(checkpointed=False)),
    "gpt_checkpointed_dropout": lambda: _language(GPT(checkpointed=False, dropout=0.2)),
    "gpt_reentrant": lambda: _language(GPT(checkpointed=True)),
    "gpt_reentrant_dropout": lambda: _language(GPT(checkpointed=True, dropout=0.2)),
    "gpt_autocast": lambda: (GPT(), _autocast, tokens()),
    "llama": lambda: _language(Llama()),
    "experts": lambda: _language(Experts()),
    "resnet": lambda: _classes(ResNet()),
    "vit": lambda: _classes(ViT()),
    "unet": lambda: (UNet(), lambda model, x, y: F.mse_loss(model(x), x), images()),
    "graph": _graph,
    "lstm": lambda: _language(Recurrent()),
    "gru": lambda: _language(Recurrent(nn.GRU)),
    "rnn": lambda: _language(Recurrent(nn.RNN)),
    "mamba": lambda: _language(Mamba()),
    "dlrm": _dlrm,
    "mlp": lambda: (MLP(8, 16, 4), lambda model, x, y: F.cross_entropy(model(x), y),
                    (numbers(8, 8), torch.arange(8) % 4)),
    "vae": _vae,
    "clip": _clip,
    "transformer": _transformer,
    "batch_norm": _normalizing,
}


def build(name):
    """(model, loss function, batch) by name, with the same numbers each time."""
    torch.manual_seed(0)
    return MODELS[name]()


# A large eps: a gradient that is zero but for rounding would make a step of its own.
ADAMW = functools.partial(torch.optim.AdamW, lr=1e-2, eps=1e-3)
