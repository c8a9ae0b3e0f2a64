"""Teach it to reverse: a small network is trained, a head of it is switched off, and another one takes over."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playground.charts.markdown import quote_beginning
from playground.learn.tour import Choices, Conclusion, Evidence, SmallMap, Step, Tour, TourState, Verdict, judge_guess
from playground.link.changes import Changes, MadeChange
from playground.link.params import ARCHITECTURE, OWN, RECIPE, SMALL
from playground.link.query import shape_to_train
from playground.model.changes import Change
from playground.text.wording import join_words
from playground.training.answers import Head, Reversal
from playground.training.trained_network import TrainedNetwork

TASK = "reverse"

_N_DRAWN = 10
"""Tokens of the sequence on the card before there is a trained network."""

_AXES = "A row is a place that is written, a column a place that is read."

_HOW, _ALONE = "How does it do it?", "Does one head do it alone?"
"""What its card asks, and its end answers."""

_GUESSES = {"all": "Over 80 %", "half": "In between", "none": "Under 40 %"}
_MOST, _FEW = 0.8, 0.4

_LITTLE = 0.1
"""The share of what was learnt up to which it does not count what other heads do."""

_STEPS = 200
"""Training steps, after which the default network gets nearly every letter right."""


def _start(_: Evidence) -> Choices:
    """The settings of the Training page at their defaults, but for fewer steps."""
    shown = ("training_task", "training_layer", "training_head", "training_moment", "training_attention")
    keys = (*shown, *(f"training_{name}" for name in RECIPE))
    return {"weights": "minilm", "do": Changes(), **{key: OWN[key].default for key in keys}, "training_steps": _STEPS}


def is_own(trained: TrainedNetwork | None, values: Mapping[str, Any]) -> bool:
    """Whether a network is this experiment's: its task, the usual architecture, and its settings or the page's."""
    if trained is None or trained.task.name != TASK:
        return False
    made = vars(trained.config) | vars(trained.recipe)
    names = {name: f"training_{name}" for name in RECIPE if name != "steps"}
    usual = {name: param.default for name, param in ARCHITECTURE.items() if name not in (*SMALL, "dropout")}
    default = SMALL | {name: OWN[key].default for name, key in names.items()}
    shape = shape_to_train(values)
    asked = {name: shape[name] for name in SMALL} | {name: values[key] for name, key in names.items()}
    return any((usual | each).items() <= made.items() for each in (default, asked))


def _is_trained(state: TourState) -> bool:
    return is_own(state.trained, state.values)


def _find_network(evidence: Evidence) -> TrainedNetwork | None:
    """The network that this session has trained for this experiment; None where there is none."""
    trained = evidence.find_trained()
    return trained if is_own(trained, evidence.state.values) else None


def _ask_to_train(_: TourState) -> str:
    return (
        "A small network learns to write letters backwards: *a b c* becomes *c b a*. Press **Start**, and watch its "
        "accuracy rise."
    )


def _say_accuracy(evidence: Evidence) -> str:
    """How well the network does what it was trained for."""
    trained = _find_network(evidence)
    if trained is None:
        return ""
    results = trained.results
    return (
        f"After {results.kept_step:,} steps, your network gets {results.validation_accuracy:.1%} of the letters right. "
        f"The simple rule, always the commonest letter, gets {results.baseline:.1%}."
    )


def _list_layers(state: TourState) -> Mapping[str, str]:
    """Where the line may be seen: each its own button, and the honest way out."""
    last = int(shape_to_train(state.values)["n_layers"]) - 1
    layers = {"first": "Layer 0"} | ({"between": "In between"} if last > 1 else {})
    return layers | ({"last": f"Layer {last}"} if last else {}) | {"nowhere": "No head"}


def _ask_for_line(_: TourState) -> str:
    return (
        "Here is what its heads look at: try each **layer** and **head**. Where does a line run from the bottom left "
        "to the top right? It reads each letter from the mirrored place."
    )


def _show_line(evidence: Evidence, _: str) -> Choices:
    """The head with the strongest line, in the picture, and from now on on every page."""
    trained = _find_network(evidence)
    if trained is None:
        return {}
    best = evidence.measure_reversal(()).first_off
    shown = {"training_layer": best.layer, "training_head": best.head}
    return {"layer": best.layer, "head": best.head, **shown}


def _is_chosen(state: TourState) -> bool:
    return state.values["weights"] == "trained here" and not state.values["untrained"] and _is_trained(state)


def _open_on_line(evidence: Evidence, off: Sequence[Head] = ()) -> Choices:
    """Of the heads that are not `off`, the one with the strongest line, and the strongest cell of that in its map."""
    if not _is_chosen(evidence.state):
        return {}
    head = next((head for head in evidence.measure_reversal(()).ranked if head not in off), None)
    if head is None:
        return {}
    run = evidence.heads().run
    n = run.n_real
    line = np.nan_to_num(run.pattern(head.layer)[head.head][:n, :n])[:, ::-1].diagonal()
    query = int(line.argmax())
    return {"layer": head.layer, "head": head.head, "query": query, "key": n - 1 - query}


def _ask_for_head(state: TourState) -> str:
    told = "Does the large map show the line? If not, press **Do it for me**."
    if _is_open(state):
        told = f"The large map shows {_named_head(state)}, which looks at the mirrored place most."
    return f"{told} Press **What if this head were off?**"


def _ask_for_second(state: TourState) -> str:
    told = "Choose another head that shows the line, or press **Do it for me**."
    if _is_open(state):
        told = f"The large map shows {_named_head(state)}: of the other heads, it looks at the mirrored place most."
    return f"What takes over? {told} Switch it off too: press **What if this head were off?**"


def _named_head(state: TourState) -> Head:
    """The head that the step began with."""
    return Head(state.began["layer"], state.began["head"])


def _is_named(state: TourState) -> bool:
    """Whether the step began with the head that `_open_on_line` finds; not where it came with a link."""
    return "line" in state.answers and _is_chosen(state) and _named_head(state) not in heads_off(state)


def _is_open(state: TourState) -> bool:
    """Whether the large map shows that head."""
    return _is_named(state) and _named_head(state) == (state.values["layer"], state.values["head"])


def _explain_choice(state: TourState) -> str | None:
    return None if _is_trained(state) else "There is no trained network yet: go back, and press **Start**."


def _explain_head(state: TourState) -> str | None:
    if not _is_named(state) or _is_open(state):
        return _explain_choice(state)
    which = "Of the other heads," if heads_off(state) else "This is another head:"
    return f"{which} {_named_head(state)} looks at the mirrored place most."


def _say_taken_along(evidence: Evidence) -> str:
    """What every page runs from now on, and on which text."""
    trained, text = _find_network(evidence), str(evidence.state.values["text"])
    which = "an example of its task" if trained is not None and text == trained.example else "your text"
    return f"Every page now runs your network, on {which}: {quote_beginning(text)}."


def _choose_network(evidence: Evidence) -> Choices:
    trained = _find_network(evidence)
    if trained is None:
        return {}
    best = evidence.measure_reversal(()).first_off
    text = {"text": trained.example}
    return {"weights": "trained here", "untrained": False, "layer": best.layer, "head": best.head, **text}


def heads_off(state: TourState) -> list[Head]:
    """The heads that the visitor has switched off, in that order."""
    made = state.values["do"].made
    return [Head(each.layer, each.head) for each, is_on in made if is_on and each.kind == "zero"]


def _switch_off(evidence: Evidence, n: int) -> Choices:
    """So many heads off: the visitor's, then those that look at the mirrored place most."""
    trained = _find_network(evidence)
    if trained is None:
        return {}
    found, off = evidence.measure_reversal(()), heads_off(evidence.state)
    heads = [*off, *(head for head in found.ranked if head not in off)][:n]
    return {"do": Changes(tuple(MadeChange(Change("zero", *head)) for head in heads))} | (
        {"layer": heads[-1].layer, "head": heads[-1].head} if heads else {}
    )


