"""What a forward pass computed, by name, returned to the caller."""

import copy
import re
from collections.abc import Callable, ItemsView, Iterator, Mapping
from typing import TypeVar

from torch import Tensor

from playground.errors import UnknownNameError, list_nearest

T = TypeVar("T")


class ByName(dict[str, T]):
    """Tensors or arrays by their names in a trace."""

    def __missing__(self, name: str) -> T:
        numbers = [int(each.split(".")[1]) for each in self if each.startswith("layers.")]
        found = re.match(r"layers\.(-?\d+)\.", str(name))
        if found and numbers and not 0 <= int(found[1]) <= max(numbers):
            raise UnknownNameError(f"There is no layer {found[1]:.20}: the layers are 0 to {max(numbers)}.")
        raise UnknownNameError(f"Nothing here is called {name!r}: {list_nearest(name, self, '; list(…) has all')}.")


class Trace(Mapping[str, Tensor]):
    """Every intermediate of one forward pass, by the name of the exact point where it was taken.

    Legend: B sentences, T tokens, Tq/Tk queries/keys, H heads, D = d_model; `i` counts layers from 0. What a config
    has not is not there. Before a map to d_model, embeddings are d_embedding wide. Where positions are concatenated,
    tokens have zeros in their place. With a merged map, q and k are D wide, and every head's k is the sublayer's input.

    | name | shape | the point |
    |-|-|-|
    | `embed.tokens` | (B, T, D) | rows of the token table, times √D where the config says so; or raw vectors |
    | `embed.sum` | (B, T, D) | with positions and segments, before any norm |
    | `embed.out` | (B, T, D) | what enters the first block |
    | `layers.i.attn.in`, `layers.i.ffn.in` | (B, T, D) | what the sublayer reads |
    | `layers.i.attn.q`, `.k`, `.v` | (B, H, T, d_head) | projections, cut into heads, as they meet |
    | `layers.i.attn.q_projected`, `.k_projected` | (B, n, T, d_head) | the same before a norm or a rotation |
    | `layers.i.attn.q_normed`, `.k_normed` | (B, n, T, d_head) | and behind their norm |
    | `layers.i.attn.k_projected`, `.v_projected` | (B, n_kv_heads, T, d_head) | before several heads get one of them |
    | `position_bias` | (1, H, T, T) | what every layer adds to its scores by distance |
    | `layers.i.attn.scores` | (B, H, Tq, Tk) | q·k / √d_head, and that, −inf where masked |
    | `layers.i.attn.pattern` | (B, H, Tq, Tk) | softmax of the scores, before dropout |
    | `layers.i.attn.z` | (B, H, T, d_head) | each head's weighted sum of values |
    | `layers.i.attn.out`, `layers.i.ffn.out` | (B, T, D) | what the sublayer hands to the residual stream |
    | `layers.i.ffn.up`, `.hidden` | (B, T, d_ff) | before and after the activation, and the gate where there is one |
    | `layers.i.ffn.gate` | (B, T, d_ff) | what a gated feed-forward multiplies by |
    | `layers.i.norm1.in`, `norm2.…` | (B, T, D) | what the norm reads |
    | `layers.i.norm1.normalized`, `norm2.…` | (B, T, D) | after dividing, before gain and bias |
    | `layers.i.norm1.out`, `norm2.…` | (B, T, D) | after gain and bias |
    | `layers.i.post_norm1.…`, `post_norm2.…` | (B, T, D) | the same three points of the norms behind sublayers |
    | `layers.i.resid_mid` | (B, T, D) | block input + attn.out, before any post-norm |
    | `layers.i.resid_post` | (B, T, D) | the feed-forward's input stream + ffn.out, before any post-norm |
    | `layers.i.out` | (B, T, D) | what leaves the block |
    | `embed.norm.…`, `final_norm.…` | (B, T, D) | the same three points of these norms, where the config has them |
    | `final` | (B, T, D) | what leaves the encoder |

    In train mode, every dropout notes what it reads and what it hands on, `….in` and `….out`:

    | name | shape | what drops |
    |-|-|-|
    | `embed.dropout.…` | (B, T, D) | embedded tokens |
    | `layers.i.attn.weight_dropout.…` | (B, H, Tq, Tk) | attention weights |
    | `layers.i.attn.dropout.…`, `layers.i.ffn.dropout.…` | (B, T, D) | what the sublayer adds to the stream |
    | `layers.i.ffn.hidden_dropout.…` | (B, T, d_ff) | the feed-forward's hidden layer |
    """

    recording = True

    def __init__(self, keep: Callable[[str], bool] = lambda name: True) -> None:
        """Record the tensors whose full name `keep` accepts."""
        self._keep = keep
        self._tensors = ByName[Tensor]()
        self._prefix = ""

    def scope(self, name: str) -> "Trace":
        """Return a view that records under `name.`."""
        child = copy.copy(self)
        child._prefix = f"{self._prefix}{name}."
        return child

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Note the tensor and return it; a trace that returns another one changes the pass (`model.interventions`)."""
        if self._keep(self._prefix + name):
            self._tensors[self._prefix + name] = tensor
        return tensor

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def items(self) -> ItemsView[str, Tensor]:
        """Return names and tensors."""
        return self._tensors.items()

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        points = [f"{name} {tuple(tensor.shape)}" for name, tensor in self.items()]
        return f"Trace of {len(points)} points: {', '.join([*points[:2], '…', *points[-1:]])}"


class _Untraced(Trace):
    recording = False

    def scope(self, name: str) -> Trace:
        return self

    def record(self, name: str, tensor: Tensor) -> Tensor:
        return tensor


UNTRACED = _Untraced()


def or_untraced(trace: Trace | None) -> Trace:
    """Return `UNTRACED` for None."""
    return UNTRACED if trace is None else trace
