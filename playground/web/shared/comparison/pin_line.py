"""The line below a page's heading that pins the settings, says what was changed since, swaps the two and unpins."""

from collections.abc import Callable, Sequence

import streamlit as st

from playground.analysis.shared_weights import SharedWeights, count_shared
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.text.wording import join_words
from playground.web.choices import pinned, shortcuts
from playground.web.choices.setup import current_setup, replace_notices
from playground.web.session import caches
from playground.web.session.weights_cache import cache_for_everybody
from playground.web.shared.comparison.pinned_side import Difference, PinnedSide, list_differences, pinned_side
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element

KEY = "pin_line"

_HOW = "Keeps all settings of the sidebar as they are. Then change any of them: the charts show both, before and after."


@as_one_element
def draw_pin_line(*, links_to_compare: bool = True) -> None:
    """One button that pins the present settings; once they are pinned, what differs from them and what can be done."""
    side = pinned_side()
    with st.container(key=KEY, horizontal=True, vertical_alignment="center", gap="small"):
        if side is None:
            _draw_button("Pin this, to compare", "pin", ":material/push_pin:", _pin, _HOW)
            return
        differences = list_differences(side.setup.values, current_setup().values)
        st.markdown(describe_change(differences), width="content")
        _draw_button("Swap", "pin_swap", ":material/swap_horiz:", _swap, "The pinned settings go into the sidebar, and "
                     "those of the sidebar are pinned.", disabled=not differences)  # fmt: skip
        _draw_button("Pin again", "pin", ":material/push_pin:", _pin, "Pins the present settings instead.",
                     disabled=not differences)  # fmt: skip
        _draw_button("Unpin", "unpin", ":material/close:", _unpin, "Pages show the present settings alone.")
        if links_to_compare:
            st.page_link(page_named("compare"), label="Compare in full", icon=":material/compare_arrows:")


def _draw_button(
    label: str, key: str, icon: str, on_click: Callable[[], None], help_text: str, *, disabled: bool = False
) -> None:
    st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, help=help_text, disabled=disabled)


def describe_change(differences: Sequence[Difference]) -> str:
    """What was changed since the settings were pinned, in one sentence."""
    if not differences:
        return ":material/push_pin: **Pinned.** Now change any setting: the charts show both."
    listed = ", ".join(f"{each.name} {each.pinned} → {each.now}" for each in differences)
    return f":material/push_pin: **Pinned → now:** {escape_markdown(listed)}"


@as_one_element
def explain_pinned_run() -> None:
    """What initial weights the two runs share; or why there is no pinned run, and so the present one alone."""
    side = pinned_side()
    if side is None:
        return
    if not side.setup.text.sentences:
        st.info("The pinned settings have no text, so there is no run of theirs to show.")
        return
    try:
        caches.run_sentence(side.setup.run_key)
    except PlaygroundError as error:
        st.info(f"The pinned settings cannot be run: {escape_markdown(error)}")
        return
    shared = shared_weights(side)
    if shared:
        st.caption(summarise_shared(shared, current_setup()["seed"]))


def shared_weights(side: PinnedSide) -> Sequence[SharedWeights]:
    """What random weights both sides have, by component; none where one side's are not random, or the seeds differ."""
    now = current_setup()
    both_random = side.setup.weights == now.weights == "random"
    return _count_shared(side.setup.config, now.config) if both_random and side.setup["seed"] == now["seed"] else ()


_count_shared = cache_for_everybody(max_entries=16)(count_shared)


def summarise_shared(shared: Sequence[SharedWeights], seed: int) -> str:
    """How many of the present model's random weights the pinned one has too, in one sentence."""
    equal = sum(component.equal for component in shared)
    rescaled = sum(component.rescaled for component in shared)
    alone = sum(component.only_second for component in shared)
    if not rescaled and not alone:
        return f"Both draw their weights from seed {seed}: all {equal:,} random weights now are the pinned model's too."
    parts = [f"{equal:,} are the pinned model's too"] if equal else []
    parts += [f"{rescaled:,} are its numbers times a factor"] if rescaled else []
    parts += [f"{alone:,} are new"] if alone else []
    total = equal + rescaled + alone
    return f"Both draw their weights from seed {seed}. Of the {total:,} random weights now, {join_words(parts)}."


def _pin() -> None:
    pinned.pin(current_setup().values)


def _unpin() -> None:
    pinned.unpin()
    replace_notices(current_setup(), [])


def _swap() -> None:
    shortcuts.discard_unlocked()
    pinned.swap_pinned(current_setup().values)
