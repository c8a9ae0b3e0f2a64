"""Changes of one forward pass, as data; to add a kind, add a record to `KINDS`: all else follows from it.

Layers, heads, tokens and sentences count from 0. The new number is (1 − strength) · old + strength · new. T tokens,
padding included.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError, list_nearest
from playground.model.edits import (
    Edit,
    Surroundings,
    even_rows,
    heads_of,
    hide_token,
    patch_vectors,
    set_weight,
    shuffle_positions,
    tokens_of,
)
from playground.model.positions import window_mask

Arg = int | float | str | None

Claim = tuple[Arg, ...]
"""The numbers that a change sets, from the kind down to single ones; None = all."""

Words = Callable[[int | None], str]

WriteNumber = Callable[[float], str]

SUBLAYERS: dict[str, str] = {"attn": "attention", "ffn": "feed-forward"}

PATCH_POINTS: dict[str, tuple[str, str]] = {
    "embed": ("embed.out", "the embedding"),
    "q": ("attn.q", "queries"),
    "k": ("attn.k", "keys"),
    "v": ("attn.v", "values"),
    "z": ("attn.z", "the heads' results"),
    "attn": ("attn.out", "attention's output"),
    "mid": ("resid_mid", "the stream after attention"),
    "ffn": ("ffn.out", "feed-forward's output"),
    "out": ("out", "the output"),
}
"""Where a token's vector can be replaced: the trace's name in a layer, and words."""

HEAD_POINTS = ("q", "k", "v", "z")


@dataclass(frozen=True)
class Change:
    """One change: its kind, place and strength."""

    kind: str
    layer: int | None = None
    """None = outside of the layers."""
    head: int | None = None
    """None = every head."""
    args: tuple[Arg, ...] = ()
    strength: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InterventionError(f"There is no kind of change {self.kind!r}: {list_nearest(self.kind, KINDS)}.")
        if len(self.args) != len(self.spec.args):
            raise InterventionError(f"A change of the kind {self.kind} takes {self.spec.args}, not {self.args}.")

    def __getitem__(self, name: str) -> Any:
        """Return the layer, the head or an argument; None if the kind has no such."""
        named = {"layer": self.layer, "head": self.head, **dict(zip(self.spec.args, self.args, strict=True))}
        return named.get(name)

    @property
    def spec(self) -> "Kind":
        """The record of its kind."""
        return KINDS[self.kind]

    @property
    def point(self) -> str:
        """The changed point of a trace."""
        return self.spec.point(self)

    @property
    def rank(self) -> tuple[int, bool]:
        """Order of application at one point; cuts come before forced pairs."""
        return self.spec.rank, (self["weight"] or 0) > 0

    @property
    def first_layer(self) -> int:
        """The changed layer, -1 for the embeddings."""
        return -1 if self.layer is None else self.layer

    @property
    def names_no_token(self) -> bool:
        """Whether it means the same in every sentence."""
        return all(self[name] is None for name in ("query", "key", "sentence"))


@dataclass(frozen=True, eq=False)
class Subject:
    """A sentence of a batch, as one model reads it."""

    config: ModelConfig
    allowed: Tensor
    """(T, T) bool, before windows."""
    lengths: tuple[int, ...]
    """Of each sentence, without padding."""
    sentence: int

    @property
    def n_tokens(self) -> int:
        """Without padding."""
        return self.lengths[self.sentence]

    def allowed_in(self, layer: int | None) -> Tensor:
        """(T, T) bool, in a layer."""
        window = self.config.window_of(layer or 0)
        return self.allowed & window_mask(len(self.allowed), window)[0] if window else self.allowed


EditFunction = Callable[["Change", Tensor, Tensor, Surroundings], Edit]
Formula = Callable[["Change", str, WriteNumber], str]


@dataclass(frozen=True)
class Kind:
    """All that is known of a kind of change."""

    texts: tuple[tuple[str, Mapping[str, Arg]], ...]
    """In a link, with the arguments that each implies; the first that fits is written. `{name}` is a number,
    `{name*}` a number or `*`, `{name:a|b}` a word."""
    point: Callable[[Change], str]
    rank: int
    """At one point the lowest applies first."""
    edit: EditFunction
    """From the change, a sentence's tensor after earlier changes, as computed, and its surroundings."""
    claims: Callable[[Change], list[Claim]]
    """No two changes of a pass may set the same numbers."""
    name: Callable[[Change, Words], str]
    titles: Mapping[str, Mapping[str, Arg]]
    """In a menu, with the arguments that each implies."""
    args: tuple[str, ...] = ()
    """`query` (None = every token), `key`, `weight`, `source` (a head), `sentence`, …"""
    formula: Formula = lambda c, symbol, write: "0"
    """LaTeX of the new number, by the symbol of the old one; the whole formula if it `blends`."""
    choices: tuple[str, ...] = ("head",)
    """What a visitor then chooses, beside layer and strength."""
    missing: Callable[[Change, Subject], str | None] | None = None
    """What the sentence or its model lacks for it."""
    blends: bool = False
    """Whether edit and formula include the strength."""