def conclude(evidence: Evidence) -> Conclusion:
    """Which head looks at the mirrored place, and whether it alone reverses."""
    trained = _find_network(evidence)
    if trained is None:
        return Conclusion(
            "There is no network of this experiment here.",
            "So nothing could be tested. A link cannot carry a network: go back, and press **Start** on Training.",
            "untested",
        )
    config = trained.config
    off = [head for head in heads_off(evidence.state) if head.layer < config.n_layers and head.head < config.n_heads]
    found = evidence.measure_reversal(tuple(dict.fromkeys(off))[:2])
    results = trained.results
    learnt = f"After {results.kept_step:,} steps, your network gets {found.accuracy:.1%} of the letters right"
    rule, guess = f"the simple rule gets {results.baseline:.1%}", _recall_guess(evidence.state, found)
    first, (verdict, test) = found.first_off, judge_head(found, results.baseline)
    alone = answer_alone(found, results.baseline)
    best = found.mirrored[0] if found.mirrored else None
    if best is None:
        no_line = f"{learnt} ({rule}). **{_HOW}** Not by one line: no head has found the anti-diagonal."
        most = f"The most is {found.weights.max():.2f}, in {found.ranked[0]}; evenly, it would be {found.even:.2f}."
        return Conclusion(
            f"{no_line} **{_ALONE}** {_capital(first)}? {test} {alone}".rstrip(),
            f"Does a head give half of its weight to the mirrored place? None does. {most}",
            "refuted",
            f"Training for more steps, or from another seed, may find it.{guess}",
        )
    said = (
        f"{learnt}. **{_HOW}** {_capital(first)} gives {found.weights[first]:.2f} of its weight to the mirrored place"
    )
    if first != best:
        said += f"; the most is {found.weights[best]:.2f}, in {best}"
    said = f"{said}. **{_ALONE}** A claim: the network needs {first}."
    return Conclusion(said, f"{test}{guess}", verdict, f"{alone} {describe_others(found, rule)}".lstrip())


