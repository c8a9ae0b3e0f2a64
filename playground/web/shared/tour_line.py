"""The tour on the page: the line above every page's heading that says what to do, and what came out at the end."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.tour import Conclusion, Evidence, Step, Tour, Verdict
from playground.learn.tours import TOURS
from playground.text.wording import count_noun, join_words
from playground.web.choices.shortcuts import choose_values
from playground.web.components.without_picture import announce, hide, scroll_to
from playground.web.session.caches import shipped_exercises
from playground.web.shared import tour as session_tour
from playground.web.shared.attempts import current_results
from playground.web.shared.navigation import page_named, request_page
from playground.web.shared.page_end import as_one_element

KEY, END_KEY = "tour_line", "tour_conclusion"
"""Keys of the line's container: at a step, which stays in sight, and at the end, which is longer."""

_SHOWN = "_tour_shown"
"""Session key, in the run after a press that scrolls to what a step needs: the containers, also on a phone."""

_TO_SCROLL = "_tour_to_scroll"
"""Session key of whether the step that the tour has come to still has to be scrolled to, on its page."""

_REFUSED = "_tour_refused"
"""Session key, in the run after a press that could not do the step: why."""

_HEADS_ON = "Switches on again the heads that are off."
"""What a press does that ends an experiment."""

_VERDICTS: Mapping[Verdict, str] = {
    "held": ":green-badge[the claim held]",
    "refuted": ":orange-badge[the claim is refuted]",
    "undecided": ":gray-badge[undecided]",
    "untested": ":gray-badge[not tested]",
}


@as_one_element
def draw_tour_line(gather_evidence: Callable[[], Evidence], draw_copy_link: Callable[[], None]) -> None:
    """The step that the visitor is at, with where to do it and the ways on; the conclusion at the end; or nothing.

    Args:
        gather_evidence: what steps and conclusions may compute of the session.
        draw_copy_link: draws the button that copies the link.
    """
    problem = session_tour.lesson_problem()
    if problem:
        st.warning(escape_markdown(problem))
        session_tour.leave()
    session_tour.advance()
    session_tour.begin_step(gather_evidence)
    tour, step = session_tour.current_tour(), session_tour.current_step()
    if tour is None or session_tour.is_out_of_place():
        return
    if step is not None:
        with st.container(key=KEY, border=True, gap="xsmall"):
            _draw_step(tour, step, gather_evidence)
    else:
        with st.container(key=END_KEY, border=True, gap="small"):
            _draw_end(tour, gather_evidence, draw_copy_link)
    shown, arrived = st.session_state.pop(_SHOWN, None), session_tour.has_arrived()
    if arrived:
        st.session_state[_TO_SCROLL] = step is not None and step.scrolls
    if step is None and arrived:
        scroll_to(END_KEY)
    elif (
        step is not None and session_tour.current_state().page == step.page and st.session_state.pop(_TO_SCROLL, False)
    ):
        target, on_phone = step.target or KEY, step.target_on_phone
        if step.meanwhile and not session_tour.is_done(step):
            target, on_phone = step.meanwhile, None
        scroll_to(target, on_phone=on_phone)
    elif shown:
        scroll_to(shown[0], on_phone=shown[1])


def start_tour(name: str, gather_evidence: Callable[[], Evidence]) -> bool:
    """Begin a tour, by its name, with its example where the text lacks something; for callbacks.

    Returns whether it has begun: the page says else why not.
    """
    session_tour.leave()  # another experiment, whose network and heads that are off are not this one's
    if TOURS[name].needs(session_tour.current_state()):
        choose_values({"text": TOURS[name].example})
    return _try(lambda: session_tour.begin_tour(TOURS[name], gather_evidence))


