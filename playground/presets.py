"""Named architectures: the tutorials, the papers' models, a checkpoint's shape."""

from dataclasses import dataclass
from typing import Any

from playground.config import ModelConfig


@dataclass(frozen=True)
class Preset:
    """A named `ModelConfig` with the nearest tokenizer, and a tutorial's own `text`."""

    title: str
    config: ModelConfig
    tokenizer: str = "word"
    text: str | None = None


def _tutorial(**fields: Any) -> ModelConfig:
    return ModelConfig(**{"initialisation": "torch", **fields})


def _sized(vocab_size: int, d_model: int, n_heads: int, n_layers: int, d_ff: int = 0, **fields: Any) -> ModelConfig:
    sizes = {"vocab_size": vocab_size, "d_model": d_model, "n_heads": n_heads, "n_layers": n_layers}
    return ModelConfig(**sizes | {"d_ff": d_ff or 4 * d_model} | fields)


_BERT: dict[str, Any] = {"positions": "learned", "scale_embeddings": False, "embedding_norm": True}
_BERT |= {"activation": "gelu", "norm_eps": 1e-12, "n_segments": 2}
_GPT: dict[str, Any] = {"norm_placement": "pre", "final_norm": True, "activation": "gelu", "positions": "learned"}
_GPT |= {"scale_embeddings": False}
_T5: dict[str, Any] = {"norm_placement": "pre", "norm": "rms", "norm_eps": 1e-6, "final_norm": True, "bias": False}
_T5 |= {"positions": "relative", "scale_embeddings": False}
_MODERNBERT: dict[str, Any] = {"norm_placement": "pre", "final_norm": True, "first_norm": False, "bias": False}
_MODERNBERT |= {"activation": "gelu", "gated": True, "positions": "rotary", "rotary_base": 160_000, "max_len": 8_192}
_MODERNBERT |= {"local_rotary_base": 10_000, "window": 128, "global_every": 3, "dropout": 0.0}
_MODERNBERT |= {"scale_embeddings": False, "embedding_norm": True}


PRESETS: dict[str, Preset] = {
    "minilm-l6": Preset("MiniLM-L6", _sized(30_522, 384, 12, 6, **_BERT), tokenizer="wordpiece"),
    "tutorial-a": Preset(
        "Tutorial A: Understanding and Implementing a Transformer Encoder",
        _tutorial(vocab_size=5, norm_placement="pre", norm="scalar", norm_eps=1e-6, final_norm=True),
        text="this is an example sentence",
    ),
    "tutorial-b": Preset(
        "Tutorial B: Attention, Positional Encoding, Encoder Block",
        _tutorial(
            vocab_size=0, d_model=16, n_heads=4, n_layers=1, d_ff=64, dropout=0.0, positions="sinusoidal-doubled"
        ),
        tokenizer="vectors",
    ),
    "tutorial-c": Preset(
        "Tutorial C: Explanation of Transformer Encoding",
        _tutorial(vocab_size=0, n_layers=5, positions="none", fused_qkv=True, head_merge="reshape"),
        tokenizer="vectors",
    ),
    "tutorial-d": Preset(
        "Tutorial D: Notebook 05, Building a Transformer Encoder Block",
        _tutorial(vocab_size=10_000, activation="gelu", final_norm=True, max_len=5_000),
    ),
    "tutorial-e": Preset("Tutorial E: Implementing the Transformer Model from Scratch", _tutorial(vocab_size=10_000)),
    "vaswani-base": Preset("Transformer base", _sized(37_000, 512, 8, 6), tokenizer="bpe"),
    "vaswani-big": Preset("Transformer big", _sized(37_000, 1_024, 16, 6, dropout=0.3), tokenizer="bpe"),
    "bert-base": Preset("BERT base", _sized(30_522, 768, 12, 12, **_BERT), tokenizer="wordpiece"),
    "bert-large": Preset("BERT large", _sized(30_522, 1_024, 16, 24, **_BERT), tokenizer="wordpiece"),
    "roberta-base": Preset(
        "RoBERTa base",
        _sized(50_265, 768, 12, 12, **_BERT | {"norm_eps": 1e-5, "n_segments": 1, "position_offset": 2}),
        tokenizer="bpe",
    ),
    "distilbert-base": Preset(
        "DistilBERT base", _sized(30_522, 768, 12, 6, **_BERT | {"n_segments": 0}), tokenizer="wordpiece"
    ),
    "albert-base": Preset(
        "ALBERT base",
        _sized(30_000, 768, 12, 12, **_BERT | {"activation": "gelu-tanh", "share_layers": True, "d_embedding": 128}),
        tokenizer="bpe",
    ),
    "electra-small": Preset(
        "ELECTRA small", _sized(30_522, 256, 4, 12, **_BERT, d_embedding=128), tokenizer="wordpiece"
    ),
    "t5-base": Preset("T5 base", _sized(32_128, 768, 12, 12, **_T5), tokenizer="bpe"),
    "modernbert-base": Preset("ModernBERT base", _sized(50_368, 768, 12, 22, 1_152, **_MODERNBERT), tokenizer="bpe"),
    "modernbert-large": Preset(
        "ModernBERT large", _sized(50_368, 1_024, 16, 28, 2_624, **_MODERNBERT), tokenizer="bpe"
    ),
    "gpt-2": Preset("GPT-2", _sized(50_257, 768, 12, 12, max_len=1_024, **_GPT), tokenizer="bpe"),
    "gpt-3": Preset("GPT-3", _sized(50_257, 12_288, 96, 96, max_len=2_048, **_GPT), tokenizer="bpe"),
}
"""In the sidebar's order."""
