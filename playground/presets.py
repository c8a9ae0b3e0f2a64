"""Named architectures: the five tutorials, the papers' models, a trained checkpoint's shape."""

from dataclasses import dataclass
from typing import Any

from playground.config import ModelConfig


@dataclass(frozen=True)
class Preset:
    """A named `ModelConfig`, with its source: the paper, or what sets a tutorial apart.

    Its `tokenizer` is the nearest that there is to its own; `vectors` where it has no token table. A tutorial may bring
    the `text` whose words are its vocabulary.
    """

    title: str
    config: ModelConfig
    source: str
    tokenizer: str = "word"
    text: str | None = None


def _tutorial(**fields: Any) -> ModelConfig:
    """The tutorials leave the initial weights to torch's constructors."""
    return ModelConfig(**{"initialisation": "torch", **fields})


def _vaswani(d_model: int, n_heads: int, d_ff: int, dropout: float) -> ModelConfig:
    return ModelConfig(vocab_size=37_000, d_model=d_model, n_heads=n_heads, d_ff=d_ff, dropout=dropout)


def _bert(vocab_size: int, d_model: int, n_heads: int, n_layers: int) -> ModelConfig:
    return ModelConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        d_ff=4 * d_model,
        norm_eps=1e-12,
        activation="gelu",
        positions="learned",
        scale_embeddings=False,
        embedding_norm=True,
        n_segments=2,
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
"""Keyed by the names that links and the contract use; the sidebar's menu keeps this order."""
