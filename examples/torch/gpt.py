"""A small GPT in plain PyTorch: nothing in it knows of devices."""

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS = 64, 16, 32, 4, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.w1, self.w2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (w(y).unflatten(2, (HEADS, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(attended.transpose(1, 2).flatten(2))
        return x + self.w2(F.gelu(self.w1(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.tokens(x) + self.places.weight)))


def loss_fn(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def make_model():
    torch.manual_seed(0)
    return GPT()


def batches(count, size=8):
    """The same on every rank: sentences that count up from somewhere."""
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        start = torch.randint(VOCABULARY, (size, 1), generator=generator)
        text = (start + torch.arange(LENGTH + 1)) % VOCABULARY
        yield text[:, :-1].contiguous(), text[:, 1:].contiguous()
