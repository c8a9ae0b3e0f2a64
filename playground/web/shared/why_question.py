"""The question why a query looks at a key: how it is put, and of which two tokens where the visitor chose none."""

from dataclasses import replace

import numpy as np

from playground.link.places import Focus
from playground.runs.encoder_run import Run
from playground.text.pronouns import choose_pronoun
from playground.web.choices.setup import is_focus_of_text
from playground.web.shared.markdown import quote_place

ROUNDING = 1e-4
"""Share of the largest weight that rounding may take."""


def ask_why(run: Run, focus: Focus) -> str:
    """The question in markdown: why the query looks at the key, why not more, or why not at all.

    "Not more" is where another key has more weight: the answer is then what that one has ahead of this one.
    """
    query, key = focus.query, focus.key
    weights = run.pattern(focus.layer)[focus.head, query]
    looks = "look at"
    if run.padding[query] or not run.allowed[query, key]:
        looks = "not look at"
    elif weights[key] < (1 - ROUNDING) * weights.max():
        looks = "not look more at"
    return f"Why does {quote_place(run.tokens, query)} {looks} {quote_place(run.tokens, key)}?"


def choose_pair(run: Run, focus: Focus) -> Focus:
    """The focus, or where nobody chose it in the present text, a pair that says more at the same head.

    That is the query itself or else the first pronoun, with the key that it looks at most, special tokens and itself
    aside.
    """
    if is_focus_of_text():
        return focus
    query = _choose_query(run, focus.query)
    others = run.allowed[query] & ~run.special & (np.arange(len(run.tokens)) != query)
    if not others.any():
        return replace(focus, query=query)
    weights = run.pattern(focus.layer)[focus.head, query]
    return replace(focus, query=query, key=int(np.where(others, weights, -1).argmax()))


def _choose_query(run: Run, query: int) -> int:
    pronoun = choose_pronoun(run.tokens, query)
    words = np.flatnonzero(~run.special[: query + 1])
    if pronoun is not None:
        return pronoun
    return int(words[-1]) if words.size else query
