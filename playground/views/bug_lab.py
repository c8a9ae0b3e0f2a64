"""The page Bug lab: an encoder with a mistake, what tests of it show, and suspects."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

from playground.charts.chart import Axis, Columns, Control, Group, Item, Options, Panel, Paragraph, Widget
from playground.charts.colour_scales import describe_around_zero
from playground.charts.heads import tensor_map
from playground.charts.scene import Scene
from playground.config import ACTIVATION_NAMES
from playground.link.opening import LinkedView
from playground.mistakes.bug_lab import (
    DECOYS,
    EFFORTS,
    MAX_SEED,
    SUSPECTS,
    Attempt,
    Case,
    LabTest,
    offered_tests,
    open_case,
)
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first
from playground.views.diagnosis import show_mistake
from playground.views.points import name_point
from playground.words import say

EVIDENCE, VERDICT = "lab_evidence", "lab_verdict"
"""Keys of groups: what tests have shown, and why a suspect is innocent."""


def lab_scene(view: LinkedView) -> Scene[Attempt]:
    """Return the link's case, and what was tested and accused."""
    case = open_case(view.values["lab_seed"], view.values["lab_level"])
    return Scene(Attempt(case, tuple(view.values["lab_tests"]), tuple(view.values["lab_accused"])))


def show_bug_lab(scene: Scene[Attempt], _: Options) -> Iterator[Item]:
    """Yield the case, its tests beside what they show and the suspects; once solved, the mistakes."""
    attempt, case = scene.now, scene.now.case
    yield Paragraph(_answer_how_far(attempt), "answer")
    ways_on = Group("lab_case", (Control("lab_level", say("bug_lab", "level")), *_show_ways_on(attempt)), is_row=True)
    setting = Paragraph(say("bug_lab", "case", seed=f"{case.seed}", words=" ".join(case.tokens), mask=case.mask))
    fields = {"activation": ACTIVATION_NAMES[case.config.activation], "placement": case.config.norm_placement}
    parts = Panel("", say("bug_lab", "should"), (Paragraph(say("bug_lab", "should.parts", **fields)),))
    evidence = tuple(_show_evidence(attempt))
    if attempt.is_solved:
        yield ways_on
        for key in case.mistakes:
            yield from show_mistake(MISTAKES[key], case.config)
        decoys = (key for key in case.suspects if key in DECOYS)
        yield from (Paragraph(say("bug_lab", "looks-wrong", why=explain_innocence(case, key))) for key in decoys)
        yield setting
        yield parts
        yield Group(EVIDENCE, evidence)
    else:
        yield setting
        tests = (*_show_tests(attempt), parts)
        yield Columns((tests, (Group(EVIDENCE, (*evidence, *_show_suspects(attempt))),)), (2, 3))
        yield ways_on


def _answer_how_far(attempt: Attempt) -> str:
    mistakes = attempt.case.mistakes
    if not attempt.is_solved:
        return say("bug_lab", "answer", mistakes=len(mistakes), found=len(attempt.found))
    return say("bug_lab", "solved", mistakes=join_words([f"**{SUSPECTS[key][0]}**" for key in mistakes]))


def explain_innocence(case: Case, key: str) -> str:
    """Return why a suspect is innocent."""
    title = SUSPECTS[key][0]
    if key in DECOYS:
        return f"{title}. {DECOYS[key]['why']}"
    name, n_others, n = case.find_alibi(key) or ("", 0, 0)
    layer, _, point = name_point(name).partition(", ")
    tensor = f"{point} of {layer}" if point else layer
    return say("bug_lab", "alibi", title=title, others=n_others, all=n, tensor=tensor)


# --- what is pressed


def _button(label: str, key: str, values: Mapping[str, Any], scroll: str, **options: Any) -> Widget:
    key = f"lab_{key.replace('-', '_')}"
    return Widget("lab_button", {"label": label, "key": key, "values": values, "scroll": scroll, **options})


