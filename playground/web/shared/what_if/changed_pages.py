"""Which pages show the run that the visitor has changed, and what the others show."""

CHANGED_PAGES = ("overview", "attention", "norms", "compare", "what-if", "step-by-step", "similarity")
"""By their paths; those that show how the present sentence is computed."""

_OTHERS = {
    "positions": "This page looks at the position table and swaps words of its own: it shows the model without these "
    "changes.",
    "parameters": "These changes take no parameter away and save no work: this page counts the whole model.",
    "encoder-decoder": "These changes are of the sidebar's encoder alone: this page shows another model, without them.",
    "gradient-flow": "These changes are of the sidebar's encoder alone: this page shows other encoders, without them.",
    "training": "These changes are of the sidebar's encoder alone: what is trained here is trained without them.",
    "regularisers": "These changes are of the sidebar's encoder alone: what is trained here is trained without them.",
    "tutorials": "These changes are of the sidebar's encoder alone: this page compares other models, without them.",
}


def what_page_shows(page: str) -> str:
    """A sentence where a page, by its path, does not show the changed run; empty where it does."""
    if page in CHANGED_PAGES:
        return ""
    return _OTHERS.get(page, "This page shows the model without these changes.")
