"""The page Bug lab."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

from playground.charts.chart import Axis, Button, Columns, Control, Group, Item, Options, Panel, Paragraph
from playground.charts.heads import tensor_map
from playground.charts.scene import Scene
from playground.config import ACTIVATION_NAMES
from playground.link.opening import LinkedView
from playground.mistakes.bug_lab import DECOYS, EFFORTS, MAX_SEED, SUSPECTS, TESTS, Case, LabTest, open_case
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first
from playground.views.diagnosis import name_point, show_mistake
from playground.words import say

EVIDENCE, VERDICT = "lab_evidence", "lab_verdict"
"""Keys of groups."""


def lab_scene(view: LinkedView) -> Scene[Case]:
    """Return the link's case."""
    return Scene(open_case(view.values["lab_seed"], view.values["lab_level"]))


def show_bug_lab(scene: Scene[Case], options: Options) -> Iterator[Item]:
    """Yield the case, tests and suspects; once solved, the mistakes."""
    case, accused = scene.now, options["lab_accused"]
    found = [key for key in case.mistakes if key in accused]
    is_solved = len(found) == len(case.mistakes)
    if is_solved:
        named = join_words([f"**{SUSPECTS[key][0]}**" for key in found])
        yield Paragraph(say("bug_lab", "solved", mistakes=named), "answer")
    else:
        yield Paragraph(say("bug_lab", "answer", mistakes=len(case.mistakes), found=len(found)), "answer")
    level = Control("lab_level", say("bug_lab", "level"))
    ways_on = Group("lab_case", (level, *_show_ways_on(case, options)), is_row=True)
    setting = Paragraph(say("bug_lab", "case", seed=f"{case.seed}", words=" ".join(case.tokens), mask=case.mask))
    fields = {"activation": ACTIVATION_NAMES[case.config.activation], "placement": case.config.norm_placement}
    parts = Panel("", say("bug_lab", "should"), (Paragraph(say("bug_lab", "should.parts", **fields)),))
    evidence = tuple(_show_evidence(case, options["lab_tests"]))
    if is_solved:
        yield ways_on
        for key in case.mistakes:
            yield from show_mistake(MISTAKES[key], case.config)
        decoys = (key for key in case.suspects if key in DECOYS)
        yield from (Paragraph(say("bug_lab", "looks-wrong", why=explain_innocence(case, key))) for key in decoys)
        yield from (setting, parts, Group(EVIDENCE, evidence))
    else:
        yield setting
        suspects = Group(EVIDENCE, (*evidence, *_show_suspects(case, accused)))
        yield Columns(((*_show_tests(options["lab_tests"]), parts), (suspects,)), (2, 3))
        yield ways_on


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


def _button(label: str, key: str, chooses: Mapping[str, Any], scrolls: str = "answer", **looks: Any) -> Button:
    return Button(f"lab_{key.replace('-', '_')}", label, chooses, scrolls=scrolls, **looks)


def _show_tests(taken: tuple[str, ...]) -> Iterator[Item]:
    buttons = {
        effort: tuple(_offer_test(test, taken) for test in tests)
        for effort, tests in groupby(TESTS.values(), attrgetter("effort"))
    }
    yield Paragraph(say("bug_lab", "tests"))
    yield Group("lab_tests_offered", buttons.pop(1), gap="xsmall")
    more = [Group("", (Paragraph(EFFORTS[effort]), *each), gap="xsmall") for effort, each in buttons.items()]
    yield Panel("", say("bug_lab", "more-tests"), tuple(more))


def _offer_test(test: LabTest, taken: tuple[str, ...]) -> Button:
    looks = {"help": test.shows, "is_disabled": test.key in taken, "is_wide": True}
    return _button(test.title, f"test_{test.key}", {"lab_tests": (*taken, test.key)}, EVIDENCE, **looks)


def _show_suspects(case: Case, accused: tuple[str, ...]) -> Iterator[Item]:
    yield Paragraph(say("bug_lab", "suspects"))
    if wrong := [key for key in reversed(accused) if key in case.suspects and key not in case.mistakes]:
        reasons = (say("bug_lab", "not", why=explain_innocence(case, key)) for key in wrong)
        yield Group(VERDICT, tuple(map(Paragraph, reasons)), is_card=True)
    cards = [(_show_suspect(case, key, accused),) for key in case.suspects]
    yield from (Columns(tuple(cards[first : first + 2]), gap="small") for first in range(0, len(cards), 2))


def _show_suspect(case: Case, key: str, accused: tuple[str, ...]) -> Group:
    title, meaning = SUSPECTS[key]
    chooses, scrolls = {"lab_accused": (*accused, key)}, "answer" if key in case.mistakes else VERDICT
    looks = {"is_disabled": key in accused, "is_wide": True}
    button = _button(upper_first(title), f"accuse_{key}", chooses, scrolls, **looks)
    return Group("", (button, Paragraph(meaning, "caption")), gap="xsmall")


def _show_ways_on(case: Case, options: Options) -> Iterator[Item]:
    fresh: dict[str, Any] = {"lab_tests": (), "lab_accused": ()}
    yield _button(say("bug_lab", "next"), "next", {"lab_seed": (case.seed + 1) % (MAX_SEED + 1), **fresh})
    if options["lab_tests"] or options["lab_accused"]:
        yield _button(say("bug_lab", "again"), "again", fresh)


# --- what tests have shown


def _show_evidence(case: Case, taken: tuple[str, ...]) -> Iterator[Item]:
    """Yield findings, the newest first; others are folded."""
    for number, test in reversed(list(enumerate((TESTS[key] for key in taken), start=1))):
        title, items = f"**{number}. {test.title}**", tuple(_show_finding(test, case))
        if number == len(taken):
            yield Group(f"lab_finding_{number}", (Paragraph(title), *items), is_card=True)
        else:
            yield Panel("", title, items)


def _show_finding(test: LabTest, case: Case) -> Iterator[Item]:
    yield Paragraph(test.write_finding(case))
    maps = {"theirs": case, "right": case.right} if "both" in test.draws else {"theirs": case} if test.draws else {}
    values, of_tokens = {whose: test.measure(each) for whose, each in maps.items()}, "tokens" in test.draws
    shared = list(values.values())
    names = [f"{token} ({place})" for place, token in enumerate(case.tokens)]
    for place, whose in enumerate(values):
        yield tensor_map(
            values[whose],
            shared,
            key=f"lab_{test.key.replace('-', '_')}_{place}",
            alt=say("bug_lab", "map.alt", test=test.title, whose=whose),
            caption=say("bug_lab", "map", whose=whose),
            rows=Axis("query" if of_tokens else "token", lambda _: names),
            columns=Axis("key", lambda _: names) if of_tokens else Axis("number"),
        )