_HEAD = "{layer}.{head*}:"


def _point_at(name: str) -> Callable[[Change], str]:
    return lambda c: f"layers.{c.layer}.{name}"


def _at_head(change: Change) -> str:
    return f"layer {change.layer}, {'all heads' if change.head is None else f'head {change.head}'}"


_PARTS = {
    "zero": Kind(
        texts=((f"{_HEAD}zero", {}),),
        point=_point_at("attn.z"),
        rank=5,
        edit=lambda c, x, computed, around: ((heads_of(c),), 0.0),
        claims=lambda c: [("head", c.layer, c.head)],
        name=lambda c, word: f"{_at_head(c)} off",
        titles={"switch a head off": {}},
    ),
    "mean": Kind(
        texts=((f"{_HEAD}mean", {}),),
        point=_point_at("attn.z"),
        rank=4,
        edit=lambda c, x, computed, around: ((heads_of(c),), x[heads_of(c)][:, around.real].mean(1, keepdim=True)),
        claims=lambda c: [("head", c.layer, c.head)],
        name=lambda c, word: f"{_at_head(c)}: mean over tokens",
        formula=lambda c, symbol, write: r"\frac{1}{T} \sum_{i} z_i",
        titles={"replace a head by its mean over tokens": {}},
    ),
    "off": Kind(
        args=("sublayer",),
        texts=(("{layer}.{sublayer:attn|ffn}:off", {}), ("{layer}.*:off", {"sublayer": "attn"})),
        point=lambda c: f"layers.{c.layer}.{c['sublayer']}.out",
        rank=6,
        edit=lambda c, x, computed, around: ((...,), 0.0),
        claims=lambda c: [("sublayer", c.layer, c["sublayer"])],
        name=lambda c, word: f"layer {c.layer}: {SUBLAYERS[c['sublayer']]} off",
        titles={"switch a sublayer off": {}},
        choices=("sublayer",),
    ),
}
"""Switched off (Michel et al. 2019, section 3.1), or the mean over tokens. Attention keeps its output bias."""


def _spell_weight(end: str) -> tuple[tuple[str, Mapping[str, Arg]], ...]:
    words: dict[str, Mapping[str, Arg]] = {"cut": {"weight": 0.0}, "force": {"weight": 1.0}}
    spelt = [(f"{_HEAD}{word}_{{query}}_{{key}}{end}", implied) for word, implied in words.items()]
    return (*spelt, (f"{_HEAD}weight_{{query}}_{{key}}_{{weight}}{end}", {}))


def _list_weight_claims(change: Change) -> list[Claim]:
    layer, head, (query, key, weight) = change.layer, change.head, change.args
    pair: Claim = ("score", layer, head, query, key) if query != key else ("own score", layer, head, query)
    # A second weight in a row would rescale the first.
    return [pair, ("weight in a row", layer, head, query)] if weight else [pair]


def _name_pair(change: Change, word: Words, amount: str) -> str:
    arrow = "→" if change["weight"] else "↛"
    return f"{_at_head(change)}: {word(change['query'])} {arrow} {word(change['key'])}{amount}"


