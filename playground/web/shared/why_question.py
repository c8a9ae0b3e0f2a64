"""The question why a query looks at a key."""

from playground.link.places import Focus
from playground.runs.encoder_run import Run
from playground.web.shared.markdown import quote_place

ROUNDING = 1e-4
"""Share of an even weight that rounding may take."""


def ask_why(run: Run, focus: Focus) -> str:
    """The question in markdown: why the query looks at the key, why not more, or why not at all.

    "Not more" is a weight below an even share among the query's keys.
    """
    query, key = focus.query, focus.key
    weight = run.pattern(focus.layer)[focus.head, query, key]
    looks = "look at"
    if run.padding[query] or not run.allowed[query, key]:
        looks = "not look at"
    elif weight < (1 - ROUNDING) / run.allowed[query].sum():
        looks = "not look more at"
    return f"Why does {quote_place(run.tokens, query)} {looks} {quote_place(run.tokens, key)}?"
