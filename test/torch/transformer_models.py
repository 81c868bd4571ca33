"""Models of Hugging Face's transformers, small, on random weights: (model, loss function, batch) of each."""

import torch
import transformers
from models import numbers, tokens

SMALL = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 32}
DECODER = {**SMALL, "num_key_value_heads": 2, "head_dim": 4, "max_position_embeddings": 16}
QUIET = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}


def language(config, kind):
    return lambda: (getattr(transformers, kind)(config), lambda model, x, y: model(input_ids=x, labels=y).loss,
                    tokens())


def image(kind, config):
    pixels, target = numbers(8, 3, 8, 8), torch.arange(8) % 2
    return getattr(transformers, kind)(config), lambda model, x, y: model(pixel_values=x, labels=y).loss, (pixels,
        target)


def t5():
    config = transformers.T5Config(d_model=16, d_kv=4, d_ff=32, num_layers=1, num_heads=4, vocab_size=32,
                                   dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0)
    model = transformers.T5ForConditionalGeneration(config)
    return model, lambda model, x, y: model(input_ids=x, labels=y).loss, tokens()


def whisper():
    config = transformers.WhisperConfig(
        d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=32, decoder_ffn_dim=32, vocab_size=32, num_mel_bins=8, max_source_positions=8,
        max_target_positions=16, dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    model = transformers.WhisperForConditionalGeneration(config)
    return model, lambda model, x, y: model(input_features=x, labels=y).loss, (numbers(8, 8, 16), tokens()[0])


def clip():
    text = transformers.CLIPTextConfig(**SMALL, max_position_embeddings=16, eos_token_id=31)
    vision = transformers.CLIPVisionConfig(**{**SMALL, "image_size": 8, "patch_size": 4})
    model = transformers.CLIPModel(
        transformers.CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=8)
    )

    def loss(model, ids, pixels):
        return model(input_ids=ids, pixel_values=pixels, return_loss=True).loss

    return model, loss, (tokens()[0], numbers(8, 3, 8, 8))


def vit():
    return image(
        "ViTForImageClassification", transformers.ViTConfig(**SMALL, **QUIET, image_size=8, patch_size=4, num_labels=2)
    )


def resnet():
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=2)
    return image("ResNetForImageClassification", config)


def bert():
    config = transformers.BertConfig(**SMALL, **QUIET, max_position_embeddings=16)
    return language(config, "BertForMaskedLM")()


def gpt2():
    config = transformers.GPT2Config(
        n_embd=16, n_layer=1, n_head=4, vocab_size=32, n_positions=16, embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0
    )
    return language(config, "GPT2LMHeadModel")()


def decoder(name, **more):
    def make():
        config = getattr(transformers, f"{name}Config")(**{**DECODER, **more})
        return language(config, f"{name}ForCausalLM")()

    return make


def mamba():
    config = transformers.MambaConfig(hidden_size=16, state_size=4, num_hidden_layers=1, vocab_size=32)
    return language(config, "MambaForCausalLM")()


def opt():
    config = transformers.OPTConfig(
        hidden_size=16, ffn_dim=32, num_hidden_layers=1, num_attention_heads=4, vocab_size=32,
        max_position_embeddings=16, word_embed_proj_dim=16,
        dropout=0.0, attention_dropout=0.0,
    )  # fmt: skip
    return language(config, "OPTForCausalLM")()


def bloom():
    config = transformers.BloomConfig(
        hidden_size=16, n_layer=1, n_head=4, vocab_size=32, hidden_dropout=0.0, attention_dropout=0.0
    )
    return language(config, "BloomForCausalLM")()


def electra():
    config = transformers.ElectraConfig(**SMALL, **QUIET, embedding_size=8, max_position_embeddings=16)
    return language(config, "ElectraForMaskedLM")()


def convnext():
    return image(
        "ConvNextForImageClassification",
        transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, patch_size=2, num_labels=2),
    )


def swin():
    config = transformers.SwinConfig(**QUIET, image_size=8, patch_size=1, embed_dim=8, depths=[2], num_heads=[2],
                                     window_size=4, drop_path_rate=0.0, num_labels=2)
    return image("SwinForImageClassification", config)


MODELS = {
    "llama": decoder("Llama"),
    "mistral": decoder("Mistral"),
    "qwen2": decoder("Qwen2"),
    "qwen3": decoder("Qwen3"),
    "gemma2": decoder("Gemma2"),
    "gemma": decoder("Gemma"),
    "olmo2": decoder("Olmo2"),
    "gpt_neox": decoder("GPTNeoX", attention_dropout=0.0, hidden_dropout=0.0),
    "phi": decoder("Phi", attention_dropout=0.0, resid_pdrop=0.0, embd_pdrop=0.0),
    "mixtral": decoder("Mixtral", **EXPERTS),
    "gpt2": gpt2,
    "bert": bert,
    "t5": t5,
    "vit": vit,
    "resnet": resnet,
    "whisper": whisper,
    "clip": clip,
    "mamba": mamba,
    "opt": opt,
    "bloom": bloom,
    "electra": electra,
    "convnext": convnext,
    "swin": swin,
}


def build(name):
    """(model, loss function, batch) by name, with the same numbers each time."""
    torch.manual_seed(0)
    return MODELS[name]()
