"""What a change of the computation is called, with the words of its tokens, and what captions add about it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from playground.charts.names import escape_markdown, name_place, shortened
from playground.model import change_texts
from playground.model.changes import Change
from playground.runs.encoder_run import Run

_LONGEST_TOKEN = 12


def name_change(change: Change, tokens: Sequence[str] = ()) -> str:
    """What it changes in a few words, such as `layer 3, head 1: it₁₀ ↛ animal₂`, with a strength below 1."""
    return change_texts.name_change(change, partial(name_token, tokens))


def name_changes(changes: Sequence[Change], tokens: Sequence[str] = ()) -> str:
    """What changes that are made together change in a few words: one, or one and the same in every layer."""
    told = name_change(changes[0], tokens)
    return told if len(changes) == 1 else told.replace(f"layer {changes[0].layer}", "every layer", 1)


def group_layers(changes: Sequence[Change], n_layers: int) -> list[tuple[Change, ...]]:
    """The changes as somebody makes them: a token that is hidden in every layer is one, at the place of its first."""
    alike: dict[Change, list[Change]] = {}
    for each in changes:
        if each.kind == "hide":
            alike.setdefault(replace(each, layer=None), []).append(each)
    groups: list[tuple[Change, ...]] = []
    for each in changes:
        same = alike.get(replace(each, layer=None), [])
        if n_layers < 2 or {other.layer for other in same} != set(range(n_layers)):
            groups.append((each,))
        elif each is same[0]:
            groups.append(tuple(same))
    return groups


def count_changes(run: Run) -> int:
    """How many changes a run has, as somebody makes them."""
    return len(group_layers(run.interventions, run.config.n_layers))


def name_tokens(sentence: str, tokens: Sequence[str]) -> str:
    """A sentence of the model, which counts tokens, with their words: `it₁₀` for `token 10`."""
    return re.sub(r"\btoken (\d+)\b", lambda found: name_token(tokens, int(found[1])), sentence)


def name_token(tokens: Sequence[str], token: int | None) -> str:
    """A token by its word and its place; by its place alone where the sentence has no such token."""
    if token is None or token >= len(tokens):
        return change_texts.count_token(token)
    word = " ".join(shortened(tokens[token], _LONGEST_TOKEN).split()) or "␣"
    return name_place(word, token)


def note_set_weights(run: Run, layer: int, head: int | None) -> str:
    """Which weights of a layer's head, or of all its heads with None, were set by hand, for a caption."""
    names = [
        escape_markdown(name_change(each, run.tokens))
        for each in run.interventions
        if each.point in (f"layers.{layer}.attn.scores", f"layers.{layer}.attn.pattern")
        and (head is None or each.head in (None, head))
    ]
    return f" Set by you: {'; '.join(names)}." if names else ""
