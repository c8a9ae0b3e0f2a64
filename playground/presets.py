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


def _vaswani(d_model: int, n_heads: int, d_ff: int, dropout: float) -> ModelConfig:
    return ModelConfig(vocab_size=37_000, d_model=d_model, n_heads=n_heads, d_ff=d_ff, dropout=dropout)


def _bert(vocab_size: int, d_model: int, n_heads: int, n_layers: int, **others: Any) -> ModelConfig:
    fields = {"norm_eps": 1e-12, "activation": "gelu", "n_segments": 2, **others}
    return ModelConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        d_ff=4 * d_model,
        positions="learned",
        scale_embeddings=False,
        embedding_norm=True,
        **fields,
    )


def _modernbert(d_model: int, n_heads: int, n_layers: int, d_ff: int) -> ModelConfig:
    return ModelConfig(
        vocab_size=50_368,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        d_ff=d_ff,
        max_len=8_192,
        dropout=0.0,
        norm_placement="pre",
        final_norm=True,
        first_norm=False,
        bias=False,
        activation="gelu",
        gated=True,
        positions="rotary",
        rotary_base=160_000,
        local_rotary_base=10_000,
        window=128,
        global_every=3,
        scale_embeddings=False,
        embedding_norm=True,
    )


def _gpt(d_model: int, n_heads: int, n_layers: int, max_len: int) -> ModelConfig:
    return ModelConfig(
        vocab_size=50_257,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        d_ff=4 * d_model,
        max_len=max_len,
        norm_placement="pre",
        final_norm=True,
        activation="gelu",
        positions="learned",
        scale_embeddings=False,
    )


PRESETS: dict[str, Preset] = {
    "minilm-l6": Preset(
        "MiniLM-L6",
        _bert(30_522, 384, 12, 6),
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
            vocab_size=0,
            d_model=16,
            n_heads=4,
            n_layers=1,
            d_ff=64,
            dropout=0.0,
            positions="sinusoidal-doubled",
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
        "Transformer base", _vaswani(512, 8, 2_048, 0.1), "Vaswani et al. 2017, table 3; its encoder", tokenizer="bpe"
    ),
    "vaswani-big": Preset(
        "Transformer big", _vaswani(1_024, 16, 4_096, 0.3), "Vaswani et al. 2017, table 3; its encoder", tokenizer="bpe"
    ),
    "bert-base": Preset(
        "BERT base",
        _bert(30_522, 768, 12, 12),
        "Devlin et al. 2018, section 3; without its pooler",
        tokenizer="wordpiece",
    ),
    "bert-large": Preset(
        "BERT large",
        _bert(30_522, 1_024, 16, 24),
        "Devlin et al. 2018, section 3; without its pooler",
        tokenizer="wordpiece",
    ),
    "roberta-base": Preset(
        "RoBERTa base",
        _bert(50_265, 768, 12, 12, norm_eps=1e-5, n_segments=1, position_offset=2),
        "Liu et al. 2019; without its head",
        tokenizer="bpe",
    ),
    "distilbert-base": Preset(
        "DistilBERT base",
        _bert(30_522, 768, 12, 6, n_segments=0),
        "Sanh et al. 2019; without its head",
        tokenizer="wordpiece",
    ),
    "albert-base": Preset(
        "ALBERT base",
        _bert(30_000, 768, 12, 12, activation="gelu-tanh", share_layers=True, d_embedding=128),
        "Lan et al. 2019, table 1; without its pooler",
        tokenizer="bpe",
    ),
    "electra-small": Preset(
        "ELECTRA small",
        _bert(30_522, 256, 4, 12, d_embedding=128),
        "Clark et al. 2020; the discriminator without its head",
        tokenizer="wordpiece",
    ),
    "t5-base": Preset(
        "T5 base",
        ModelConfig(
            vocab_size=32_128,
            d_model=768,
            n_heads=12,
            n_layers=12,
            d_ff=3_072,
            norm_placement="pre",
            norm="rms",
            norm_eps=1e-6,
            final_norm=True,
            bias=False,
            positions="relative",
            scale_embeddings=False,
        ),
        "Raffel et al. 2020, section 3.1.1; its encoder",
        tokenizer="bpe",
    ),
    "modernbert-base": Preset(
        "ModernBERT base",
        _modernbert(768, 12, 22, 1_152),
        "Warner et al. 2024; without its head",
        tokenizer="bpe",
    ),
    "modernbert-large": Preset(
        "ModernBERT large",
        _modernbert(1_024, 16, 28, 2_624),
        "Warner et al. 2024; without its head",
        tokenizer="bpe",
    ),
    "gpt-2": Preset(
        "GPT-2",
        _gpt(768, 12, 12, 1_024),
        "Radford et al. 2019, table 2, smallest; its blocks, counted",
        tokenizer="bpe",
    ),
    "gpt-3": Preset(
        "GPT-3",
        _gpt(12_288, 96, 96, 2_048),
        "Brown et al. 2020, table 2.1, largest; its blocks, counted",
        tokenizer="bpe",
    ),
}
"""In the sidebar's order."""