def judge_head(found: Reversal, baseline: float) -> tuple[Verdict, str]:
    """Whether the network needs the head that is switched off: most of what was learnt is lost without it."""
    learnt = found.accuracy - baseline
    asked = f"Switch it off: {found.accuracy_off:.1%} stay right"
    if learnt <= 0:
        return "untested", f"{asked}. But the network beats no simple rule, so there is nothing to lose."
    if found.accuracy - found.accuracy_off > learnt / 2:
        return "held", f"{asked}. Most of what the network learnt is lost."
    return "refuted", f"{asked}. Most of what the network learnt is still there."


def answer_alone(found: Reversal, baseline: float) -> str:
    """Whether the head that is switched off reverses alone; empty where that could not be tested.

    It does where it is needed and looks at the mirrored place, and little more is lost with other heads off too. Where
    no head looks there, this cannot be told of one that is needed.
    """
    verdict, first = judge_head(found, baseline)[0], found.first_off
    if verdict != "held":
        return f"So {first} does not do it alone." if verdict == "refuted" else ""
    more_lost = found.accuracy_off - min(found.accuracy_both, found.accuracy_none)
    if not found.mirrored:
        return f"The network needs {first}; whether that does it alone is not shown."
    if first in found.mirrored and more_lost <= _LITTLE * (found.accuracy - baseline):
        return f"As far as this shows, {first} does most of it alone."
    return f"But {first} does not do it alone."


def describe_others(found: Reversal, rule: str) -> str:
    """What takes over: the other heads that look at the mirrored place, and what is right without all of them."""
    others = [head for head in found.mirrored if head != found.first_off]
    second = ""
    if found.second_off is not None:
        second = f" With {found.second_off} off too, {found.accuracy_both:.1%} are right."
    if not others:
        return f"No other head gives half of its weight to the mirrored place.{second}"
    names = join_words([f"{head} ({found.weights[head]:.2f})" for head in others])
    return (
        f"{'Another head looks' if len(others) == 1 else 'Other heads look'} at the mirrored place: {names}.{second} "
        f"With all {len(found.mirrored)} off that look there, {found.accuracy_none:.1%} are right ({rule})."
    )


def _judge_line(evidence: Evidence) -> str:
    """Whether the visitor saw the line where it is strongest; empty without an answer."""
    answer, trained = evidence.state.answers.get("line"), _find_network(evidence)
    if answer is None or trained is None:
        return ""
    found = evidence.measure_reversal(())
    if not found.mirrored:
        told = "You were right: no" if answer == "nowhere" else "No"
        return f"{told} head gives half of its weight to the mirrored place."
    best = found.mirrored[0]
    last = trained.config.n_layers - 1
    right = "first" if not best.layer else "last" if best.layer == last else "between"
    told = {right: "You were right", "nowhere": "There is one"}.get(answer, "Not there")
    return (
        f"{told}: the line is strongest in {best}, with {found.weights[best]:.2f} of the weight, as a mean over many "
        "sequences. The map below shows one of them."
    )


