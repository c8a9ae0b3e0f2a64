"""The page Bug lab: an encoder with a mistake, what was tested of it, suspects, and in the end what it was."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

from playground.charts import colour_scales
from playground.charts.chart import Axis, Columns, Control, Group, Item, Options, Panel, Paragraph, Widget
from playground.charts.head_map import tensor_map
from playground.charts.scene import Scene
from playground.config import ACTIVATION_NAMES
from playground.link.opening import LinkedView
from playground.mistakes.bug_lab import DECOYS, MAX_SEED, Lab, open_lab
from playground.mistakes.lab_tests import EFFORTS, Attempt, Finding, LabTest, offered_tests, simplest_tests
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first
from playground.views.mistakes import show_mistake
from playground.views.points import name_point

EVIDENCE, VERDICT = "lab_evidence", "lab_verdict"
"""Keys of the groups with what tests have shown, and with why a suspect is innocent."""


def read_attempt(values: Mapping[str, Any]) -> Scene[Attempt]:
    """Return what a link's values say: the case, and what was tested and accused."""
    lab = open_lab(values["lab_seed"], values["lab_level"])
    return Scene(Attempt(lab, tuple(values["lab_tests"]), tuple(values["lab_accused"])))


def linked_lab(view: LinkedView) -> Scene[Attempt]:
    """Return what a link's page looks at."""
    return read_attempt(view.values)


def show_bug_lab(scene: Scene[Attempt], _: Options) -> Iterator[Item]:
    """Yield the case, its tests beside what they have shown and the suspects, and at the end what it was."""
    attempt = scene.now
    lab = attempt.lab
    yield Paragraph(answer_how_far(attempt), "answer")
    ways_on = Group("lab_case", (Control("lab_level", "Level"), *_show_ways_on(attempt)), is_row=True)
    case = Paragraph(
        f"**Case {lab.case.seed}.** A small encoder with random weights reads *{' '.join(lab.tokens)}*. "
        f"Mask: {_MASKS[lab.case.mask]}."
    )
    parts = Panel("", "What the encoder should be", (Paragraph(_describe_parts(lab)),))
    evidence = tuple(_show_evidence(attempt))
    if attempt.is_solved:
        yield ways_on
        for key in lab.case.mistakes:
            yield from show_mistake(MISTAKES[key], lab.case.config)
        yield from (Paragraph(f"**Looks wrong, and is right:** {explain_innocence(lab, key)}") for key in _decoys(lab))
        yield case
        yield parts
        yield Group(EVIDENCE, evidence)
    else:
        yield case
        tests = (*_show_tests(attempt), parts)
        yield Columns((tests, (Group(EVIDENCE, (*evidence, *_show_suspects(attempt))),)), (2, 3))
        yield ways_on


_MASKS = {
    "none": "none, every token looks at every token",
    "padding": "padding, the last two tokens should not be looked at",
    "causal": "causal, no token should look at a later one",
}


def _decoys(lab: Lab) -> list[str]:
    return [key for key in lab.case.suspects if key in DECOYS]


def name_suspect(key: str) -> str:
    """Return the title of a mistake or a decoy."""
    return (DECOYS[key] if key in DECOYS else MISTAKES[key]).title


def answer_how_far(attempt: Attempt) -> str:
    """Return how many mistakes there are, or which ones they were."""
    mistakes = attempt.lab.case.mistakes
    if attempt.is_solved:
        best = join_words([f"“{test.title}”" for test in dict.fromkeys(simplest_tests(attempt.lab))])
        return f"Found: {join_words([f'**{name_suspect(key)}**' for key in mistakes])}. Simplest test: {best}."
    found = f", found: {len(attempt.found)}" if attempt.found else ""
    return (
        f"This encoder runs, but somebody got it wrong. Mistakes in it: **{len(mistakes)}**{found}. "
        "Test it, then press the suspect that explains what you see."
    )


def _describe_parts(lab: Lab) -> str:
    config = lab.case.config
    parts = (
        "2 layers of 4 heads; both are counted from 0",
        "token vectors of 16 numbers (d_model), 4 of them for each head (d_head)",
        f"feed-forward networks of 32 numbers (d_ff), with {ACTIVATION_NAMES[config.activation]}",
        f"{config.norm_placement}-norm around attention and the feed-forward network",
        "sinusoidal positions, added to token vectors that are multiplied by √d_model",
    )
    return "\n".join(f"- {part}." for part in parts)


# --- what is pressed


def _button(label: str, key: str, values: Mapping[str, Any], scroll: str, **options: Any) -> Widget:
    """Return a button that sets parameters of the link and scrolls to a container."""
    key = f"lab_{key.replace('-', '_')}"
    return Widget("lab_button", {"label": label, "key": key, "values": values, "scroll": scroll, **options})


