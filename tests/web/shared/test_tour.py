"""The tour on the pages: its line, its steps done by hand and by its buttons, its end."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.learn.pronoun_tour import PRONOUN
from tests.web.app_test import (
    SMALL,
    choose,
    component_data,
    open_page,
    press,
    prose,
    sentences,
    trained_trace,
    working,
)

TEXT = "Anna gave Tom the book because he had asked for one."
HE, ANNA, TOM = 7, 1, 3

STEPS = PRONOUN.steps
NAMES = [step.name for step in STEPS]
END = str(len(STEPS) + 1)

BUTTONS = {
    "tour_back",
    "tour_skip",
    "tour_end",
    "tour_show",
    "tour_set",
    "tour_answer_keep",
    "tour_answer_word",
    "tour_answer_place",
}


def tour_buttons(app: AppTest) -> set[str]:
    """The tour's buttons on the page that can be pressed."""
    return {button.key for button in app.button if button.key in BUTTONS and not button.disabled}


def shown_step(app: AppTest) -> str | None:
    """The step on the page, by its name, or `end`, as the page, the session and the address agree on it."""
    number = int(app.session_state["tour"]) if "tour" in app.session_state else 0
    written = component_data(app, "address_guard")["parameters"].get("tour", [])
    assert written == ([str(number)] if number else [])
    assert ("What was measured:" in prose(app)) == (number > len(STEPS))
    assert (f"**Step {number} of {len(STEPS)}" in prose(app)) == (1 <= number <= len(STEPS))
    return (*NAMES, "end")[number - 1] if number else None


def is_done(app: AppTest) -> bool:
    """Whether the step on the page says that it is done, and has the button that goes on."""
    assert ("tour_on" in {button.key for button in app.button}) == (": done.**" in prose(app))
    return ": done.**" in prose(app)


def go_on(app: AppTest) -> AppTest:
    """Go on from a step that is done."""
    assert is_done(app)
    return press(app, "tour_on")


def act(app: AppTest, action: str, **focus: int) -> AppTest:
    """Do by hand what only a browser can, in a view of a component."""
    app.session_state["_actions"] = frozenset({action})
    for place, number in focus.items():
        app.session_state[place] = number
    return working(app.run())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "step"),
    [("99", "end"), ("6", "end"), ("x", None), ("-1", None), ("0", None), ("2.5", None), ("9" * 3000, None)],
)
def test_a_link_that_asks_for_another_step_opens_the_nearest_or_none_and_says_so(text: str, step: str | None) -> None:
    app = open_page("attention", **SMALL, tour=text)
    assert (shown_step(app) is None) == (step is None)
    assert ("tour=" in sentences(app)) == (text not in ("0", "6"))


def test_a_link_to_an_unknown_tour_opens_the_first() -> None:
    app = open_page("attention", **SMALL, tour=1, experiment="nonsense")
    assert shown_step(app) == "find"
    assert "experiment=" in sentences(app)


@pytest.mark.long
def test_a_newcomer_goes_through_all_steps_by_doing_what_they_say() -> None:
    app = press(choose(open_page("overview"), text=TEXT), "start_pronoun")
    app = open_page("attention", text=TEXT, tour=1, query=HE, key=HE)
    assert shown_step(act(app, "cell chosen", key=0)) == "find", "[CLS] is no word"
    assert not is_done(app)
    weights = trained_trace(TEXT)["layers.3.attn.pattern"][0, 1, HE]
    assert shown_step(act(app, "cell chosen", key=TOM)) == "find"
    assert f"Not in this head. `he` gives `tom` a weight of {weights[TOM]:.2f}." in prose(app)
    assert f"It looks more at `anna`: {weights[ANNA]:.2f}." in prose(app)
    assert shown_step(act(app, "cell chosen", key=ANNA)) == "find"
    assert f"Right for this head. Of all other words, `he` looks most at `anna`: weight {weights[ANNA]:.2f}" in prose(
        app
    )
    assert shown_step(go_on(app)) == "rival"
    assert "*anna*" in prose(app)
    assert app.selectbox(key="why_rival_choice").options == ["the strongest other word: tom₃", "tom₃", "book₅"]
    assert "Beside it stands *tom*" in prose(app)
    assert not is_done(app)
    assert is_done(choose(app, why_rival_choice="5"))
    assert not is_done(choose(app, why_rival_choice=str(TOM)))
    assert shown_step(press(app, "tour_answer_keep")) == "rival"
    assert f"`he` gives `anna` {weights[ANNA]:.2f} and `tom` {weights[TOM]:.2f}." in prose(app)
    assert shown_step(go_on(app)) == "swap"
    assert shown_step(press(app, "tour_answer_place")) == "swap"
    assert shown_step(go_on(app)) == "off"
    assert shown_step(press(app, "quick_off")) == "off"
    assert "With this head off, the vector of the whole sentence moves" in prose(app)
    assert shown_step(go_on(app)) == "end"
    assert f"`Anna` ({weights[ANNA]:.2f}) more than at `Tom` ({weights[TOM]:.2f})" in prose(app)
    swapped = trained_trace("Tom gave Anna the book because he had asked for one.")["layers.3.attn.pattern"][0, 1, HE]
    assert f"{swapped[TOM]:.2f} against {swapped[ANNA]:.2f}" in prose(app), "their places have changed"
    assert "the claim is refuted" in prose(app), "which was the visitor's"
    assert tour_buttons(press(app, "tour_end")) == set()
    assert not app.session_state["do"], "the head is on again"


