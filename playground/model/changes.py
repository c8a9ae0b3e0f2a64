"""Changes of one forward pass, as data: one table says all that is known of each kind.

`KINDS` has a record a kind: its text in a link, the point of the trace that it changes and what numbers these become,
what it asks for and what it excludes, its name, sentence and formula, and what a visitor chooses of it. To add a kind
is to add a record here; reading, writing, checking, applying and naming follow.

Layers, heads, tokens and sentences count from 0. `strength` blends: 0 leaves the numbers as they are, 1 replaces them,
between them lies (1 − strength) · old + strength · new. Legend: T tokens, padding included, H heads, D = d_model.

A link has changes as texts, place:what, or place:what~strength where the strength is not 1. Layers, heads and tokens
count from 0 there too, sentences from 1. `*` is every head, or every token.

| text | what it means |
|-|-|
| `3.1:zero`, `3.*:zero` | head 1 of layer 3 at zero; every head of it |
| `3.1:mean` | the head at its mean over tokens |
| `3.attn:off`, `3.ffn:off` | a sublayer off; `3.*:off` is read as `3.attn:off` |
| `3.1:cut_4_7` | token 4 does not attend to token 7, before the softmax |
| `3.1:force_4_7` | token 4 attends to token 7 alone |
| `3.1:weight_4_7_0.25` | token 4 gives token 7 a weight of 0.25 |
| `3.1:cut_4_7_after`, … | each of these after the softmax: the other weights stay |
| `3.1:hide_7` | no other token attends to token 7, before the softmax |
| `3.1:uniform_4`, `3.1:diagonal_*` | token 4 attends to all evenly; every token to itself alone |
| `3.1:copy_4_0` | token 4 attends as in head 0 |
| `positions:shuffle_7` | positions shuffled with seed 7 |
| `embed:patch_4_2`, `3.mid:patch_4_2` | token 4's vector is that of sentence 2, at that point of layer 3 |
| `3.1.z:patch_*_2` | one head's vectors of every token are those of sentence 2 |
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError, list_nearest
from playground.model.init import fill_uniform
from playground.model.positions import window_mask

Arg = int | float | str | None

Claim = tuple[Arg, ...]
"""What a change sets, from the kind of numbers down to single ones; None: all of them."""

Words = Callable[[int | None], str]
"""What a token is called, by its position; None: every token."""

WriteNumber = Callable[[float], str]
"""A number as LaTeX."""

SUBLAYERS: dict[str, str] = {"attn": "attention", "ffn": "feed-forward"}
"""What each is called."""

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
"""Where a token's vector can be replaced, in the order of computation: the trace's name in a layer, and words."""

HEAD_POINTS = ("q", "k", "v", "z")
"""Those of them that each head has of its own."""


@dataclass(frozen=True)
class Change:
    """One change: its kind, where it is, and how far it goes."""

    kind: str
    """A name in `KINDS`."""
    layer: int | None = None
    """None: outside of every layer."""
    head: int | None = None
    """None: every head of the layer, or what no head has of its own."""
    args: tuple[Arg, ...] = ()
    """What else its kind asks for, in the order of `Kind.args`."""
    strength: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InterventionError(f"There is no kind of change {self.kind!r}: {list_nearest(self.kind, KINDS)}.")
        if len(self.args) != len(self.spec.args):
            raise InterventionError(f"A change of the kind {self.kind} takes {self.spec.args}, not {self.args}.")

    def __getitem__(self, name: str) -> Any:
        """An argument by its name; None where the kind has none of this name."""
        names = self.spec.args
        return self.args[names.index(name)] if name in names else None

    @property
    def spec(self) -> "Kind":
        """What is known of its kind."""
        return KINDS[self.kind]

    @property
    def point(self) -> str:
        """The name in a trace of the point that it changes."""
        return self.spec.point(self)

    @property
    def rank(self) -> tuple[int, bool]:
        """What changes at one point are sorted by, the first to be applied first; cuts come before forced pairs."""
        return self.spec.rank, (self["weight"] or 0) > 0

    @property
    def first_layer(self) -> int:
        """The layer in which it changes something, -1 for the embeddings."""
        return -1 if self.layer is None else self.layer

    @property
    def names_no_token(self) -> bool:
        """Whether it means the same in every sentence: it names no token, and takes nothing from another sentence."""
        return all(self[name] is None for name in ("query", "key", "sentence"))

    def silences_head(self, layer: int, head: int) -> bool:
        """Whether it switches a head off in whole, alone or with all of its layer: nothing that it gathers goes on."""
        return self.kind == "zero" and self.strength == 1 and self.layer == layer and self.head in (None, head)


@dataclass(frozen=True, eq=False)
class Subject:
    """A sentence of a batch, as one model reads it; equal to one that can have the same changes."""

    config: ModelConfig
    allowed: Tensor
    """(T, T) bool: the keys that each query may attend to, but for windows; `allowed_in` has these too."""
    lengths: tuple[int, ...]
    """Tokens of each sentence of the batch, padding not counted."""
    sentence: int

    @property
    def n_tokens(self) -> int:
        """Tokens of the sentence, padding not counted."""
        return self.lengths[self.sentence]

    def allowed_in(self, layer: int | None) -> Tensor:
        """(T, T) bool: the keys that each query may attend to in a layer."""
        window = self.config.window_of(layer or 0)
        if not window:
            return self.allowed
        return self.allowed & window_mask(len(self.allowed), window, self.allowed.device)[0]

    @cached_property
    def _identity(self) -> Hashable:
        return self.config, self.lengths, self.sentence, tuple(self.allowed.shape), self.allowed.numpy().tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subject) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


@dataclass
class Surroundings:
    """What edits of one sentence read beside the tensor that they change."""

    real: Tensor
    """(T,) bool: tokens, not padding."""
    positions: Tensor | None
    """(T, D): the first rows of the position table."""
    sources: Mapping[int, Mapping[str, Tensor]]
    """By sentence, the tensors of another run, without their sentence axis."""
    allowed: dict[str, Tensor] = field(default_factory=dict)
    """By layer, such as `layers.0.attn.`, the finite scores, (H, T, T) bool: the keys that no mask hides."""


Edit = tuple[tuple[Any, ...], Tensor | float]
"""A place in a tensor, as an index, and the numbers that it gets at full strength."""


@dataclass(frozen=True)
class Question:
    """Which of several kinds is meant, as the page asks for it."""

    label: str
    key: str
    """Of its widget."""
    help: str | None = None


@dataclass(frozen=True)
class Menu:
    """What a visitor chooses to put a change of a kind together, beside its layer and its strength."""

    titles: Mapping[str, Mapping[str, Arg]]
    """What the menu calls it, and the arguments that are chosen with that."""
    choices: tuple[str, ...] = ("head",)
    """What is asked for, in this order: names in `make_change.CHOICES`."""
    question: Question | None = None
    """What is asked then where several kinds have one title."""
    answer: str = ""
    """This kind as the answer to that."""
    further_choices: tuple[str, ...] = ()
    """What else is asked for after that."""


def _miss_nothing(change: Change, subject: Subject) -> str | None:
    """None: every sentence and every model has what such a change asks for."""
    return None


@dataclass(frozen=True)
class Kind:
    """All that is known of a kind of change."""

    args: tuple[str, ...]
    """Names of its arguments, such as `query` (None: every token), `key`, `weight`, `source` (a head), `sentence`."""
    texts: tuple[tuple[str, Mapping[str, Arg]], ...]
    """Its texts in a link, and the arguments that each implies. `{name}` is a number, `{name*}` a number or `*`,
    `{name:a|b}` one of these words. The first that fits is written."""
    point: Callable[[Change], str]
    """The point of the trace whose numbers it changes."""
    rank: int
    """Of changes at one point the lowest applies first; of equal ones that which was given first."""
    edit: Callable[[Change, Tensor, Tensor, Surroundings], Edit]
    """What becomes of one sentence's tensor there, of the point's shape without the sentence axis: from the change, the
    tensor after the changes before this one, the tensor as the model computed it, and its surroundings."""
    claims: Callable[[Change], list[Claim]]
    """What it sets: no two changes of one pass may set the same."""
    name: Callable[[Change, Words], str]
    """A few words."""
    sentence: Callable[[Change, Words], str]
    """Which numbers become what, as a sentence without its full stop."""
    formula: Callable[[Change, str, WriteNumber], str]
    """LaTeX of the new number, by the symbol of the old one; where it `blends` by itself, the whole formula."""
    menu: Menu
    missing: Callable[[Change, Subject], str | None] = _miss_nothing
    """What it asks for that a sentence or its model has not, beside layers, heads and tokens, which every kind has."""
    readers: Callable[[Change, Subject], Tensor] | None = None
    """For kinds that set scores: the queries whose weight for its key it sets, (tokens,) bool."""

    @property
    def blends(self) -> bool:
        """Whether its edit and formula have the strength in them: a score is set so that the weight is blended."""
        return self.readers is not None


_HEAD = "{layer}.{head*}:"
"""How the text of a change of a head begins."""

_USUAL_SEED = 1
"""Of the order of shuffled positions that is not told."""


def _heads(change: Change) -> slice:
    return slice(None) if change.head is None else slice(change.head, change.head + 1)


def _tokens(change: Change) -> slice | int:
    return slice(None) if change["query"] is None else int(change["query"])


def _at_head(change: Change) -> str:
    return f"layer {change.layer}, {'all heads' if change.head is None else f'head {change.head}'}"


def _in_head(change: Change) -> str:
    return f"In layer {change.layer}, {'every head' if change.head is None else f'head {change.head}'}"


def _average_heads(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    heads = _heads(change)
    return (heads,), x[heads][:, around.real].mean(dim=1, keepdim=True)


_PARTS = {
    "zero": Kind(
        args=(),
        texts=((f"{_HEAD}zero", {}),),
        point=lambda c: f"layers.{c.layer}.attn.z",
        rank=5,
        edit=lambda c, x, computed, around: ((_heads(c),), 0.0),
        claims=lambda c: [("head", c.layer, c.head)],
        name=lambda c, word: f"{_at_head(c)} off",
        sentence=lambda c, word: f"{_in_head(c)}, what is gathered for every token, z, becomes 0",
        formula=lambda c, symbol, write: "0",
        menu=Menu({"switch a head off": {}}),
    ),
    "mean": Kind(
        args=(),
        texts=((f"{_HEAD}mean", {}),),
        point=lambda c: f"layers.{c.layer}.attn.z",
        rank=4,
        edit=_average_heads,
        claims=lambda c: [("head", c.layer, c.head)],
        name=lambda c, word: f"{_at_head(c)}: mean over tokens",
        sentence=lambda c, word: (
            f"{_in_head(c)}, what is gathered for every token, z, becomes its mean over all tokens"
        ),
        formula=lambda c, symbol, write: r"\frac{1}{T} \sum_{i} z_i",
        menu=Menu({"replace a head by its mean over tokens": {}}),
    ),
    "off": Kind(
        args=("sublayer",),
        texts=(("{layer}.{sublayer:attn|ffn}:off", {}), ("{layer}.*:off", {"sublayer": "attn"})),
        point=lambda c: f"layers.{c.layer}.{c['sublayer']}.out",
        rank=6,
        edit=lambda c, x, computed, around: ((...,), 0.0),
        claims=lambda c: [("sublayer", c.layer, c["sublayer"])],
        name=lambda c, word: f"layer {c.layer}: {SUBLAYERS[c['sublayer']]} off",
        sentence=lambda c, word: (
            f"In layer {c.layer}, {SUBLAYERS[c['sublayer']]} adds nothing: its output, biases included, becomes 0"
        ),
        formula=lambda c, symbol, write: "0",
        menu=Menu({"switch a sublayer off": {}}, ("sublayer",)),
    ),
}
"""Parts that are switched off (Michel et al. 2019, section 3.1) or hand on a mean.

