"""What a page says in twelve states, or its own: `python -m tests.words.states` writes what is reviewed as a diff.

Numbers are written as `#`: they are checked where they are computed.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from playground.charts.chart import Chart, Columns, Group, Item, Panel, Paragraph
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link import open_link
from playground.pages import LADDER
from playground.views.all_views import VIEWS

GOLDEN = Path(__file__).parent / "golden"

SMALL = "weights=random&tokenizer=word&n_layers=2&d_model=32&n_heads=2&d_ff=64"
STATES = {
    "first": "",
    "small": f"{SMALL}&text=The+dog+chased+the+cat.",
    "english": "weights=english",
    "english, untrained": "weights=english&untrained=true",
    "pinned": f"{SMALL}&b_n_layers=3&b_norm_placement=pre",
    "pinned, other tokens": f"{SMALL}&text=one+two&b_text=three+four+five",
    "changed": "do=0.1:zero",
    "causal": f"{SMALL}&causal=true&query=1&key=3",
    "padding": f"{SMALL}&text=one+two+three%0Afour&sentence=2",
    "no norms, no positions": f"{SMALL}&norm=none&positions=none",
    "one token": f"{SMALL}&text=word",
    "vectors, rms, rotary": f"{SMALL.replace('word', 'vectors')}&norm=rms&positions=rotary",
}
"""Links without their page."""

OWN_STATES = {
    "bug-lab": {
        "first": "",
        "tested, and accused wrongly": "lab_seed=2&lab_tests=score&lab_tests=beside-layers-0-attn-pattern"
        "&lab_accused=view-after-transpose&lab_accused=softmax-over-queries",
        "one of two found": "lab_seed=2&lab_level=two&lab_accused=integer-positions",
        "solved": "lab_seed=2&lab_accused=no-score-scale",
    },
    "parts": {"one part away": "", "ladder": f"parts_view={LADDER.replace(' ', '+')}"},
    "tutorials": {letter: f"tutorials_letter={letter}" for letter in "ABCDE"},
}
"""Those of pages that do not depend on the text or the encoder."""


def read_words(items: Iterable[Item], scene: Scene[Any]) -> Iterator[str]:
    """Paragraphs, captions and titles, in the order of the page."""
    for item in items:
        match item:
            case Paragraph(text, kind) if kind not in ("code", "formula"):
                yield f"{kind}: {text}"
            case Chart():
                drawing = draw_chart(item, scene)
                for drawn in (drawing.now, *drawing.beside):
                    yield f"{drawn.key}: {drawn.caption}"
                if drawing.note:
                    yield f"{item.key}, note: {drawing.note}"
            case Columns(columns=columns):
                for column in columns:
                    yield from read_words(column, scene)
            case Panel(title=title, items=items):
                yield f"panel: {title}"
                yield from read_words(items, scene)
            case Group(items=items):
                yield from read_words(items, scene)


def hide_numbers(text: str) -> str:
    """A text with every number, its sign and its power of ten as `#`; other processors may round otherwise."""
    text = re.sub(r" These numbers differ by no more than the rounding[^.]*\.", "", text)  # of some processors
    return re.sub(r"[−+-]?(\d[\d,.]*\d|\d)(\s×\s10)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*", "#", text)


def write_states(page: str) -> str:
    """All that a page says in the twelve states, with everything open."""
    parts = []
    for name, state in OWN_STATES.get(page, STATES).items():
        view = open_link(f"https://host/{page}?{state}{ALSO.get(page, '')}")
        folds = {key: True for key, value in view.values.items() if value is False and key.startswith(PREFIXES[page])}
        scene = VIEWS[page].scene(view)
        said = read_words(VIEWS[page].show(scene, {**view.values, **folds}), scene)
        parts.append("\n".join([f"# {name}", *map(hide_numbers, said)]))
    return "\n\n".join(parts) + "\n"


PREFIXES: dict[str, str | tuple[str, ...]] = {
    "attention": ("attention_closer",),
    "bug-lab": "lab_",
    "compare": "compare_",
    "norms": "norms_closer",
    "what-if": "whatif",
    "gradient-flow": "gradient_six",
    "encoder-decoder": "encdec_show",
    "parameters": "parameters_",
    "parts": "parts_",
    "positions": "positions_",
    "similarity": "similarity_",
    "step-by-step": "step_dropout",
    "overview": "overview_",
    "tutorials": "tutorials_",
}
"""By page whose words are in a file: how its panels' parameters begin."""

ALSO = {"what-if": "&do=0.1:zero", "attention": "&attention_view=sources"}
"""By page: what its links have beside a state."""

if __name__ == "__main__":
    for each in PREFIXES:
        (GOLDEN / f"{each}.txt").write_text(write_states(each), encoding="utf-8")