def test_every_step_but_a_guess_can_be_done_by_its_button() -> None:
    app = open_page("attention", text=TEXT, tour=1)
    names, buttons = (
        [shown_step(app)],
        {"find": f"tour_answer_{ANNA}", "rival": "tour_answer_keep", "swap": "tour_answer_word"},
    )
    while names[-1] != "end":
        step = STEPS[NAMES.index(str(names[-1]))]
        assert shown_step(press(app, buttons.get(step.name, "tour_set"))) == step.name
        names.append(shown_step(go_on(app)))
    assert names == [*NAMES, "end"]
    assert app.session_state["attention_rival"] == str(TOM)


def test_without_a_pronoun_the_button_types_a_sentence_that_has_one() -> None:
    app = press(open_page("attention", text="dogs bark", tour=1), "tour_set")
    assert shown_step(app) == "find"
    assert "the row of *it*" in prose(app)


def test_what_was_guessed_is_judged_and_a_guess_about_other_words_is_asked_for_again() -> None:
    place = {"text": TEXT, "query": HE, "key": ANNA, "attention_rival": TOM}
    now = trained_trace(TEXT)["layers.3.attn.pattern"][0, 1, HE]
    then = trained_trace("Tom gave Anna the book because he had asked for one.")["layers.3.attn.pattern"][0, 1, HE]
    moved = f"`Anna` {now[ANNA]:.2f} → {then[TOM]:.2f} and `Tom` {now[TOM]:.2f} → {then[ANNA]:.2f}."
    app = press(open_page("attention", tour=3, **place), "tour_answer_place")
    assert "You guessed the place, but the word decides." in prose(app)
    assert moved in prose(app)
    assert is_done(app)
    assert not is_done(choose(app, why_rival_choice="5")), "it is about the words that were guessed"
    app = press(open_page("attention", tour=3, **place), "tour_answer_word")
    assert "You were right: the word decides." in prose(app)
    assert moved in prose(app)
    assert "You were right" not in prose(go_on(app))


def test_who_skips_the_first_steps_has_two_words_to_compare() -> None:
    app = press(open_page("attention", text=TEXT, tour=1, query=HE, key=HE), "tour_skip")
    assert (app.session_state["query"], app.session_state["key"]) == (HE, ANNA)
    app = press(app, "tour_skip")
    assert shown_step(app) == "swap"
    assert app.session_state["attention_rival"] == str(TOM)


@pytest.mark.long
def test_the_end_tests_what_had_been_guessed() -> None:
    place = {"text": TEXT, "query": HE, "key": ANNA, "attention_rival": TOM}
    app = press(go_on(press(open_page("attention", tour=3, **place), "tour_answer_place")), "tour_skip")
    assert "Your guess as a claim: between `Anna` and `Tom`, the place decides" in prose(app)
    assert "the claim is refuted" in prose(app)
    app = press(go_on(press(open_page("attention", tour=3, **place), "tour_answer_word")), "tour_skip")
    assert "Your guess as a claim: between `Anna` and `Tom`, the word decides" in prose(app)
    assert "the claim held" in prose(app)