def _show_tests(attempt: Attempt) -> Iterator[Item]:
    """Yield a button for each test: the simple ones in sight, the others folded."""
    efforts = {effort: tuple(tests) for effort, tests in groupby(offered_tests(attempt.lab.case), attrgetter("effort"))}
    buttons = {effort: [_offer_test(attempt, test) for test in tests] for effort, tests in efforts.items()}
    yield Paragraph("**Tests.** Each shows one finding.")
    yield Group("lab_tests_offered", tuple(buttons.pop(1)), gap="xsmall")
    more = [Group("", (Paragraph(EFFORTS[effort]), *each), gap="xsmall") for effort, each in buttons.items()]
    yield Panel("", "More tests", tuple(more))


def _offer_test(attempt: Attempt, test: LabTest) -> Widget:
    values = {"lab_tests": (*attempt.tests, test.key)}
    is_done = test.key in attempt.tests
    return _button(test.title, f"test_{test.key}", values, EVIDENCE, help=test.shows, disabled=is_done)


def _show_suspects(attempt: Attempt) -> Iterator[Item]:
    """Yield a button for each suspect with its meaning, after why those are innocent that were accused."""
    yield Paragraph("**Suspects.** Some sound like mistakes but are correct choices.")
    if attempt.wrong:
        told = [Paragraph(f"**Not:** {explain_innocence(attempt.lab, key)}") for key in reversed(attempt.wrong)]
        yield Group(VERDICT, tuple(told), is_card=True)
    cards = [_show_suspect(attempt, key) for key in attempt.lab.case.suspects]
    yield from (
        Columns(tuple((each,) for each in cards[first : first + 2]), gap="small") for first in range(0, len(cards), 2)
    )


def _show_suspect(attempt: Attempt, key: str) -> Group:
    suspect = DECOYS[key] if key in DECOYS else MISTAKES[key]
    values, scroll = {"lab_accused": (*attempt.accused, key)}, "answer" if key in attempt.lab.case.mistakes else VERDICT
    button = _button(upper_first(suspect.title), f"accuse_{key}", values, scroll, disabled=key in attempt.accused)
    return Group("", (button, Paragraph(suspect.meaning, "caption")), gap="xsmall")


def explain_innocence(lab: Lab, key: str) -> str:
    """Return why a suspect is none, by numbers of this case where it is a mistake of others."""
    if key in DECOYS:
        return f"{DECOYS[key].title}. {DECOYS[key].why}"
    name, n_others, n = lab.find_alibi(key) or ("", 0, 0)
    layer, _, point = name_point(name).partition(", ")
    tensor = f"{point} of {layer}" if point else layer
    return f"{MISTAKES[key].title}. It would change **{n_others}** of {n} numbers of {tensor}."


def _show_ways_on(attempt: Attempt) -> Iterator[Item]:
    seed, fresh = attempt.lab.case.seed, {"lab_tests": (), "lab_accused": ()}
    kind = "primary" if attempt.is_solved else "tertiary"
    following = {"lab_seed": (seed + 1) % (MAX_SEED + 1), **fresh}
    yield _button("Next case", "next", following, "answer", type=kind, width="content")
    if attempt.tests or attempt.accused:
        yield _button("Start this case again", "again", fresh, "answer", type="tertiary", width="content")


# --- what tests have shown


def _show_evidence(attempt: Attempt) -> Iterator[Item]:
    """Yield what every test has shown, the newest first; the others are folded."""
    taken = list(enumerate(attempt.taken, start=1))
    for number, test in reversed(taken):
        title, items = f"**{number}. {test.title}**", tuple(_show_finding(test, test.run(attempt.lab)))
        if number == len(taken):
            yield Group(f"lab_finding_{number}", (Paragraph(title), *items), is_card=True)
        else:
            yield Panel("", title, items)


def _show_finding(test: LabTest, found: Finding) -> Iterator[Item]:
    yield Paragraph(found.sentence)
    key = f"lab_{test.key.replace('-', '_')}"
    if test.draws:
        both = {"this encoder": found.theirs, "a right one": found.right}
        maps = both if "both" in test.draws else {"this encoder": found.theirs}
        of_tokens = "tokens" in test.draws
        columns: Axis[Attempt] = Axis("key", _name_tokens) if of_tokens else Axis("number")
        for place, (title, values) in enumerate(maps.items()):
            yield tensor_map(
                values,
                list(maps.values()),
                key=f"{key}_{place}",
                alt=f"{test.title}, {title}, as colours.",
                caption=f"**{upper_first(title)}.** {colour_scales.describe_around_zero(list(maps.values()))}",
                rows=Axis("query" if of_tokens else "token", _name_tokens),
                columns=columns,
            )


def _name_tokens(attempt: Attempt) -> list[str]:
    return [f"{token} ({place})" for place, token in enumerate(attempt.lab.tokens)]
