"""One token's way through one head of one layer: its arrays, and where changes set other numbers.

Legend: T tokens, padding included, H heads, D = d_model.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from playground.config import ModelConfig
from playground.model.change_texts import write_formula
from playground.model.changes import Change
from playground.model.positions import frequencies
from playground.runs.arrays import Floats
from playground.runs.encoder_run import LayerRun
from playground.text.wording import number


@dataclass(frozen=True)
class Walk:
    """A head, a query token and a key token to follow through a layer."""

    layer: LayerRun
    head: int
    query: int
    key: int

    @property
    def config(self) -> ModelConfig:
        """The architecture that ran."""
        return self.layer.run.config

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The keys that the query may attend to, (T,)."""
        keys: NDArray[np.bool_] = self.layer.run.allowed_in(self.layer.layer)[self.query]
        return keys

    def of_query(self, name: str) -> Floats:
        """Return the query's row of an array."""
        return self._row(self.layer[name])

    def computed(self, name: str) -> Floats:
        """Return the same as the model computed it, before a change set other numbers."""
        return self._row(self.layer.computed(name))

    def _row(self, array: Floats) -> Floats:
        row: Floats = array[self.head, self.query] if array.ndim == 3 else array[self.query]
        return row

    @property
    def first_sum(self) -> tuple[Floats, Floats]:
        """The two vectors (D,) that the first residual connection adds."""
        return self._stream_and_output("attn", "norm1")

    @property
    def second_sum(self) -> tuple[Floats, Floats]:
        """The two vectors (D,) that the second residual connection adds."""
        return self._stream_and_output("ffn", "norm2")

    def _stream_and_output(self, sublayer: str, norm: str) -> tuple[Floats, Floats]:
        reader = sublayer if self.config.norm_placement == "post" else norm  # of the stream, before the sublayer
        added = f"post_{norm}.out" if self.config.norm_placement == "both" else f"{sublayer}.out"
        return self.of_query(f"{reader}.in"), self.of_query(added)

    def dot_products(self) -> Floats:
        """The query with every key, (T,), before scale and mask."""
        products: Floats = self.layer["attn.k"][self.head].astype(np.float64) @ self.of_query("attn.q")
        return products

    def scaled(self) -> Floats:
        """The dot products over √d_head, (T,)."""
        return self.dot_products() / math.sqrt(self.config.head_width)

    def unmasked(self) -> Floats:
        """The scores, (T,), before the mask."""
        return self.scaled() + self.position_bias()

    def rotary_frequencies(self) -> Floats:
        """Radians by which each pair of features of a query turns a position."""
        found: Floats = frequencies(self.config.qk_width, base=self.config.rotary_base_of(self.layer.layer)).numpy()
        return found

    def turn(self, x: Floats, places: ArrayLike) -> Floats:
        """Turn (…, d_head) at one place, or (…, tokens, d_head) at a place each."""
        angles = np.multiply.outer(places, self.rotary_frequencies())  # (…, d_head / 2)
        cosines, sines = np.cos(angles), np.sin(angles)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)

    def position_bias(self) -> Floats:
        """What the query's scores get by distance, (T,); zeros by default."""
        bias = self.layer.run.arrays.get("position_bias")
        found: Floats = np.zeros(len(self.layer.run.tokens)) if bias is None else bias[self.head, self.query]
        return found.astype(np.float64)

    def projected(self, name: str) -> Floats:
        """Return `q`, `k` or `v` as the map gives them: (T, d_head)."""
        return self._of_head(name, "projected", "")

    def normed(self, name: str) -> Floats:
        """Return the head's `q` or `k` behind their norm, if any: (T, d_head)."""
        return self._of_head(name, "normed", "projected", "")

    def _of_head(self, name: str, *points: str) -> Floats:
        """The head's array at the first of these points that the trace has."""
        arrays, start = self.layer.run.arrays, f"layers.{self.layer.layer}.attn.{name}"
        found = next(key for point in points if (key := f"{start}_{point}" if point else start) in arrays)
        array: Floats = self.layer.run.computed.get(found, arrays[found])
        return array[self.head * len(array) // self.config.n_heads]  # type: ignore[no-any-return]

    @property
    def merge_moves_results(self) -> bool:
        """Whether merging the heads puts results at other positions than their query's."""
        several = self.config.n_heads > 1 and len(self.layer.run.tokens) > 1
        return self.config.head_merge == "reshape" and several

    def pieces(self) -> list[tuple[int, int]]:
        """Return head and token of each piece of the merged vector."""
        n_heads, n_tokens = self.config.n_heads, len(self.layer.run.tokens)
        if self.config.head_merge == "transpose":
            return [(head, self.query) for head in range(n_heads)]
        # Without the transpose, the pieces lie head by head, each head's tokens in a row; H of them make a vector.
        return [divmod(self.query * n_heads + i, n_tokens) for i in range(n_heads)]


# --- where changes set other numbers


@dataclass(frozen=True)
class ChangedPoint:
    """What changes set at one point of a walk."""

    point: str
    symbol: str
    changes: tuple[Change, ...]
    formulas: tuple[str, ...]
    """LaTeX, one a change; then a number before and after."""
    before: Floats
    """(D,), (d_head,) or (T,): as the model computed it."""
    after: Floats


def list_row_changes(walk: Walk) -> tuple[Change, ...]:
    """Return the changes that set weights of the walk's query in its head."""
    points = [change_point(walk, point, "") for point in ("attn.scores", "attn.pattern")]
    return tuple(change for point in points if point is not None for change in point.changes)


def change_point(walk: Walk, point: str, symbol: str) -> ChangedPoint | None:
    """Return what changes set at a point of the walk, with its symbol."""
    run, name = walk.layer.run, point if point.startswith("embed") else f"layers.{walk.layer.layer}.{point}"
    if name not in run.computed:
        return None
    token = walk.key if point in ("attn.k", "attn.v") else walk.query
    changes = tuple(each for each in run.changes_at(name) if _acts_on(each, walk, token))
    if not changes:
        return None
    before, after = (arrays[name] for arrays in (run.computed, run.arrays))
    row = (walk.head, token) if before.ndim == 3 else (token,)
    of_key = point in ("attn.scores", "attn.pattern")
    place, first = (walk.key, symbol) if of_key else (0, symbol.replace("_", "_{", 1) + ",0}")
    numbers = rf"{first}: \quad {number(before[row][place])} \;\to\; {number(after[row][place])}"
    formulas = (*(write_formula(each, symbol, number) for each in changes), numbers)
    return ChangedPoint(point, symbol, changes, formulas, before[row], after[row])


def _acts_on(change: Change, walk: Walk, token: int) -> bool:
    is_reader = token != change["key"] and not walk.layer.run.padding[token]  # of a hidden token
    is_of_token = is_reader if change.kind == "hide" else change["query"] in (None, token)
    return is_of_token and change.head in (None, walk.head)