def test_the_end_leads_into_the_next_experiment() -> None:
    app = open_page("attention", text=TEXT, tour=END, query=HE, key=ANNA, attention_rival=TOM)
    app.button(key="tour_next").click().run()
    assert (app.session_state["experiment"], app.session_state["tour"]) == ("negation", 1)


def test_a_step_that_is_done_waits_also_when_it_is_gone_back_to_and_is_undone() -> None:
    app = open_page("attention", text=TEXT, tour=4, query=HE, key=ANNA, do="3.1:zero")
    assert shown_step(go_on(app)) == "end"
    assert shown_step(press(app, "tour_back")) == "off"
    assert is_done(app)
    assert not is_done(press(app, "quick_off"))
    assert is_done(press(app, "quick_off"))
    app = press(open_page("attention", **SMALL, tour=2), "tour_back")
    assert shown_step(app) == "find"
    assert "tour_back" not in tour_buttons(app)


@pytest.mark.long
def test_steps_can_be_skipped_to_the_end_and_the_tour_be_left_at_any() -> None:
    app = open_page("attention", **SMALL, tour=1)
    names = [shown_step(app)]
    while names[-1] != "end":
        names.append(shown_step(press(app, "tour_skip")))
    assert names == [*NAMES, "end"]
    left = press(open_page("overview", **SMALL, tour=4), "tour_end")
    assert shown_step(left) is None
    assert tour_buttons(left) == set()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ["a", "!", "", "1 2", "é\nhe saw it"])
@pytest.mark.parametrize("changes", [{}, SMALL, {"causal": True}])
def test_any_text_comes_to_an_end_without_an_error(text: str, changes: dict[str, object]) -> None:
    app = choose(open_page("attention", **changes, tour=END), text=text)
    assert shown_step(working(app)) == "end"


def test_a_new_step_is_announced_to_whoever_cannot_see_it() -> None:
    app = open_page("attention", text=TEXT, tour=1)
    told = component_data(app, "announcement")["sentence"]
    assert told.startswith("Who does he mean? Step 1 of 4. ")
    assert "the row of he" in told, "without the marks of markdown"
    app = open_page("attention", **SMALL, tour=2, attention_show="average of heads")
    assert "Set Show to one head first" in component_data(app, "announcement")["sentence"]
    app = open_page("attention", **SMALL, tour=END)
    assert "What was measured: " in component_data(app, "announcement")["sentence"]
    assert component_data(press(app, "tour_end"), "announcement") == {}


def test_reset_ends_the_tour() -> None:
    app = open_page("attention", **SMALL, tour=3)
    assert shown_step(press(app, "reset")) is None


def test_a_claim_that_the_swap_speaks_against_is_refuted() -> None:
    text, swapped = (
        f"The {one} doesn't fit in the {other} because it is too big."
        for one, other in (("trophy", "suitcase"), ("suitcase", "trophy"))
    )
    app = open_page("attention", text=text, tour=END, query=11, key=2, attention_rival=9)
    before, after = (trained_trace(each)["layers.3.attn.pattern"][0, 1, 11] for each in (text, swapped))
    assert before[2] > before[9]
    assert after[2] > after[9], "another word stands there now"
    assert "refuted" in prose(app)
    assert f"{after[2]:.2f} against {after[9]:.2f}" in prose(app)


def test_the_place_decides_though_the_bar_of_the_positions_is_not_the_longest() -> None:
    text = "The trophy doesn't fit in the suitcase because it is too big."
    place = {"text": text, "query": 11, "key": 2, "attention_rival": 9}
    assert "The longest bar is not “their positions”" in prose(
        press(open_page("attention", tour=3, **place), "tour_answer_word")
    )
    place = {"text": TEXT, "query": HE, "key": ANNA, "attention_rival": TOM}
    assert "The longest bar is not" not in prose(press(open_page("attention", tour=3, **place), "tour_answer_word"))


def test_the_front_page_is_no_place_for_an_end() -> None:
    assert shown_step(open_page("overview", **SMALL, tour=END)) is None


def test_random_weights_are_named_at_the_end() -> None:
    app = open_page("attention", **SMALL, text="the cat saw it", tour=END)
    assert "random" in prose(app)