With every head of a layer at zero, attention still adds the bias of its output projection; with attention off it does
not. A mean is over the sentence's tokens, padding left out, and each head has its own.
"""


def with_weight(scores: Tensor, key: int, weight: float, strength: float = 1.0) -> Tensor:
    """Scores (…, T) whose softmax moves a key's weight towards `weight`, the others keeping their proportions.

    With the others' scores summed up as s = log Σ exp(score), the key's weight is w where its score is s + log(w) −
    log(1 − w). A row that has no other key stays as it is.
    """
    others = scores.clone()
    others[..., key] = -torch.inf
    target = (1 - strength) * scores.softmax(dim=-1)[..., key] + strength * weight  # (…)
    changed = scores.clone()
    changed[..., key] = others.logsumexp(dim=-1) + target.log() - (-target).log1p()
    alone = torch.where(others.isneginf().logical_not(), -torch.inf, scores)  # no weight is left for any other key
    changed = torch.where((target >= 1)[..., None], alone, changed)
    is_single = others.isneginf().all(dim=-1, keepdim=True)
    return torch.where(is_single, scores, changed)


def _spell_weight(end: str) -> tuple[tuple[str, Mapping[str, Arg]], ...]:
    words: dict[str, Mapping[str, Arg]] = {"cut": {"weight": 0.0}, "force": {"weight": 1.0}}
    spelt = [(f"{_HEAD}{word}_{{query}}_{{key}}{end}", implied) for word, implied in words.items()]
    return (*spelt, (f"{_HEAD}weight_{{query}}_{{key}}_{{weight}}{end}", {}))


def _set_weight(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    where = (_heads(change), change["query"])
    return where, with_weight(x[where], change["key"], change["weight"], change.strength)


def _hide_token(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    readers = around.real.clone()
    readers[change["key"]] = False
    where = (_heads(change), readers)
    return where, with_weight(x[where], change["key"], 0.0, change.strength)


def _list_weight_claims(change: Change) -> list[Claim]:
    layer, head, (query, key, weight) = change.layer, change.head, change.args
    pair: Claim = ("score", layer, head, query, key) if query != key else ("own score", layer, head, query)
    # A second weight in a row would rescale the first.
    return [pair, ("weight in a row", layer, head, query)] if weight else [pair]


def _name_pair(change: Change, word: Words, amount: str) -> str:
    arrow = "→" if change["weight"] else "↛"
    return f"{_at_head(change)}: {word(change['query'])} {arrow} {word(change['key'])}{amount}"


def _explain_weight(change: Change, word: Words) -> str:
    asks, key, weight = f"{_in_head(change)}, {word(change['query'])}", word(change["key"]), change["weight"]
    if weight == 0:
        score = "the score becomes −∞ before the softmax, and the other keys share the whole row"
        return f"{asks} does not see {key}: {score}"
    if weight == 1:
        return f"{asks} sees {key} alone: every other score becomes −∞ before the softmax"
    score = "its score is set before the softmax, and the other keys share the rest"
    return f"{asks} gives {key} the weight {weight:g}: {score}"


def _write_score(change: Change, symbol: str, write: WriteNumber) -> str:
    """The score that gives a key its weight, by the other keys' scores."""
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


