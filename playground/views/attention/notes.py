"""What texts and captions about heads add: special tokens that count, what is of the present alone, changes."""

from collections.abc import Iterator, Sequence
from typing import Any

from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item, Paragraph
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text.wording import join_words
from playground.views.change_names import name_change, name_your_changes


def note_special_tokens(run: Run, count: str = "count") -> str:
    """That special tokens count in numbers which hiding them leaves as they are; empty where there are none."""
    return f"Special tokens {count}, hidden or not." if (run.special & ~run.padding).any() else ""


def say_present_alone(scene: Scene[Any], what: str) -> Iterator[Item]:
    """One sentence, where anything is pinned, on what is shown of the present settings only: a plural."""
    if scene.pinned is not None:
        text = f"This view shows {what} of the present settings alone. **Swap** shows the pinned ones instead."
        yield Paragraph(text, "caption")


def name_row_changes(walk: Walk, changes: Sequence[Change]) -> str:
    """The changes that set numbers of a walk's row, in markdown: `your change “layer 3, head 1 off”`."""
    tokens = walk.layer.run.tokens
    names = [f"“{escape_markdown(name_change(change, tokens))}”" for change in changes]
    return f"{name_your_changes(len(changes))} {join_words(names)}"