def _judge_left(evidence: Evidence) -> str:
    """How much stays right, and whether that is what the visitor guessed; empty without a guess."""
    guess, trained = evidence.state.answers.get("left"), _find_network(evidence)
    off = heads_off(evidence.state)[:1]
    if guess is None or not off or trained is None:
        return ""
    left = evidence.measure_reversal(tuple(off)).accuracy_off
    return f"Without that head {left:.1%} stay right. {judge_guess(guess, _guess_of(left), _GUESSES)}"


def _recall_guess(state: TourState, found: Reversal) -> str:
    """What the visitor guessed of the first head that they switched off, and whether it was right; else nothing."""
    guess = state.answers.get("left")
    if guess is None or not heads_off(state):
        return ""
    right = _guess_of(found.accuracy_off)
    judged = "and were right" if guess == right else f"and it is “{_GUESSES[right].lower()}”"
    return f" You guessed “{_GUESSES[guess].lower()}”, {judged}."


def _guess_of(left: float) -> str:
    """The guess that is right of this share of right answers."""
    return "all" if left > _MOST else "none" if left < _FEW else "half"


def _capital(head: Head) -> str:
    return str(head).capitalize()


def _draw_map(evidence: Evidence) -> SmallMap:
    """What the visitor's network has found, or else what there is to find."""
    trained = _find_network(evidence)
    if trained is None:
        wanted = "What is to be learnt: each letter of the answer comes from the mirrored place"
        return SmallMap(np.fliplr(np.eye(_N_DRAWN, dtype=np.float32)), f"{_AXES} {wanted}.")
    found = evidence.measure_reversal(())
    return SmallMap(found.pattern, f"Your network, {found.first_off}. {_AXES}")


REVERSE = Tour(
    name="reverse",
    title="Teach it to reverse.",
    question=f"Train a small network yourself. {_HOW} {_ALONE}",
    minutes=4,
    page="training",
    starts=_start,
    steps=(
        Step(
            "train",
            _ask_to_train,
            _is_trained,
            page="training",
            target="training_buttons",
            hides=("training_loss",),
            result=_say_accuracy,
            scrolls=True,
            meanwhile="answer",
        ),
        Step(
            "line",
            _ask_for_line,
            lambda state: "line" in state.answers,
            page="training",
            target="training_map",
            has_target=_is_trained,
            hint=_explain_choice,
            answers=_list_layers,
            sets_answer=_show_line,
            result=_judge_line,
            scrolls=True,
        ),
        Step(
            "look",
            lambda state: "Take your network along" + ": press **Look into it on every page**." * _is_trained(state),
            _is_chosen,
            page="training",
            target="training_look",
            has_target=_is_trained,
            hint=_explain_choice,
            scrolls=True,
            sets=_choose_network,
            result=_say_taken_along,
            is_needed=True,
        ),
        Step(
            "off",
            _ask_for_head,
            lambda state: bool(heads_off(state)),
            page="attention",
            target="attention_top",
            target_on_phone="quick_changes",
            hint=_explain_head,
            begins=_open_on_line,
            scrolls=True,
            sets=lambda evidence: _switch_off(evidence, 1),
        ),
        Step(
            "left",
            lambda _: "That head is off. How many letters does your network still get right? Guess.",
            lambda state: "left" in state.answers,
            page="attention",
            answers=lambda _: _GUESSES,
            result=_judge_left,
        ),
        Step(
            "second",
            _ask_for_second,
            lambda state: len(heads_off(state)) > 1,
            page="attention",
            target="attention_top",
            target_on_phone="quick_changes",
            hint=_explain_head,
            begins=lambda evidence: _open_on_line(evidence, heads_off(evidence.state)[:1]),
            scrolls=True,
            sets=lambda evidence: _switch_off(evidence, 2),
        ),
    ),
    conclude=conclude,
    picture=_draw_map,
    onward=("what-if", "Which parts matter? Take them out one by one"),
)
