"""The tour's steps: what each asks for, where that is done, and how a session shows that it is done; no Streamlit."""

from collections.abc import Callable
from dataclasses import dataclass

from playground.web.choices.params import DEFAULT_TEXT
from playground.web.session.actions import Action


@dataclass(frozen=True)
class TourState:
    """What the steps ask of a session."""

    page: str
    """The open page, by its path."""
    text: str
    """What is typed into the sidebar."""
    actions: frozenset[Action] = frozenset()
    """What the visitor did by hand since the step began."""
    is_pinned: bool = False
    """Whether settings are pinned."""
    is_changed: bool = False
    """Whether the present settings differ from the pinned ones."""


@dataclass(frozen=True)
class Step:
    """One thing to do."""

    name: str
    sentence: str
    is_done: Callable[[TourState], bool]
    page: str | None = None
    """Where it is done, by the page's path; None: on every page."""
    in_sidebar: bool = False
    """Whether it is done in the sidebar, which a phone hides."""
    skip_label: str = "Skip"


def has_own_text(state: TourState) -> bool:
    """Whether the visitor typed something else than the default."""
    return state.text.strip() not in ("", DEFAULT_TEXT)


def has_chosen_cell(state: TourState) -> bool:
    """Whether a query or a key was chosen where its weights are to be seen."""
    return state.page == "attention" and "cell chosen" in state.actions


def has_opened_computation(state: TourState) -> bool:
    """Whether another step of the computation behind the cell was opened."""
    return "computation opened" in state.actions


def has_pinned(state: TourState) -> bool:
    """Whether settings are pinned."""
    return state.is_pinned


def has_changed_setting(state: TourState) -> bool:
    """Whether there is a before and an after."""
    return state.is_pinned and state.is_changed


def has_copied_link(state: TourState) -> bool:
    """Whether the link to the view was copied."""
    return "link copied" in state.actions


STEPS = (
    Step(
        "text",
        "Type a sentence of your own, with a word such as *it* that stands for another word.",
        has_own_text,
        skip_label="Keep this sentence",
    ),
    Step(
        "cell",
        "In the large map, find the row of *it*, and click the strongest cell of that row.",
        has_chosen_cell,
        page="attention",
    ),
    Step(
        "why",
        "Below the map, read why it looks there. Then press **competition** to see which words it beats.",
        has_opened_computation,
        page="attention",
    ),
    Step(
        "pin",
        "Press **Pin this, to compare**, below the page's title: it keeps all settings as they are now.",
        has_pinned,
        page="attention",
    ),
    Step(
        "change",
        "Change one setting in the sidebar, such as **causal mask** under **Tokens and masks**.",
        has_changed_setting,
        page="attention",
        in_sidebar=True,
    ),
    Step(
        "link",
        "Compare before and after in the charts. Then press **Copy link to this view** in the sidebar, and send it.",
        has_copied_link,
        in_sidebar=True,
    ),
)
