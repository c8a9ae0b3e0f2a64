"""One token's way through the residual stream: what writes to it, and what an output head reads off it at every depth.

Legend: S sources, L layers, C classes, D = d_model. A depth counts the blocks passed: 0 is the embeddings, L the end.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from playground.analysis.attribution.stream_sources import Source, StreamSplit
from playground.analysis.tex import Floats
from playground.model import Encoder
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run


@dataclass(frozen=True)
class TokenStream:
    """What each source has written to one token, and what is left of it in the vector that leaves the encoder."""

    sources: tuple[Source, ...]
    written: Floats
    """(S,): lengths where it was written; NaN for biases."""
    kept: Floats
    """(S,): lengths of what is left of it at the end, behind all norms."""
    shares: Floats
    """(S,): shares of the final vector x by projection, part · x / ‖x‖². They add up to 1; a part that points away from
    x has one below 0. NaN where x is 0 or not finite."""


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def follow_token(stream: StreamSplit, token: int) -> TokenStream:
    """One token of a stream that was split where it leaves the encoder."""
    parts = stream.parts[:, token].astype(np.float64)  # (S, D)
    final = parts.sum(axis=0)
    shares = parts @ final / (final @ final)
    return TokenStream(stream.sources, stream.written[:, token], np.linalg.norm(parts, axis=-1), shares)


def read_depths(run: Run, token: int, encoder: Encoder, head: nn.Linear) -> Array:
    """An output head's probabilities for one token at every depth: (L + 1, C); the last row is the network's own.

    The vector between two blocks is handed to the head, behind the final norm where there is one, as if the blocks that
    follow were not there (nostalgebraist 2020, "interpreting GPT: the logit lens"). The head was trained on the last
    depth alone, so that early rows say what it would make of them, and not what they hold (Belrose et al. 2023,
    "Eliciting Latent Predictions from Transformers with the Tuned Lens").
    """
    depths = ["embed.out", *(f"layers.{i}.out" for i in range(run.config.n_layers))]
    weight = head.weight
    x = torch.from_numpy(np.stack([run.arrays[name][token] for name in depths])).to(weight)  # (L + 1, D)
    with torch.inference_mode():
        if encoder.final_norm is not None:
            x = encoder.final_norm(x)
        probabilities: Array = head(x).softmax(dim=-1).cpu().numpy()
    return probabilities
