"""Changes that a button is about to make: why they cannot be made beside those that are there, and making them."""

from collections.abc import Sequence
from dataclasses import replace

from playground.errors import InterventionError
from playground.link.changes import MAX_CHANGES
from playground.model.changes import Change
from playground.model.interventions import check_change
from playground.runs.intervention_input import intervention_subject
from playground.web.choices import changes
from playground.web.choices.setup import Setup, current_setup
from playground.web.shared.what_if.change_names import name_tokens


def explain_refusal(setup: Setup, wanted: Sequence[Change]) -> str:
    """One sentence on why changes cannot be made, and what to take back for them; empty where they can.

    A change at the same place with another strength makes room for the wanted one.
    """
    n_new = sum(all(not is_same_place(each, made) for made, _ in setup.changes) for each in wanted)
    room = changes.n_free_changes()
    if n_new > room:
        if n_new == 1:
            return "A link holds no more changes: take one back above first."
        if n_new > MAX_CHANGES:
            return f"These are {n_new} changes, and a link holds {MAX_CHANGES} at most."
        return f"These are {n_new} further changes, and a link has room for {room}: take others back above first."
    subject = intervention_subject(setup.config, setup.batch, setup.sentence, causal=setup["causal"])
    beside = [made for made in setup.fitted_changes.applied if not any(is_same_place(made, each) for each in wanted)]
    for each in wanted:
        try:
            check_change(subject, each, beside)
        except InterventionError as error:
            return name_tokens(str(error), setup.batch.tokens[setup.sentence])
        beside.append(each)
    return ""


def make_in_place(wanted: Sequence[Change]) -> None:
    """Make changes, switched on; one at the same place with another strength is replaced."""
    for made, _ in current_setup().changes:
        for each in wanted:
            if made != each and is_same_place(made, each):
                changes.replace_change(made, each)
    changes.make_changes(wanted)


def is_same_place(one: Change, two: Change) -> bool:
    """Whether two changes differ in their strength alone."""
    return replace(one, strength=1.0) == replace(two, strength=1.0)
