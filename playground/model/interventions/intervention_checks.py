"""Which interventions a sentence's pass can have, and one sentence on each that it cannot."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeGuard

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InterventionError
from playground.model.interventions.intervention_kinds import (
    HEAD_POINTS,
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)

Claim = tuple[str | int | None, ...]
"""What an intervention sets, from the kind of numbers down to single ones; None: all of them."""


Fitted = tuple[tuple[Intervention, ...], tuple[tuple[Intervention, str], ...]]
"""The interventions that can apply together, in their order, and with each of the others a sentence on why not."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A sentence of a batch, as one model reads it; equal to one that can have the same interventions."""

    config: ModelConfig
    allowed: Tensor
    """(T, T) bool: the keys that each query may attend to."""
    lengths: tuple[int, ...]
    """Tokens of each sentence of the batch, padding not counted."""
    sentence: int

    @property
    def n_tokens(self) -> int:
        """Tokens of the sentence, padding not counted."""
        return self.lengths[self.sentence]

    @cached_property
    def _identity(self) -> Hashable:
        return self.config, self.lengths, self.sentence, tuple(self.allowed.shape), self.allowed.numpy().tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subject) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def split(self, interventions: Iterable[Intervention]) -> tuple[tuple[Intervention, ...], list[str]]:
        """The interventions that can apply together, in their order, and a sentence on each that can't.

        Of two that set the same numbers, the first applies.
        """
        applied, refused = self.fit(tuple(interventions))
        return applied, [reason for _, reason in refused]

    @lru_cache(maxsize=32)  # noqa: B019 - a page asks, then its buttons, then the pass; and it is bounded
    def fit(self, interventions: tuple[Intervention, ...]) -> Fitted:
        """As `split`, with each intervention beside its sentence."""
        applied: list[Intervention] = []
        refused: list[tuple[Intervention, str]] = []
        for intervention in interventions:
            try:
                self.check(intervention, applied)
            except InterventionError as error:
                refused.append((intervention, str(error)))
            else:
                applied.append(intervention)
        return tuple(applied), tuple(refused)

    def check(self, intervention: Intervention, applied: Sequence[Intervention] = ()) -> None:
        """Refuse an intervention that this pass cannot have beside those that are applied already.

        Raises:
            InterventionError: in one sentence, why it cannot be.
        """
        reason = self._what_is_missing(intervention) or _contradiction(intervention, applied)
        reason = reason or self._last_key(intervention, applied)
        if reason is not None:
            raise InterventionError(f"“{intervention.label}” cannot apply: {reason}.")

    def _what_is_missing(self, intervention: Intervention) -> str | None:
        """What the intervention asks for that is not there."""
        if not 0 <= intervention.strength <= 1:
            return "its strength is not between 0 and 1"
        match intervention:
            case ShufflePositions():
                return self._no_positions()
            case PatchVector():
                return self._no_patch(intervention)
            case SkipSublayer(layer=layer):
                return self._no_head(layer, None)
            case ZeroHead(layer=layer, head=head) | AverageHead(layer=layer, head=head):
                return self._no_head(layer, head)
            case SetWeight(layer=layer, head=head, query=query, key=key, weight=weight):
                outside = None if 0 <= weight <= 1 else "its weight is not between 0 and 1"
                return self._no_head(layer, head) or self._no_pair(query, key) or outside
            case HideToken(layer=layer, head=head):
                return self._no_head(layer, head) or self._no_reader(intervention)
            case SetRow():
                return self._no_row(intervention)

    def _no_head(self, layer: int | None, head: int | None) -> str | None:
        n_layers, n_heads = self.config.n_layers, self.config.n_heads
        if layer is None or not 0 <= layer < n_layers:
            return f"the model's layers are {_count(n_layers)}"
        return None if head is None or 0 <= head < n_heads else f"each layer's heads are {_count(n_heads)}"

    def _no_token(self, *tokens: int | None) -> str | None:
        inside = all(token is None or 0 <= token < self.n_tokens for token in tokens)
        return None if inside else f"the sentence's tokens are {_count(self.n_tokens)}"

    def _no_pair(self, query: int, key: int) -> str | None:
        if missing := self._no_token(query, key):
            return missing
        return None if self.allowed[query, key] else f"the mask hides token {key} from token {query}"

    def _no_reader(self, wanted: HideToken) -> str | None:
        if missing := self._no_token(wanted.key):
            return missing
        return None if self._queries(wanted).any() else f"no other token may attend to token {wanted.key} anyway"

    def _no_row(self, wanted: SetRow) -> str | None:
        missing = self._no_head(wanted.layer, wanted.head) or self._no_token(wanted.query)
        if missing:
            return missing
        if (wanted.row == "copy") != (wanted.source is not None):
            return "a copy has a head that it is made of, and no other row has one"
        if wanted.row == "copy":
            is_itself = "a head is already as it is itself" if wanted.source == wanted.head else None
            return self._no_head(wanted.layer, wanted.source) or is_itself
        queries = range(self.n_tokens) if wanted.query is None else [wanted.query]
        hidden = [query for query in queries if not self.allowed[query, query]]
        if wanted.row == "diagonal" and hidden:
            return f"the mask hides token {hidden[0]} from itself"
        return None

    def _no_positions(self) -> str | None:
        if self.config.positions == "none":
            return "this model adds no positions"
        return "the sentence has no two tokens to exchange" if self.n_tokens < 2 else None

    def _no_patch(self, wanted: PatchVector) -> str | None:
        if (wanted.layer is None) != (wanted.point == "embed"):
            return "embeddings alone are outside every layer"
        if wanted.head is not None and wanted.point not in HEAD_POINTS:
            return f"a head has vectors of its own at {', '.join(HEAD_POINTS)} alone"
        missing = None if wanted.layer is None else self._no_head(wanted.layer, wanted.head)
        if missing := missing or self._no_token(wanted.token):
            return missing
        if not 0 <= wanted.sentence < len(self.lengths):
            return f"the text has {len(self.lengths)} sentence{'s' if len(self.lengths) > 1 else ''}"
        other = self.lengths[wanted.sentence]
        if other != self.n_tokens:
            return f"the sentences have {self.n_tokens} and {other} tokens, and a patch needs as many in both"
        return None

    def _last_key(self, wanted: Intervention, applied: Sequence[Intervention]) -> str | None:
        """Why a row would be left without other weights to rescale, where it would."""
        if not _sets_scores(wanted):
            return None
        beside = [wanted, *(each for each in applied if _sets_scores(each) and each.layer == wanted.layer)]
        # Heads that none of them names are all alike: -1 stands for these.
        heads = {-1, *(each.head for each in beside)} - {None} if wanted.head is None else {wanted.head}
        for head in heads:
            setters = [(each, self._queries(each)) for each in beside if each.head in (None, head)]
            left = self.allowed[: self.n_tokens].clone()
            for each, queries in setters:
                if each.weight == 0 and each.strength == 1:
                    left[queries, each.key] = False
            n_left = left.sum(dim=1)
            for each, queries in setters:
                alone = queries & (n_left == left[:, each.key])
                if each.weight * each.strength < 1 and alone.any():
                    query = int(alone.nonzero()[0])
                    others = [other.label for other, theirs in setters if other is not wanted and theirs[query]]
                    return (
                        f"token {query} would have no other key left to share the rest of its attention"
                        f"{_ask_to_take_back(others)}"
                    )
        return None

    def _queries(self, intervention: SetWeight | HideToken) -> Tensor:
        """Those whose weight for its key an intervention sets, (tokens,) bool."""
        if isinstance(intervention, SetWeight):
            return torch.arange(self.n_tokens) == intervention.query
        readers = self.allowed[: self.n_tokens, intervention.key].clone()
        readers[intervention.key] = False
        return readers