def _show_tests(attempt: Attempt) -> Iterator[Item]:
    efforts = groupby(offered_tests(attempt.case), attrgetter("effort"))
    buttons = {effort: tuple(_offer_test(attempt, test) for test in tests) for effort, tests in efforts}
    yield Paragraph(say("bug_lab", "tests"))
    yield Group("lab_tests_offered", buttons.pop(1), gap="xsmall")
    more = [Group("", (Paragraph(EFFORTS[effort]), *each), gap="xsmall") for effort, each in buttons.items()]
    yield Panel("", say("bug_lab", "more-tests"), tuple(more))


def _offer_test(attempt: Attempt, test: LabTest) -> Widget:
    values = {"lab_tests": (*attempt.tests, test.key)}
    is_done = test.key in attempt.tests
    return _button(test.title, f"test_{test.key}", values, EVIDENCE, help=test.shows, disabled=is_done)


def _show_suspects(attempt: Attempt) -> Iterator[Item]:
    yield Paragraph(say("bug_lab", "suspects"))
    if attempt.wrong:
        reasons = [explain_innocence(attempt.case, key) for key in reversed(attempt.wrong)]
        yield Group(VERDICT, tuple(Paragraph(say("bug_lab", "not", why=why)) for why in reasons), is_card=True)
    cards = [(_show_suspect(attempt, key),) for key in attempt.case.suspects]
    yield from (Columns(tuple(cards[first : first + 2]), gap="small") for first in range(0, len(cards), 2))


def _show_suspect(attempt: Attempt, key: str) -> Group:
    title, meaning = SUSPECTS[key]
    values, scroll = {"lab_accused": (*attempt.accused, key)}, "answer" if key in attempt.case.mistakes else VERDICT
    is_done = key in attempt.accused
    button = _button(upper_first(title), f"accuse_{key}", values, scroll, disabled=is_done)
    return Group("", (button, Paragraph(meaning, "caption")), gap="xsmall")


def _show_ways_on(attempt: Attempt) -> Iterator[Item]:
    fresh = {"lab_tests": (), "lab_accused": ()}
    following = {"lab_seed": (attempt.case.seed + 1) % (MAX_SEED + 1), **fresh}
    kind = "primary" if attempt.is_solved else "tertiary"
    yield _button(say("bug_lab", "next"), "next", following, "answer", type=kind, width="content")
    if attempt.tests or attempt.accused:
        yield _button(say("bug_lab", "again"), "again", fresh, "answer", type="tertiary", width="content")


# --- what tests have shown


def _show_evidence(attempt: Attempt) -> Iterator[Item]:
    """Yield what tests have shown, the newest first; the others are folded."""
    taken = list(enumerate(attempt.taken, start=1))
    for number, test in reversed(taken):
        title, items = f"**{number}. {test.title}**", tuple(_show_finding(test, attempt.case))
        if number == len(taken):
            yield Group(f"lab_finding_{number}", (Paragraph(title), *items), is_card=True)
        else:
            yield Panel("", title, items)


def _show_finding(test: LabTest, case: Case) -> Iterator[Item]:
    yield Paragraph(test.write_finding(case))
    of_tokens, maps = "tokens" in test.draws, {"theirs": case} if test.draws else {}
    if "both" in test.draws:
        maps["right"] = case.right
    values = {whose: test.measure(each) for whose, each in maps.items()}
    shared = list(values.values())
    names = [f"{token} ({place})" for place, token in enumerate(case.tokens)]
    for place, whose in enumerate(values):
        title, colours = say("bug_lab", "map", whose=whose), describe_around_zero(shared)
        yield tensor_map(
            values[whose],
            shared,
            key=f"lab_{test.key.replace('-', '_')}_{place}",
            alt=say("bug_lab", "map.alt", test=test.title, whose=whose),
            caption=say("bug_lab", "map.caption", title=title, colours=colours),
            rows=Axis("query" if of_tokens else "token", lambda _: names),
            columns=Axis("key", lambda _: names) if of_tokens else Axis("number"),
        )
