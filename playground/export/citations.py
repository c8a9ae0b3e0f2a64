"""What a view rests on, as BibTeX: the app itself, and the papers behind the parts that its configuration has."""

from functools import cache
from pathlib import Path

from playground.config import ModelConfig
from playground.export.data import versions
from playground.pages import PAGES

_REFERENCES = Path(__file__).resolve().parent / "references.bib"

_NORMS = {"layer": "ba2016layer", "rms": "zhang2019root"}
_ACTIVATIONS = {"gelu": "hendrycks2016gaussian", "silu": "elfwing2018sigmoid"}
_TOKENIZERS = {"wordpiece": "schuster2012japanese", "bpe": "sennrich2016neural"}
RELEASED = 2026
"""The year of this version."""


@cache
def references() -> dict[str, str]:
    """Every entry of the list of references, by its key."""
    entries = _REFERENCES.read_text(encoding="utf-8").strip().split("\n\n")
    return {entry.split("{", 1)[1].split(",", 1)[0]: entry for entry in entries}


def choose_references(config: ModelConfig, *, weights: str, tokenizer: str, page: str) -> list[str]:
    """The keys of what a view rests on, the architecture's papers first.

    Args:
        config: the encoder's.
        weights: `minilm` for the trained encoder.
        tokenizer: `wordpiece`, `bpe`, `word` or `char`.
        page: the path of the page.
    """
    keys = ["vaswani2017attention"]
    if config.n_segments or config.embedding_norm:
        keys.append("devlin2019bert")
    if weights == "minilm":
        keys += ["wang2020minilm", "reimers2019sentence"]
    if config.residual:
        keys.append("he2016deep")
    if config.norm_placement == "pre" and config.norm != "none":
        keys.append("xiong2020layer")
    chosen = (_NORMS.get(config.norm), _ACTIVATIONS.get(config.activation), _TOKENIZERS.get(tokenizer))
    keys += [key for key in (*chosen, *PAGES[page].cites) if key is not None]
    return list(dict.fromkeys(keys))


def cite_app(link: str) -> str:
    """The app's own entry, for the view behind a link.

    `link` is the whole address, as the page's button copies it; its query is percent-encoded.
    """
    version = versions().get("playground")
    return (
        "@misc{transformer-encoder-playground,\n"
        "  author       = {{The Transformer Encoder Playground}},\n"
        "  title        = {Transformer Encoder Playground: what an encoder does with one sentence},\n"
        f"  year         = {{{RELEASED}}},\n"
        f"  howpublished = {{\\url{{{link}}}}},\n"
        + (f"  note         = {{Version {version}}},\n" if version else "")
        + "}"
    )
