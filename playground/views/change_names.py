"""What a change of the computation is called, with the words of its tokens, and what captions add about it."""

import re
from collections.abc import Sequence

from playground.charts.markdown import escape_markdown
from playground.figures.theme import shortened, subscript
from playground.model.interventions import (
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
from playground.model.interventions.intervention_kinds import PatchPoint, Sublayer
from playground.runs.encoder_run import Run

_LONGEST_TOKEN = 12

_USUAL_SEED = 1
"""Of the order of shuffled positions that is not told."""

SUBLAYERS: dict[Sublayer, str] = {"attn": "attention", "ffn": "feed-forward"}

POINTS: dict[PatchPoint, str] = {
    "embed": "the embedding",
    "q": "queries",
    "k": "keys",
    "v": "values",
    "z": "the heads' results",
    "attn": "attention's output",
    "mid": "the stream after attention",
    "ffn": "feed-forward's output",
    "out": "the output",
}
"""Where a vector can be replaced, in words."""


def name_change(intervention: Intervention, tokens: Sequence[str] = ()) -> str:
    """What it changes in a few words, such as `layer 3, head 1: it₁₀ ↛ animal₂`, with a strength below 1."""
    strength = "" if intervention.strength == 1 else f" · {intervention.strength:.3g} of the way"
    return f"{_name_in_full(intervention, tokens)}{strength}"


def _name_in_full(intervention: Intervention, tokens: Sequence[str]) -> str:
    match intervention:
        case ShufflePositions(seed=seed):
            return "positions shuffled" if seed == _USUAL_SEED else f"positions shuffled, seed {seed}"
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return f"layer {layer}: {SUBLAYERS[sublayer]} off"
        case ZeroHead():
            return f"{_name_head(intervention)} off"
        case AverageHead():
            return f"{_name_head(intervention)}: mean over tokens"
        case SetRow(query=query, row=row, source=source):
            whom = {"uniform": "all evenly", "diagonal": "itself alone", "copy": f"as head {source}"}[row]
            return f"{_name_head(intervention)}: {_name_token(query, tokens)} → {whom}"
        case SetWeight(query=query, key=key, weight=weight, renormalise=renormalise):
            after = "" if renormalise else ", after the softmax"
            arrow = "↛" if weight == 0 else "→"
            amount = {0.0: "", 1.0: " alone"}.get(weight, f" {weight:g}") if renormalise else f" {weight:g}"
            asks, asked = _name_token(query, tokens), _name_token(key, tokens)
            return f"{_name_head(intervention)}: {asks} {arrow} {asked}{amount}{after}"
        case HideToken(key=key):
            return f"{_name_head(intervention)}: {_name_token(key, tokens)} hidden"
        case PatchVector(layer=layer, point=point, head=head, token=token, sentence=sentence):
            return f"{_name_place(layer, point, head)}: {_name_token(token, tokens)} as in sentence {sentence + 1}"


def explain_change(intervention: Intervention, tokens: Sequence[str]) -> str:
    """One sentence in plain text on which numbers become what, with the tokens' words."""
    what = _describe_in_full(intervention, tokens)
    if intervention.strength == 1:
        return f"{what}."
    return f"{what}; it goes {intervention.strength:.3g} of the way there, where 0 is no change and 1 all of it."


def explain_changes(interventions: Sequence[Intervention], tokens: Sequence[str]) -> str:
    """The same for changes that are made together: one, or one and the same in every layer."""
    first = interventions[0]
    told = explain_change(first, tokens)
    if len(interventions) == 1 or isinstance(first, ShufflePositions):
        return told
    return told.replace(f"In layer {first.layer},", "In every layer,", 1)


def name_tokens(sentence: str, tokens: Sequence[str]) -> str:
    """A sentence of the model, which counts tokens, with their words: `it₁₀` for `token 10`."""
    return re.sub(r"\btoken (\d+)\b", lambda found: _name_token(int(found[1]), tokens), sentence)


def _describe_in_full(intervention: Intervention, tokens: Sequence[str]) -> str:
    match intervention:
        case ShufflePositions(seed=seed):
            return f"The tokens get each other's position vectors, in an order drawn from the seed {seed}"
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return f"In layer {layer}, {SUBLAYERS[sublayer]} adds nothing: its output, biases included, becomes 0"
        case ZeroHead():
            return f"{_place_head(intervention)}, what is gathered for every token, z, becomes 0"
        case AverageHead():
            return f"{_place_head(intervention)}, what is gathered for every token, z, becomes its mean over all tokens"
        case SetRow(query=query, row=row, source=source):
            whom = {
                "uniform": "to all keys that the mask allows, evenly",
                "diagonal": "to itself alone",
                "copy": f"as in head {source}",
            }[row]
            return f"{_place_head(intervention)}, {_name_token(query, tokens)} attends {whom}"
        case SetWeight(query=query, key=key, weight=weight, renormalise=renormalise):
            asks, asked = _name_token(query, tokens), _name_token(key, tokens)
            return f"{_place_head(intervention)}, {asks} {_give_weight(asked, weight, before_softmax=renormalise)}"
        case HideToken(key=key):
            return (
                f"{_place_head(intervention)}, no other token sees {_name_token(key, tokens)}: these scores become −∞ "
                "before the softmax, and each query's other keys share its whole row"
            )
        case PatchVector(layer=layer, point=point, head=head, token=token, sentence=sentence):
            where = f"At {POINTS[point]}{'' if layer is None else f' of layer {layer}'}"
            whose = (
                f"the vector of {_name_token(token, tokens)} becomes that of the same place in sentence {sentence + 1}"
            )
            return f"{where}{'' if head is None else f', in head {head}'}, {whose}"


def _give_weight(key: str, weight: float, *, before_softmax: bool) -> str:
    """What a query does with a key, as the rest of a sentence."""
    if not before_softmax:
        return (
            f"gives {key} the weight {weight:g} after the softmax; its other weights stay, so they add up to 1 no more"
        )
    if weight == 0:
        return f"does not see {key}: the score becomes −∞ before the softmax, and the other keys share the whole row"
    if weight == 1:
        return f"sees {key} alone: every other score becomes −∞ before the softmax"
    return f"gives {key} the weight {weight:g}: its score is set before the softmax, and the other keys share the rest"


def _name_head(intervention: ZeroHead | AverageHead | SetRow | SetWeight | HideToken) -> str:
    head = "all heads" if intervention.head is None else f"head {intervention.head}"
    return f"layer {intervention.layer}, {head}"


def _name_place(layer: int | None, point: PatchPoint, head: int | None) -> str:
    """Where a vector is replaced, in a few words."""
    if layer is None:
        return "embedding"
    if point == "out":
        return f"after layer {layer}"
    if point == "mid":
        return f"layer {layer}, after attention"
    if head is None:
        return f"layer {layer}, {POINTS[point]}"
    return f"layer {layer}, head {head}'s {'result' if point == 'z' else POINTS[point]}"


def _place_head(intervention: ZeroHead | AverageHead | SetRow | SetWeight | HideToken) -> str:
    head = "every head" if intervention.head is None else f"head {intervention.head}"
    return f"In layer {intervention.layer}, {head}"


def _name_token(token: int | None, tokens: Sequence[str]) -> str:
    """A token by its word and its place; by its place alone where the sentence has no such token."""
    if token is None:
        return "every token"
    if token >= len(tokens):
        return f"token {token}"
    word = " ".join(shortened(tokens[token], _LONGEST_TOKEN).split()) or "␣"
    return f"{word}{subscript(token)}"


def note_changes(run: Run) -> str:
    """That a chart shows the changed run, for its caption; empty where nothing is changed."""
    return " **With your changes.**" if run.interventions else ""


def note_set_weights(run: Run, layer: int, head: int | None) -> str:
    """Which weights of a layer's head, or of all its heads with None, were set by hand, for a caption."""
    names = [
        escape_markdown(name_change(each, run.tokens))
        for each in run.interventions
        if isinstance(each, SetRow | SetWeight | HideToken)
        and each.layer == layer
        and (head is None or each.head in (None, head))
    ]
    return f" Set by you: {'; '.join(names)}." if names else ""


def has_odd_rows(run: Run, layer: int | None = None) -> bool:
    """Whether weights were set after the softmax, so that a row need not add up to 1; in a layer, or in any."""
    return any(
        isinstance(each, SetWeight) and not each.renormalise and layer in (None, each.layer)
        for each in run.interventions
    )
