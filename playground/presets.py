"""Named architectures: the tutorials, the papers' models, a checkpoint's shape."""

from dataclasses import dataclass
from typing import Any

from playground.config import ModelConfig


@dataclass(frozen=True)
class Preset:
    """A named `ModelConfig` with its source, the nearest tokenizer, and a tutorial's own `text`."""

    title: str
    config: ModelConfig
    source: str
    tokenizer: str = "word"
    text: str | None = None


def _tutorial(**fields: Any) -> ModelConfig:
    return ModelConfig(**{"initialisation": "torch", **fields})


def _sized(vocab_size: int, d_model: int, n_heads: int, n_layers: int, d_ff: int = 0, **fields: Any) -> ModelConfig:
    sizes = {"vocab_size": vocab_size, "d_model": d_model, "n_heads": n_heads, "n_layers": n_layers}
    return ModelConfig(**sizes | {"d_ff": d_ff or 4 * d_model} | fields)


_BERT: dict[str, Any] = {
    "positions": "learned",
    "scale_embeddings": False,
    "embedding_norm": True,
    "activation": "gelu",
}
_BERT |= {"norm_eps": 1e-12, "n_segments": 2}
_GPT: dict[str, Any] = {"norm_placement": "pre", "final_norm": True, "activation": "gelu", "positions": "learned"}
_GPT |= {"scale_embeddings": False}
_T5: dict[str, Any] = {"norm_placement": "pre", "norm": "rms", "norm_eps": 1e-6, "final_norm": True, "bias": False}
_T5 |= {"positions": "relative", "scale_embeddings": False}
_MODERNBERT: dict[str, Any] = {
    "max_len": 8_192,
    "dropout": 0.0,
    "norm_placement": "pre",
    "final_norm": True,
    "first_norm": False,
}
_MODERNBERT |= {"bias": False, "activation": "gelu", "gated": True, "positions": "rotary", "rotary_base": 160_000}
_MODERNBERT |= {"local_rotary_base": 10_000, "window": 128, "global_every": 3, "scale_embeddings": False}
_MODERNBERT |= {"embedding_norm": True}


PRESETS: dict[str, Preset] = {
    "minilm-l6": Preset(
        "MiniLM-L6",
        _sized(30_522, 384, 12, 6, **_BERT),
        "all-MiniLM-L6-v2: MiniLM-L6-H384 (Wang et al. 2020), fine-tuned to encode sentences on over a billion pairs "
        "of them; without its pooler",
        tokenizer="wordpiece",
    ),
    "tutorial-a": Preset(
        "Tutorial A: Understanding and Implementing a Transformer Encoder",
        _tutorial(vocab_size=5, norm_placement="pre", norm="scalar", norm_eps=1e-6, final_norm=True),
        "pre-norm with one α and one β a norm; its five-word sentence",
        text="this is an example sentence",
    ),
    "tutorial-b": Preset(
        "Tutorial B: Attention, Positional Encoding, Encoder Block",
        _tutorial(
            vocab_size=0, d_model=16, n_heads=4, n_layers=1, d_ff=64, dropout=0.0, positions="sinusoidal-doubled"
        ),
        "raw vectors; the position exponent counts twice",
        tokenizer="vectors",
    ),
    "tutorial-c": Preset(
        "Tutorial C: Explanation of Transformer Encoding",
        _tutorial(vocab_size=0, n_layers=5, positions="none", fused_qkv=True, head_merge="reshape"),
        "raw vectors; one fused projection, heads merged by a bare reshape",
        tokenizer="vectors",
    ),
    "tutorial-d": Preset(
        "Tutorial D: Notebook 05, Building a Transformer Encoder Block",
        _tutorial(vocab_size=10_000, activation="gelu", final_norm=True, max_len=5_000),
        "post-norm although its text says pre-norm; GELU; a final norm",
    ),
    "tutorial-e": Preset(
        "Tutorial E: Implementing the Transformer Model from Scratch",
        _tutorial(vocab_size=10_000),
        "the encoder half; the sizes are ours, the tutorial leaves them open",
    ),
    "vaswani-base": Preset(
        "Transformer base", _sized(37_000, 512, 8, 6), "Vaswani et al. 2017, table 3; its encoder", tokenizer="bpe"
    ),
    "vaswani-big": Preset(
        "Transformer big",
        _sized(37_000, 1_024, 16, 6, dropout=0.3),
        "Vaswani et al. 2017, table 3; its encoder",
        tokenizer="bpe",
    ),
    "bert-base": Preset(
        "BERT base",
        _sized(30_522, 768, 12, 12, **_BERT),
        "Devlin et al. 2018, section 3; without its pooler",
        tokenizer="wordpiece",
    ),
    "bert-large": Preset(
        "BERT large",
        _sized(30_522, 1_024, 16, 24, **_BERT),
        "Devlin et al. 2018, section 3; without its pooler",
        tokenizer="wordpiece",
    ),
    "roberta-base": Preset(
        "RoBERTa base",
        _sized(50_265, 768, 12, 12, **_BERT | {"norm_eps": 1e-5, "n_segments": 1, "position_offset": 2}),
        "Liu et al. 2019; without its head",
        tokenizer="bpe",
    ),
    "distilbert-base": Preset(
        "DistilBERT base",
        _sized(30_522, 768, 12, 6, **_BERT | {"n_segments": 0}),
        "Sanh et al. 2019; without its head",
        tokenizer="wordpiece",
    ),
    "albert-base": Preset(
        "ALBERT base",
        _sized(30_000, 768, 12, 12, **_BERT | {"activation": "gelu-tanh", "share_layers": True, "d_embedding": 128}),
        "Lan et al. 2019, table 1; without its pooler",
        tokenizer="bpe",
    ),
    "electra-small": Preset(
        "ELECTRA small",
        _sized(30_522, 256, 4, 12, **_BERT, d_embedding=128),
        "Clark et al. 2020; the discriminator without its head",
        tokenizer="wordpiece",
    ),
    "t5-base": Preset(
        "T5 base", _sized(32_128, 768, 12, 12, **_T5), "Raffel et al. 2020, section 3.1.1; its encoder", tokenizer="bpe"
    ),
    "modernbert-base": Preset(
        "ModernBERT base",
        _sized(50_368, 768, 12, 22, 1_152, **_MODERNBERT),
        "Warner et al. 2024; without its head",
        tokenizer="bpe",
    ),
    "modernbert-large": Preset(
        "ModernBERT large",
        _sized(50_368, 1_024, 16, 28, 2_624, **_MODERNBERT),
        "Warner et al. 2024; without its head",
        tokenizer="bpe",
    ),
    "gpt-2": Preset(
        "GPT-2",
        _sized(50_257, 768, 12, 12, max_len=1_024, **_GPT),
        "Radford et al. 2019, table 2, smallest; its blocks, counted",
        tokenizer="bpe",
    ),
    "gpt-3": Preset(
        "GPT-3",
        _sized(50_257, 12_288, 96, 96, max_len=2_048, **_GPT),
        "Brown et al. 2020, table 2.1, largest; its blocks, counted",
        tokenizer="bpe",
    ),
}
"""In the sidebar's order."""