def _write_score(change: Change, symbol: str, write: WriteNumber) -> str:
    wanted = change["weight"] or 0.0
    if change.strength == 1 and wanted == 0:
        return rf"{symbol} \leftarrow -\infty"
    if change.strength == 1 and wanted == 1:
        return rf"s_{{t,i}} \leftarrow -\infty \quad \text{{for all }} i \ne {change['key']}"
    weight = write(wanted)
    if change.strength != 1:
        share, own = write(change.strength), symbol.replace("s", "a", 1)
        weight = rf"(1 - {share})\, {own} + {share} \cdot {weight}"
    score = rf"\log \sum_{{i \ne {change['key']}}} e^{{s_{{t,i}}}} + \log \frac{{w}}{{1 - w}}"
    return rf"{symbol} \leftarrow {score}, \quad w = {weight}"


def _miss_pair(change: Change, subject: Subject) -> str | None:
    query, key = change["query"], change["key"]
    if subject.allowed_in(change.layer)[query, key]:
        return None
    hides = "the mask" if not subject.allowed[query, key] else "this layer's window"
    return f"{hides} hides token {key} from token {query}"


_WEIGHTS = {
    "weight": Kind(
        args=("query", "key", "weight"),
        texts=_spell_weight(""),
        point=_point_at("attn.scores"),
        rank=3,
        edit=set_weight,
        claims=_list_weight_claims,
        name=lambda c, word: _name_pair(c, word, {0: "", 1: " alone"}.get(c["weight"], f" {c['weight']:g}")),
        formula=_write_score,
        titles={
            "forbid a pair: the query does not see the key": {"weight": 0.0},
            "force a pair: the query sees the key alone": {"weight": 1.0},
            "set a pair's weight: the other keys share the rest": {},
        },
        choices=("head", "weight"),
        missing=_miss_pair,
        blends=True,
    ),
    "weight_after": Kind(
        args=("query", "key", "weight"),
        texts=_spell_weight("_after"),
        point=_point_at("attn.pattern"),
        rank=3,
        edit=lambda c, x, computed, around: ((heads_of(c), c["query"], c["key"]), c["weight"]),
        claims=lambda c: [("weight", c.layer, c.head, c["query"], c["key"])],
        name=lambda c, word: _name_pair(c, word, f" {c['weight']:g}, after the softmax"),
        formula=lambda c, symbol, write: write(c["weight"]),
        titles={"set a pair's weight after the softmax: the others stay": {}},
        choices=("head", "weight"),
        missing=_miss_pair,
    ),
    "hide": Kind(
        args=("key",),
        texts=((f"{_HEAD}hide_{{key}}", {}),),
        point=_point_at("attn.scores"),
        rank=2,
        edit=hide_token,
        claims=lambda c: [("score", c.layer, c.head, None, c["key"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['key'])} hidden",
        formula=_write_score,
        titles={"hide a token: no other token sees the key": {}},
        choices=("layers",),
        blends=True,
    ),
}
"""A hidden token still attends to itself, and padding's rows stay."""


def _miss_own_key(change: Change, subject: Subject) -> str | None:
    queries = range(subject.n_tokens) if change["query"] is None else [change["query"]]
    hidden = [query for query in queries if not subject.allowed[query, query]]
    return f"the mask hides token {hidden[0]} from itself" if hidden else None


def _rows_of(change: Change) -> tuple[Any, ...]:
    return heads_of(change), tokens_of(change)


def _row_kind(text: str, name: str, edit: EditFunction, formula: Formula, **others: Any) -> Kind:
    fields: dict[str, Any] = {"args": ("query",), "choices": ("head", "token")} | others
    return Kind(
        texts=((f"{_HEAD}{text}", {}),),
        point=_point_at("attn.pattern"),
        rank=1,
        edit=edit,
        claims=lambda c: [("row", c.layer, c.head, c["query"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['query'])} → {name.format(source=c['source'])}",
        formula=formula,
        titles={f"set what a query attends to: {name.format(source='…')}": {}},
        **fields,
    )


_ROWS = {
    "uniform": _row_kind(
        "uniform_{query*}",
        "all evenly",
        even_rows,
        lambda c, symbol, write: r"\frac{1}{n} \text{ for the } n \text{ keys that } t \text{ may see}",
    ),
    "diagonal": _row_kind(
        "diagonal_{query*}",
        "itself alone",
        lambda c, x, computed, around: (_rows_of(c), torch.eye(x.shape[-1]).to(x)[tokens_of(c)]),
        lambda c, symbol, write: r"1 \text{ where } j = t, \text{ else } 0",
        missing=_miss_own_key,
    ),
    "copy": _row_kind(
        "copy_{query*}_{source}",
        "as head {source}",
        lambda c, x, computed, around: (_rows_of(c), computed[c["source"]][tokens_of(c)]),
        lambda c, symbol, write: rf"a^{{({c['source']})}}_{{t,j}}",
        args=("query", "source"),
        choices=("head", "token", "source"),
        missing=lambda c, subject: "a head is already as it is itself" if c["source"] == c.head else None,
    ),
}
"""Rows of a pattern. A copied head's are those before changes after the softmax."""


def _miss_positions(change: Change, subject: Subject) -> str | None:
    return None if subject.config.has_position_table else "this model adds no positions"


def _find_patch_point(change: Change) -> str:
    name = PATCH_POINTS[change["point"]][0]
    return name if change.layer is None else f"layers.{change.layer}.{name}"


def _miss_source(change: Change, subject: Subject) -> str | None:
    if not 0 <= change["sentence"] < len(subject.lengths):
        return f"the text has {len(subject.lengths)} sentence{'s' if len(subject.lengths) > 1 else ''}"
    own, other = subject.n_tokens, subject.lengths[change["sentence"]]
    if other != own:
        return f"the sentences have {own} and {other} tokens, and a patch needs as many in both"
    return None


def _name_patch(change: Change, word: Words) -> str:
    layer = "" if change.layer is None else f"layer {change.layer}, "
    head = "" if change.head is None else f"head {change.head}, "
    vector = f"{layer}{head}{PATCH_POINTS[change['point']][1]}: {word(change['query'])}"
    return f"{vector} as in sentence {change['sentence'] + 1}"


_VECTORS = {
    "shuffle": Kind(
        args=("seed",),
        texts=(("positions:shuffle_{seed}", {}),),
        point=lambda c: "embed.sum",
        rank=0,
        edit=shuffle_positions,
        claims=lambda c: [("positions",)],
        name=lambda c, word: f"positions shuffled, seed {c['seed']}",
        formula=lambda c, symbol, write: r"x_t - P_t + P_{\pi(t)}",
        titles={"shuffle positions": {}},
        choices=("seed",),
        missing=_miss_positions,
    ),
    "patch": Kind(
        args=("point", "query", "sentence"),
        texts=(
            ("embed:patch_{query*}_{sentence}", {"point": "embed"}),
            ("{layer}.{point:attn|mid|ffn|out|q|k|v|z}:patch_{query*}_{sentence}", {}),
            ("{layer}.{head}.{point:q|k|v|z}:patch_{query*}_{sentence}", {}),
        ),
        point=_find_patch_point,
        rank=0,
        edit=patch_vectors,
        claims=lambda c: [(c["point"], c.layer, c.head, c["query"])],
        name=_name_patch,
        formula=lambda c, symbol, write: rf"{symbol}^{{\,(\text{{sentence {c['sentence'] + 1}}})}}",
        titles={"take a vector from another sentence": {}},
        choices=("sentence", "point", "token", "own head"),
        missing=_miss_source,
    ),
}
"""Vectors that are moved. A patch is the same token's vector in another sentence's untouched run (Vig et al. 2020;
Geiger et al. 2021; Meng et al. 2022, section 2).
"""

KINDS: dict[str, Kind] = _PARTS | _WEIGHTS | _ROWS | _VECTORS
"""In the menu's order."""
