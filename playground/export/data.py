"""A whole run as one file, `.npz` for Python or JSON for anything else, and what to cite for it.

Either holds `about` (link, configuration, seed, weights, sentence, tokens, versions) and the arrays that were asked
for, by their names in `Trace`. Both are read without pickle: nothing in a file is ever executed.

Legend: T tokens, H heads, D = d_model.
"""

import hashlib
import io
import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.model import Encoder, Trace
from playground.pages import PAGES
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import Rows, run_rows

MOST_NUMBERS = 8_000_000
"""In an `.npz` file: 32 MB in fp32."""

MOST_AS_TEXT = 400_000
"""Numbers in a JSON file: about 5 MB."""

LAYER = "layers.{i}."
"""What the name of a layer's point begins with."""

_TINY = {"T": 5, "H": 2, "d_head": 3, "D": 6, "d_ff": 7}
"""Sizes of a small encoder, each another, so that the shapes of its arrays tell what they count."""


@dataclass(frozen=True)
class PointSize:
    """An array of a run: its name in `Trace`, what its axes count, and its shape."""

    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def n_numbers(self) -> int:
        """How many numbers it has, of 4 bytes each."""
        return math.prod(self.shape)


def list_points(config: ModelConfig) -> dict[str, tuple[str, ...]]:
    """Every point of the forward pass, in its order, with what its axes count; a layer's begin with `LAYER`.

    Read off a small encoder of the same kind, so that they are what `Trace` records.
    """
    vocab_size = min(config.vocab_size, 2)
    sizes: Any = {
        "d_model": _TINY["D"],
        "n_heads": _TINY["H"],
        "d_ff": _TINY["d_ff"],
        "n_layers": 1,
        "max_len": _TINY["T"],
    }
    return _list_points(replace(config, vocab_size=vocab_size, **sizes))


@lru_cache(maxsize=64)
def _list_points(config: ModelConfig) -> dict[str, tuple[str, ...]]:
    encoder, trace = Encoder(config, seed=0).eval(), Trace()
    shape = (1, _TINY["T"])
    x = torch.zeros(shape, dtype=torch.int64) if config.vocab_size else torch.zeros(*shape, config.d_model)
    run_rows(encoder, Rows(x, torch.ones(1, *shape, dtype=torch.bool)), trace)
    symbols = {size: symbol for symbol, size in _TINY.items()}
    return {
        name.replace("layers.0.", LAYER): tuple(symbols[size] for size in tensor.shape[1:])
        for name, tensor in trace.items()
    }


def list_sizes(config: ModelConfig, n_tokens: int, points: Iterable[str], layers: Iterable[int]) -> list[PointSize]:
    """The arrays of these points, a layer's in each of `layers`, as a run of so many tokens has them."""
    sizes = {"T": n_tokens, "H": config.n_heads, "d_head": config.head_width, "D": config.d_model, "d_ff": config.d_ff}
    known, chosen = list_points(config), list(layers)
    found = []
    for point in points:
        names = [point.format(i=layer) for layer in chosen] if point.startswith(LAYER) else [point]
        found += [PointSize(name, known[point], tuple(sizes[axis] for axis in known[point])) for name in names]
    return found


def describe_run(
    run: Run, *, seed: int, causal: bool, sentence: str, weights: str, link: str, do: str
) -> dict[str, Any]:
    """What a run is of, in words and numbers that JSON has; `weights` are named as on the page, `do` as in the link."""
    return {
        "link": link,
        "config": asdict(run.config),
        "seed": seed,
        "causal": causal,
        "weights": weights,
        "do": do,
        "sentence": sentence,
        "tokens": list(run.tokens),
        "special": run.special.tolist(),
        "padding": run.padding.tolist(),
        "device": run.device,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of what a run rests on; the playground's own where it is installed, not where its folder runs."""
    return {
        **_own_version(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }


def _own_version() -> dict[str, str]:
    try:
        return {"playground": version("transformer-encoder-playground")}
    except PackageNotFoundError:
        return {}


def check_size(sizes: Iterable[PointSize], most: int = MOST_NUMBERS) -> None:
    """Refuse arrays of more than `most` numbers together.

    Raises:
        TooLargeError: what fits is said.
    """
    n = sum(size.n_numbers for size in sizes)
    if n > most:
        raise TooLargeError(f"These arrays are {n:,} numbers, and a file holds at most {most:,}: choose fewer.")


def write_npz(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The file's bytes, compressed: `about` as JSON in a string, and the arrays by their names.

    Raises:
        TooLargeError: the arrays have more than MOST_NUMBERS numbers together.
    """
    check_size(_sizes_of(arrays))
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def write_json(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Arrays and what they are as JSON: `{"about": …, "arrays": {name: lists of lists}}`.

    JSON has no infinity: where a number is none, it is the word `"inf"`, `"-inf"` or `"nan"`.

    Raises:
        TooLargeError: the arrays have more than MOST_AS_TEXT numbers together.
    """
    check_size(_sizes_of(arrays), MOST_AS_TEXT)
    content = {"about": about, "arrays": {name: _as_lists(array) for name, array in arrays.items()}}
    return json.dumps(content, allow_nan=False, ensure_ascii=True).encode()


def _as_lists(array: Array) -> Any:
    """An array as lists of numbers with the fewest digits that give the same float32."""
    if array.ndim:
        return [_as_lists(part) for part in array]
    number = float(str(array))
    return number if math.isfinite(number) else str(number)


def _sizes_of(arrays: Mapping[str, Array]) -> list[PointSize]:
    return [PointSize(name, (), array.shape) for name, array in arrays.items()]


def lines_to_read(file: str, name: str) -> str:
    """Three lines of Python that read such a file and one of its arrays."""
    return (
        f'import json, numpy as np\nrun = np.load("{file}", allow_pickle=False)\n'
        f'about, array = json.loads(str(run["about"])), run["{name}"]'
    )


def weights_sha256(model: nn.Module) -> str:
    """SHA-256 of a model's parameters, 64 hexadecimal digits: the same numbers give the same on any machine.

    Hashed are each parameter's name, its shape and its numbers as little-endian fp32, in the order of the names.
    """
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().astype("<f4", copy=False).data)
    return digest.hexdigest()


_REFERENCES = Path(__file__).resolve().parent / "references.bib"

_NORMS = {"layer": "ba2016layer", "rms": "zhang2019root"}
_PLACEMENTS = {"pre": "xiong2020layer", "both": "ding2021cogview"}
_ACTIVATIONS = {
    "gelu": "hendrycks2016gaussian",
    "gelu-tanh": "hendrycks2016gaussian",
    "silu": "elfwing2018sigmoid",
}
_POSITIONS = {"rotary": "su2021roformer", "alibi": "press2022train", "relative": "raffel2020exploring"}
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
    chosen = [
        _PLACEMENTS.get(config.norm_placement) if config.norm != "none" else None,
        _NORMS.get(config.norm),
        _ACTIVATIONS.get(config.activation),
        _POSITIONS.get(config.positions),
        "shazeer2020glu" if config.gated else None,
        "ainslie2023gqa" if config.kv_heads < config.n_heads else None,
        "henry2020query" if config.qk_norm else None,
        "beltagy2020longformer" if config.window else None,
        "lan2020albert" if config.share_layers or config.d_embedding else None,
        _TOKENIZERS.get(tokenizer),
    ]
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