def _find_readers(change: Change, subject: Subject) -> Tensor:
    readers = subject.allowed_in(change.layer)[: subject.n_tokens, change["key"]].clone()
    readers[change["key"]] = False
    return readers


def _miss_readers(change: Change, subject: Subject) -> str | None:
    has_reader = bool(_find_readers(change, subject).any())
    return None if has_reader else f"no other token may attend to token {change['key']} anyway"


_WHEN = Question(
    "When",
    "when",
    "before the softmax: the score is set, so that the row still adds up to 1 and the other keys share the rest in the "
    "proportions that they had. after the softmax: one weight is set and the others stay, so the row adds up to 1 no "
    "more.",
)
_PAIRS: Mapping[str, Mapping[str, Arg]] = {
    "forbid a pair: the query does not see the key": {"weight": 0.0},
    "force a pair: the query sees the key alone": {"weight": 1.0},
    "set a pair's weight": {},
}

_WEIGHTS = {
    "weight": Kind(
        args=("query", "key", "weight"),
        texts=_spell_weight(""),
        point=lambda c: f"layers.{c.layer}.attn.scores",
        rank=3,
        edit=_set_weight,
        claims=_list_weight_claims,
        name=lambda c, word: _name_pair(c, word, {0: "", 1: " alone"}.get(c["weight"], f" {c['weight']:g}")),
        sentence=_explain_weight,
        formula=_write_score,
        menu=Menu(_PAIRS, ("head",), _WHEN, "before the softmax", ("weight",)),
        missing=_miss_pair,
        readers=lambda c, subject: torch.arange(subject.n_tokens) == c["query"],
    ),
    "weight_after": Kind(
        args=("query", "key", "weight"),
        texts=_spell_weight("_after"),
        point=lambda c: f"layers.{c.layer}.attn.pattern",
        rank=3,
        edit=lambda c, x, computed, around: ((_heads(c), c["query"], c["key"]), c["weight"]),
        claims=lambda c: [("weight", c.layer, c.head, c["query"], c["key"])],
        name=lambda c, word: _name_pair(c, word, f" {c['weight']:g}, after the softmax"),
        sentence=lambda c, word: (
            f"{_in_head(c)}, {word(c['query'])} gives {word(c['key'])} the weight {c['weight']:g} after the softmax; "
            "its other weights stay, so they add up to 1 no more"
        ),
        formula=lambda c, symbol, write: write(c["weight"]),
        menu=Menu(_PAIRS, ("head",), _WHEN, "after the softmax", ("weight",)),
        missing=_miss_pair,
    ),
    "hide": Kind(
        args=("key",),
        texts=((f"{_HEAD}hide_{{key}}", {}),),
        point=lambda c: f"layers.{c.layer}.attn.scores",
        rank=2,
        edit=_hide_token,
        claims=lambda c: [("score", c.layer, c.head, None, c["key"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['key'])} hidden",
        sentence=lambda c, word: (
            f"{_in_head(c)}, no other token sees {word(c['key'])}: these scores become −∞ before the softmax, and each "
            "query's other keys share its whole row"
        ),
        formula=_write_score,
        menu=Menu({"hide a token: no other token sees the key": {}}, ("layers",)),
        missing=_miss_readers,
        readers=_find_readers,
    ),
}
"""Weights of single pairs. Set before the softmax, the other keys share what is left of 1, in the proportions that they
had; set after it, the other weights stay, and the row no longer adds up to 1.

A hidden token still attends to itself. Padding is no token that it could be hidden from: its rows stay, though a merge
that mixes positions carries them into the tokens'. With strength s, each of these weights is (1 − s) of what it was,
and the query's other keys share the rest.
"""


def _even_rows(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    where, allowed = (_heads(change), _tokens(change)), around.allowed[f"layers.{change.layer}.attn."].to(x.dtype)
    return where, (allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1))[where]


def _own_rows(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    return (_heads(change), _tokens(change)), torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)[_tokens(change)]


def _copied_rows(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    return (_heads(change), _tokens(change)), computed[change["source"]][_tokens(change)]


def _miss_own_key(change: Change, subject: Subject) -> str | None:
    queries = range(subject.n_tokens) if change["query"] is None else [change["query"]]
    hidden = [query for query in queries if not subject.allowed[query, query]]
    return f"the mask hides token {hidden[0]} from itself" if hidden else None


_ROW = Question("It attends", "row")
_ROW_TITLE: Mapping[str, Mapping[str, Arg]] = {"set what a query attends to": {}}

_ROWS = {
    "uniform": Kind(
        args=("query",),
        texts=((f"{_HEAD}uniform_{{query*}}", {}),),
        point=lambda c: f"layers.{c.layer}.attn.pattern",
        rank=1,
        edit=_even_rows,
        claims=lambda c: [("row", c.layer, c.head, c["query"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['query'])} → all evenly",
        sentence=lambda c, word: f"{_in_head(c)}, {word(c['query'])} attends to all keys that the mask allows, evenly",
        formula=lambda c, symbol, write: r"\frac{1}{n} \text{ for the } n \text{ keys that } t \text{ may see}",
        menu=Menu(_ROW_TITLE, ("head", "token"), _ROW, "to all evenly"),
    ),
    "diagonal": Kind(
        args=("query",),
        texts=((f"{_HEAD}diagonal_{{query*}}", {}),),
        point=lambda c: f"layers.{c.layer}.attn.pattern",
        rank=1,
        edit=_own_rows,
        claims=lambda c: [("row", c.layer, c.head, c["query"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['query'])} → itself alone",
        sentence=lambda c, word: f"{_in_head(c)}, {word(c['query'])} attends to itself alone",
        formula=lambda c, symbol, write: r"1 \text{ where } j = t, \text{ else } 0",
        menu=Menu(_ROW_TITLE, ("head", "token"), _ROW, "to itself alone"),
        missing=_miss_own_key,
    ),
    "copy": Kind(
        args=("query", "source"),
        texts=((f"{_HEAD}copy_{{query*}}_{{source}}", {}),),
        point=lambda c: f"layers.{c.layer}.attn.pattern",
        rank=1,
        edit=_copied_rows,
        claims=lambda c: [("row", c.layer, c.head, c["query"])],
        name=lambda c, word: f"{_at_head(c)}: {word(c['query'])} → as head {c['source']}",
        sentence=lambda c, word: f"{_in_head(c)}, {word(c['query'])} attends as in head {c['source']}",
        formula=lambda c, symbol, write: rf"a^{{({c['source']})}}_{{t,j}}",
        menu=Menu(_ROW_TITLE, ("head", "token"), _ROW, "as another head", ("source",)),
        missing=lambda c, subject: "a head is already as it is itself" if c["source"] == c.head else None,
    ),
}
"""Rows of a pattern that are set; a copied head's rows are those before changes after the softmax."""


def shuffled(n: int, seed: int) -> Tensor:
    """A permutation of n numbers, int64, drawn from a seed: the same everywhere, and never the unchanged order.

    There is none for n below 2: these come back as they are.
    """
    unchanged = np.arange(n)
    order, attempt = unchanged, 0
    while n > 1 and np.array_equal(order, unchanged):
        numbers = np.empty((1, n), dtype=np.float32)
        fill_uniform(numbers, seed, f"positions/{attempt}", 1.0)
        order, attempt = np.argsort(numbers[0], kind="stable"), attempt + 1
    return torch.from_numpy(order.copy())


def _shuffle_positions(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    if around.positions is None:
        raise InterventionError("There is no position table to shuffle positions of.")
    order = shuffled(int(around.real.sum()), change["seed"]).to(x.device)
    rows = around.real.nonzero()[:, 0]
    return (rows,), x[rows] + (around.positions[rows[order]] - around.positions[rows])


def _miss_positions(change: Change, subject: Subject) -> str | None:
    if not subject.config.has_position_table:
        return "this model adds no positions"
    return "the sentence has no two tokens to exchange" if subject.n_tokens < 2 else None


def _find_patch_point(change: Change) -> str:
    name = PATCH_POINTS[change["point"]][0]
    return name if change.layer is None else f"layers.{change.layer}.{name}"


def _patch_vectors(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    where = (_tokens(change),) if x.ndim == 2 else (_heads(change), _tokens(change))
    return where, around.sources[change["sentence"]][change.point][where]


def _miss_source(change: Change, subject: Subject) -> str | None:
    if not 0 <= change["sentence"] < len(subject.lengths):
        return f"the text has {len(subject.lengths)} sentence{'s' if len(subject.lengths) > 1 else ''}"
    own, other = subject.n_tokens, subject.lengths[change["sentence"]]
    if other != own:
        return f"the sentences have {own} and {other} tokens, and a patch needs as many in both"
    return None


def _name_patch(change: Change, word: Words) -> str:
    point, words, layer = change["point"], PATCH_POINTS[change["point"]][1], f"layer {change.layer}"
    where = {"embed": "embedding", "out": f"after {layer}", "mid": f"{layer}, after attention"}.get(point)
    if change.head is not None:
        where = f"{layer}, head {change.head}'s {'result' if point == 'z' else words}"
    return f"{where or f'{layer}, {words}'}: {word(change['query'])} as in sentence {change['sentence'] + 1}"


def _explain_patch(change: Change, word: Words) -> str:
    where = f"At {PATCH_POINTS[change['point']][1]}{'' if change.layer is None else f' of layer {change.layer}'}"
    head = "" if change.head is None else f", in head {change.head}"
    becomes = f"becomes that of the same place in sentence {change['sentence'] + 1}"
    return f"{where}{head}, the vector of {word(change['query'])} {becomes}"


_VECTORS = {
    "shuffle": Kind(
        args=("seed",),
        texts=(("positions:shuffle_{seed}", {}),),
        point=lambda c: "embed.sum",
        rank=0,
        edit=_shuffle_positions,
        claims=lambda c: [("positions",)],
        name=lambda c, word: (
            "positions shuffled" if c["seed"] == _USUAL_SEED else f"positions shuffled, seed {c['seed']}"
        ),
        sentence=lambda c, word: (
            f"The tokens get each other's position vectors, in an order drawn from the seed {c['seed']}"
        ),
        formula=lambda c, symbol, write: r"x_t - P_t + P_{\pi(t)}",
        menu=Menu({"shuffle positions": {}}, ("seed",)),
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
        edit=_patch_vectors,
        claims=lambda c: [(c["point"], c.layer, c.head, c["query"])],
        name=_name_patch,
        sentence=_explain_patch,
        formula=lambda c, symbol, write: rf"{symbol}^{{\,(\text{{sentence {c['sentence'] + 1}}})}}",
        menu=Menu({"take a vector from another sentence": {}}, ("sentence", "point", "token", "own head")),
        missing=_miss_source,
    ),
}
"""Vectors that are moved. Positions: the sentence's tokens are given each other's; padding keeps its own. Patches: a
token's vector at one point is the one that the untouched run of a sentence has there, at the same token; the changed
sentence's own restores what was there.

Known as activation patching and as interchange intervention (Vig et al. 2020; Geiger et al. 2021; Meng et al. 2022,
section 2).
"""

KINDS: dict[str, Kind] = _PARTS | _WEIGHTS | _ROWS | _VECTORS
"""Every kind by its name, in the order of the menu that makes them."""