def _draw_step(tour: Tour, step: Step, gather_evidence: Callable[[], Evidence]) -> None:
    number, state = session_tour.step_number(), session_tour.current_state()
    session_tour.note_drawn()
    if session_tour.is_done(step):
        _draw_done(tour, step, number, gather_evidence)
        return
    sentence, hint, has_target, _ = step.words(state)
    place = f"tep {number} of {len(tour.steps)}"
    is_here = step.page in (None, state.page)
    is_lesson = tour.conclude is None
    if not is_here and step.page is not None and not is_lesson:  # its sentence names buttons of its own page
        _say(f"**S{place}** is on the page {page_named(step.page).title}.", told_before=tour.title_for(state))
    elif not is_lesson:
        _say(
            f"**S{place}.** {sentence}", st.session_state.pop(_REFUSED, None) or hint, told_before=tour.title_for(state)
        )
    if is_here and step.hides:
        hide(step.hides)
    with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        if is_lesson:
            st.caption(f"**{tour.title}** · s{place}")
        if not step.opens and step.page is not None and not is_here:
            page = page_named(step.page)
            st.page_link(page, label=f"Open {page.title}", icon=":material/arrow_forward:", width="content")
        answers = step.answers(state) if is_here else {}
        if answers:  # also so that no answer stands where the step before had its button on
            st.caption("Your answer:", width="content")
        for word, label in answers.items():
            st.button(label, key=f"tour_answer_{word}", on_click=_answer, args=(word, step, gather_evidence))
        if is_here and has_target and (step.sets is not None or not answers):
            st.button(
                "Show me", key="tour_show", icon=":material/my_location:", type="tertiary", on_click=_show, args=(step,)
            )
        if is_here and step.sets is not None and not answers:
            icon = ":material/auto_fix_high:"
            st.button(step.set_label, key="tour_set", icon=icon, type="tertiary", on_click=_do, args=(gather_evidence,))
        _draw_ways(tour, step, number, gather_evidence)
    if is_lesson:  # whose words may be a list, or several paragraphs: the buttons above them stay where they are
        _say(str(sentence), hint, told_before=f"{tour.title} · s{place}")


def _draw_done(tour: Tour, step: Step, number: int, gather_evidence: Callable[[], Evidence]) -> None:
    """What came of the step, and the way on; what the next step hides is not seen before it either."""
    n = len(tour.steps)
    following = tour.steps[number] if number < n else None
    if following is not None and following.hides and following.page == session_tour.current_state().page:
        hide(following.hides)
    result = session_tour.say_result(step, gather_evidence)
    _say(f"**Step {number} of {n}: done.** {result}", told_before=tour.title_for(session_tour.current_state()))
    with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Next" if number < n else "What came out?",
            key="tour_on",
            icon=":material/arrow_forward:",
            type="primary",
            on_click=session_tour.go_to,
            args=(number + 1,),
        )
        _draw_back(is_first=number == 1)
        _draw_end_button(tour)


def _draw_opening(step: Step, is_here: bool) -> None:
    """The way back to the state that the step began with."""
    label = "As it began" if is_here else f"Open {page_named(step.page or '').title}"
    icon = ":material/replay:" if is_here else ":material/arrow_forward:"
    st.button(label, key="tour_open", icon=icon, type="tertiary", on_click=session_tour.open_step)


def _draw_ways(tour: Tour, step: Step, number: int, gather_evidence: Callable[[], Evidence]) -> None:
    """On, back and out; in a lesson in places that stay from step to step, and to what the step began with."""
    is_lesson = tour.conclude is None
    with st.container(key="tour_ways", horizontal=True, vertical_alignment="center", gap="small"):
        if is_lesson:
            _draw_back(is_first=number == 1)
        st.button(
            step.skip_label,
            key="tour_skip",
            icon=":material/arrow_forward:" if step.skip_label == "Next" else ":material/skip_next:",
            type="primary" if is_lesson else "tertiary",
            on_click=partial(_skip, gather_evidence),
        )
        if not is_lesson:
            _draw_back(is_first=number == 1)
        is_here = step.page in (None, session_tour.current_state().page)
        if step.opens and not (is_here and step.page == "exercises"):
            _draw_opening(step, is_here)
        _draw_end_button(tour)


def _draw_back(*, is_first: bool = False) -> None:
    icon = ":material/arrow_back:"
    st.button("Back", key="tour_back", icon=icon, type="tertiary", on_click=session_tour.go_back, disabled=is_first)


def _draw_end_button(tour: Tour) -> None:
    """The way out of the tour: out of a lesson to all lessons, as its page alone leads nowhere."""
    _draw_leave("End", session_tour.leave if tour.conclude is not None else _open_lessons, tour)


def _draw_leave(label: str, leave: Callable[[], None], tour: Tour) -> None:
    icon = ":material/close:"
    st.button(label, key="tour_end", icon=icon, type="tertiary", on_click=leave, help=_explain_end(tour))


def _explain_end(tour: Tour) -> str | None:
    """What else happens where the tour is left, if anything does."""
    if session_tour.brings_back():
        return "Brings back the text and settings that you had before."
    if tour.conclude is None:
        return None
    told = [_HEADS_ON] if session_tour.has_heads_off() else []
    before = session_tour.choices_before_network()
    if before:
        what = "your text and the weights" if "text" in before else "the weights"
        told.append(f"Brings back {what} that you had before; “trained here” keeps your network.")
    return " ".join(told) or None


