"""Code to take along beside the package that wrote it: how fast its forward pass is, and how fast it is written."""

import contextlib
import io
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

import torch

from benchmarks.model import compare, traced
from benchmarks.results import Result, interleaved, paired_ratio
from playground import open_link
from playground.export import as_notebook, as_python

PLAIN = {
    "weights": "random",
    "tokenizer": "word",
    "positions": "sinusoidal",
    "embedding_norm": "false",
    "n_segments": 0,
}
BASE = PLAIN | {"d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6}
"""The base model of Vaswani et al. 2017, with a small token table."""

LENGTHS = {16: 60, 128: 30}
"""Tokens of the sentence, and rounds."""


def measure() -> Iterator[Result]:
    """The written forward pass over the package's, which keeps the same numbers; then writing itself."""
    for variant, changes in {"post-norm": {}, "pre-norm, fused, RMS": PRE}.items():
        view, names = open_link(urlencode(BASE | changes)), dict[str, Any]()
        config = view.config
        with contextlib.redirect_stdout(io.StringIO()):
            exec(as_python(view), names)
        encoder, written = view.encoder, names["encoder"]
        for n_tokens, rounds in LENGTHS.items():
            ids = torch.randint(config.vocab_size, (1, n_tokens), generator=torch.Generator().manual_seed(0))
            with torch.inference_mode():
                torch.testing.assert_close(written(ids)[0], encoder(ids), atol=1e-4, rtol=0)
                ours = partial(
                    traced, partial(encoder, ids), lambda name: name == "final" or name.endswith("attn.pattern")
                )
                actions: dict[str, Callable[[], Any]] = {
                    "written": partial(written, ids),
                    "package": ours,
                    "untraced": partial(encoder, ids),
                }
                times = interleaved(actions, rounds)
            what = f"written code, {variant}, {n_tokens} tokens: pass / the package's with the same patterns"
            yield compare(what, times["written"], times["package"], 1.05)
            ratio = paired_ratio(times["written"], times["untraced"])
            yield Result(f"written code, {variant}, {n_tokens} tokens: pass / the package's without patterns", ratio)
    yield from writing()


PRE: dict[str, Any] = {"norm_placement": "pre", "norm": "rms", "fused_qkv": "true", "final_norm": "true"}


def writing() -> Iterator[Result]:
    """Milliseconds until a file or a notebook is there, the run that it is compared with included."""
    small = open_link(urlencode(BASE | {"d_model": 128, "d_ff": 512}))
    trained = open_link("weights=minilm")
    makers: dict[str, Callable[[], str]] = {
        "a Python file of a small encoder": partial(as_python, small),
        "a notebook of a small encoder": partial(as_notebook, small),
        "a Python file of the trained encoder": partial(as_python, trained),
    }
    for what, times in interleaved(makers, rounds=9).items():
        yield Result(f"writing {what}", 1000 * statistics.median(times), 200, unit="ms")
