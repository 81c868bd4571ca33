"""What is compared: models of test/torch, in sizes at which bytes are those of weights and activations, and how their
parameters are sharded.
"""

import functools
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.distributed.tensor import Replicate, Shard

sys.path.append(str(Path(__file__).resolve().parents[2] / "test/torch"))
import models  # noqa: E402

R = Replicate()
OPTIMIZER = functools.partial(torch.optim.AdamW, lr=1e-2, eps=1e-3)
MESHES = {"megatron": {"dp": 2, "tp": 4}, "fsdp": {"fsdp": 8}}
BATCH, LENGTH, VOCABULARY, WIDTH = 8, 32, 256, 64

# Patterns of parameters that are sharded by columns and by rows; the others are whole.
COLUMNS = (
    "*.w[qkv1].weight", "*.w1.bias", "*head.weight", "*.[qkv]_proj.weight", "*.[qkv]_proj.bias", "*.gate_proj.weight",
    "*.up_proj.weight", "*.fc1.weight", "*.fc1.bias", "up.*.weight", "gate.*.weight", "layers.0.weight",
    "layers.0.bias", "*.layers.0.weight", "*.layers.0.bias", "*.query.weight", "*.query.bias", "*.key.weight",
    "*.key.bias", "*.value.weight", "*.value.bias", "*.intermediate.dense.*", "*.linear1.*", "*.router.weight",
)  # fmt: skip
ROWS = (
    "*.w[o2].weight", "*.o_proj.weight", "*.down_proj.weight", "*.fc2.weight", "*.dense.weight", "*.out_proj.weight",
    "down.*.weight", "layers.1.weight", "*.layers.1.weight", "*.linear2.weight",
)  # fmt: skip
MEGATRON = {
    **{pattern: (R, Shard(0)) for pattern in COLUMNS},
    # not tables of embeddings: DTensor fails where what it looks up in a table that is sharded by rows is read twice
    **{pattern: (R, Shard(1)) for pattern in ROWS},
    "*": (R, R),
}


def tokens():
    return models.tokens(BATCH, LENGTH, VOCABULARY)


def _causal(name, **more):
    def make():
        import transformers

        config = getattr(transformers, f"{name}Config")(
            hidden_size=WIDTH, intermediate_size=4 * WIDTH, num_hidden_layers=2, num_attention_heads=8,
            vocab_size=VOCABULARY, max_position_embeddings=LENGTH,
            **{"num_key_value_heads": 4, "head_dim": 8, "tie_word_embeddings": False, **more},
        )  # fmt: skip
        config._attn_implementation = "eager"
        model = getattr(transformers, f"{name}ForCausalLM")(config)
        return model, lambda model, x, y: F.cross_entropy(model(input_ids=x, use_cache=False).logits.flatten(0, 1),
                                                          y.flatten()), tokens()

    return make


def _bert():
    import transformers

    config = transformers.BertConfig(
        hidden_size=WIDTH, intermediate_size=4 * WIDTH, num_hidden_layers=2, num_attention_heads=8,
        vocab_size=VOCABULARY, max_position_embeddings=LENGTH, attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0, tie_word_embeddings=False,
    )  # fmt: skip
    config._attn_implementation = "eager"
    model = transformers.BertForMaskedLM(config)
    return model, lambda model, x, y: F.cross_entropy(model(input_ids=x).logits.flatten(0, 1), y.flatten()), tokens()


def _language(kind, **sizes):
    return lambda: (kind(VOCABULARY, WIDTH, **sizes), models.cross_entropy, tokens())


def _mlp():
    model = models.MLP(WIDTH, 8 * WIDTH, WIDTH)
    return model, lambda model, x, y: F.mse_loss(model(x), y), (models.numbers(64, WIDTH),
                                                                models.numbers(64, WIDTH, seed=2))


def _clip():
    model = torch.nn.ModuleDict({"image": models.MLP(WIDTH, 4 * WIDTH, 32), "text": models.MLP(48, 4 * WIDTH, 32)})

    def loss(model, image, text):
        a, b = model["image"](image), model["text"](text)
        a, b = a * torch.rsqrt(a.pow(2).sum(-1, keepdim=True)), b * torch.rsqrt(b.pow(2).sum(-1, keepdim=True))
        return -F.log_softmax(a @ b.T * 10, -1).diagonal().mean()

    return model, loss, (models.numbers(64, WIDTH), models.numbers(64, 48, seed=2))


PROGRAMS = {
    "mlp": _mlp,
    "gpt": _language(models.GPT, heads=8, length=LENGTH),
    "llama": _language(models.Llama, heads=8, kv_heads=4),
    "clip": _clip,
    "hf-llama": _causal("Llama"),
    "hf-mistral": _causal("Mistral"),
    "hf-qwen2": _causal("Qwen2"),
    "hf-qwen3": _causal("Qwen3"),
    "hf-gemma2": _causal("Gemma2"),
    "hf-bert": _bert,
}


def build(name):
    torch.manual_seed(0)
    return PROGRAMS[name]()


def placements(strategy, name, parameter):
    """The placements of a parameter."""
    import fnmatch

    if strategy == "fsdp":
        return (Shard(0),)
    return next(found for pattern, found in MEGATRON.items() if fnmatch.fnmatchcase(name, pattern))


def batch_placements(strategy):
    return (Shard(0),) if strategy == "fsdp" else (Shard(0), R)