def _draw_end(tour: Tour, gather_evidence: Callable[[], Evidence], draw_copy_link: Callable[[], None]) -> None:
    """What came out, and the ways on."""
    if tour.conclude is None:
        _draw_found(tour)
    else:
        _draw_conclusion(tour, tour.conclude, gather_evidence)
    following = _next_tour(tour)
    with st.container(key="tour_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        if tour.conclude is not None:
            draw_copy_link()
        if following is not None:
            st.button(
                f"Next: {following.title}",
                key="tour_next",
                icon=":material/arrow_forward:",
                on_click=_begin_next,
                args=(following, gather_evidence),
            )
        if tour.conclude is None:
            st.button("All lessons", key="tour_lessons", icon=":material/arrow_forward:", on_click=_open_lessons)
        else:
            page, label = tour.onward
            st.page_link(page_named(page), label=label, icon=":material/arrow_forward:", width="content")
            st.page_link(page_named("overview"), label="All experiments", icon=":material/home:", width="content")
        with st.container(key="tour_ways", horizontal=True, vertical_alignment="center", gap="small"):
            _draw_back()
            _draw_leave("Close", session_tour.leave, tour)


def _draw_found(tour: Tour) -> None:
    """Say which of a lesson's exercises were found."""
    results = current_results()
    found = [key for key in tour.exercises if results.get(key) == "found"]
    n = len(tour.exercises)
    session_tour.note_drawn()
    said = f" You have found {len(found)} of {count_noun(n, 'answer')}." if n else ""
    exercises = shipped_exercises()
    missing = [f"*{exercises[key].title}*" for key in tour.exercises if key in exercises and key not in found]
    said += f" Still missing: {join_words(missing)}." if missing else ""
    _say(f"**{tour.title}.** That was the last step.{said}")


def _draw_conclusion(
    tour: Tour, conclude: Callable[[Evidence], Conclusion], gather_evidence: Callable[[], Evidence]
) -> None:
    """What the visitor's run says, and the test of it."""
    try:
        found = conclude(gather_evidence())
    except PlaygroundError as error:
        found = Conclusion(escape_markdown(error), "Nothing was computed, so nothing could be tested.", "untested")
    session_tour.note_drawn()
    _say(f"**{tour.title_for(session_tour.current_state())} What was measured:** {found.sentence}")
    st.markdown(f"**A test that can refute it.** {found.test} {_VERDICTS[found.verdict]}")
    if found.more:
        st.caption(found.more)


def _next_tour(tour: Tour) -> Tour | None:
    """The tour on the card behind this one's, if there is another."""
    names = list(TOURS)
    if tour.name not in names:
        return None
    following = TOURS[names[(names.index(tour.name) + 1) % len(names)]]
    return None if following is tour else following


def _say(sentence: str, hint: object = None, told_before: str = "") -> None:
    """The sentence and its hint, in markdown, for the eye and for a screen reader, to which more is `told_before`."""
    if sentence:
        st.markdown(sentence)
    if hint:
        st.caption(str(hint))
    words = " ".join(filter(None, [told_before, sentence, str(hint or "")])).replace("*", "").replace("`", "")
    announce("tour_announcement", words, container=END_KEY if session_tour.current_step() is None else KEY)


def _show(step: Step) -> None:
    st.session_state[_SHOWN] = (step.target, step.target_on_phone)


def _answer(word: str, step: Step, gather_evidence: Callable[[], Evidence]) -> None:
    if _try(lambda: session_tour.answer(word, gather_evidence)) and step.target:
        _show(step)


def _do(gather_evidence: Callable[[], Evidence]) -> None:
    step = session_tour.current_step()
    if _try(lambda: session_tour.do_step(gather_evidence())) and step is not None and step.target:
        _show(step)


def _begin_next(following: Tour, gather_evidence: Callable[[], Evidence]) -> None:
    if start_tour(following.name, gather_evidence):
        request_page(following.page)


def _open_lessons() -> None:
    session_tour.leave()
    request_page("lessons")


def _skip(gather_evidence: Callable[[], Evidence]) -> None:
    number, step = session_tour.step_number(), session_tour.current_step()
    if step is not None and step.is_needed:
        with suppress(PlaygroundError):  # the next step says what it needs
            session_tour.do_step(gather_evidence())
    session_tour.go_to(number + 1)


def _try(act: Callable[[], None]) -> bool:
    """Act, and return whether that went well: else the line says in one sentence why not."""
    try:
        act()
    except PlaygroundError as error:
        st.session_state[_REFUSED] = escape_markdown(error)
        return False
    return True
