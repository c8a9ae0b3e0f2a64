"""The question why a query looks at a key."""

from playground.charts.markdown import quote_place
from playground.link.places import Focus
from playground.runs.encoder_run import Run

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