def _sets_scores(intervention: Intervention) -> TypeGuard[SetWeight | HideToken]:
    """Whether it sets weights before the softmax."""
    return isinstance(intervention, SetWeight | HideToken) and intervention.renormalise


def _contradiction(intervention: Intervention, applied: Sequence[Intervention]) -> str | None:
    own = _claims(intervention)
    for other in applied:
        for one in own:
            if any(_overlap(one, two) for two in _claims(other)):
                what = "another weight of this row" if one[0] == "weight in a row" else "the same numbers"
                return f"“{other.label}” already sets {what}; take that back first"
    return None


def _ask_to_take_back(labels: Sequence[str]) -> str:
    """The end of a sentence on what stands in the way; empty where nothing does."""
    if not labels:
        return ""
    more = f", or one of {len(labels) - 1} others" if len(labels) > 1 else ""
    return f"; take “{labels[0]}”{more} back first"


def _claims(intervention: Intervention) -> list[Claim]:
    """What an intervention sets; no two that are applied may set the same."""
    match intervention:
        case ShufflePositions():
            return [("positions",)]
        case PatchVector(layer=layer, point=point, head=head, token=token):
            return [(point, layer, head, token)]
        case ZeroHead(layer=layer, head=head) | AverageHead(layer=layer, head=head):
            return [("head", layer, head)]
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return [("sublayer", layer, sublayer)]
        case HideToken(layer=layer, head=head, key=key):
            return [("score", layer, head, None, key)]
        case SetRow(layer=layer, head=head, query=query):
            return [("row", layer, head, query)]
        case SetWeight(layer=layer, head=head, query=query, key=key, renormalise=False):
            return [("weight", layer, head, query, key)]
        case SetWeight(layer=layer, head=head, query=query, key=key, weight=weight):
            pair: Claim = ("score", layer, head, query, key) if query != key else ("own score", layer, head, query)
            # A second weight in a row would rescale the first.
            return [pair, ("weight in a row", layer, head, query)] if weight > 0 else [pair]


def _overlap(one: Claim, two: Claim) -> bool:
    return len(one) == len(two) and all(a is None or b is None or a == b for a, b in zip(one, two, strict=True))


def _count(n: int) -> str:
    return "0 alone" if n == 1 else f"0 to {n - 1}"
