"""The ladder from 2017 to today: what each change costs, what its paper reports, and what trainings here measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean

import pandas as pd

from playground.accounting import count_flops, count_memory, count_parameters
from playground.accounting.readable import in_units
from playground.charts import palette
from playground.charts.bars import LabelledRows
from playground.charts.chart import Control, Group, Item, LabelledBars, Options, Paragraph, Table, Widget, fill_panel
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.link.opening import LinkedView
from playground.link.params import TASK_TITLES
from playground.text.wording import count_heads, join_words, with_minus
from playground.training.ablation import (
    LEVEL,
    ONE_SEED,
    AblationState,
    AblationTraining,
    Effect,
    group_by_name,
    seeds_of,
)
from playground.training.ladder import (
    LARGE,
    RUNGS,
    START,
    Rung,
    Step,
    climb,
    ladder_recipe,
    ladder_trainings,
    list_steps,
)
from playground.training.network import Measure
from playground.training.tasks import TASKS, make_data

BEFORE_ANY = (
    "Nothing is trained yet. **Start** trains the encoder of 2017, then one more for each change: each is a "
    "*rung*, and keeps the changes of the rungs before it."
)
"""The page's answer before there is one."""


ABOUT_RUNGS = (
    "*BLEU*, up to 100, says how near translations are to people's: more is better. *Log-perplexity* is the loss of "
    "the next token: less is better. *CIFAR-10*: small pictures to be named. *WikiHop*: questions about several texts. "
    "*RoBERTa*: BERT, trained for longer. *ReLU*: max(0, x). *Φ(x)*: the share of a normal distribution below x. "
    "*GEGLU*: a gate with GELU. *Warm-up*: first steps that grow. **Open untrained** shows your sentence in a rung's "
    "encoder beside the rung before it, both with random weights."
)
"""What stands above the rungs' cards."""


@dataclass(frozen=True)
class Ladder:
    """What the page looks at: rungs, and what was trained of them."""

    state: AblationState
    """Of the trainings of `training.ladder.ladder_trainings`, which may not have begun."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the rungs, in their order."""
        return tuple(dict.fromkeys(training.name for training in self.state.trainings))[1:]

    @property
    def first(self) -> AblationTraining:
        """The training of the encoder of 2017, with the first seed."""
        return self.state.trainings[0]

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Each rung beside the one before it, by name, as far as both are trained."""
        return {step.rung.name: step for step in list_steps(self.names, self.state.results)}

    @cached_property
    def used(self) -> dict[str, list[Measure]]:
        """What was measured in use, one a seed, by rung, where a training has ended; of each rung with equal seeds."""
        kinds = group_by_name(self.state.results)
        used = {name: [each.unbatched for each in kind if each.unbatched] for name, kind in kinds.items()}
        # A later rung's seeds are the first of those of 2017.
        n = min(filter(None, map(len, used.values())), default=0)
        return {name: measures[:n] for name, measures in used.items() if measures}

    @property
    def n_seeds(self) -> int:
        """With how many seeds each rung is trained."""
        return len(seeds_of(self.state.trainings))

    @property
    def is_complete(self) -> bool:
        """Whether every training has ended."""
        return 0 < len(self.state.trainings) == self.state.n_ended


def linked_ladder(view: LinkedView) -> Scene[Ladder]:
    """What a link's page looks at before anything is trained."""
    recipe = ladder_recipe(TASK_TITLES[view.values["ladder_task"]], view.seed)
    trainings = ladder_trainings(
        view.values["ladder_rungs"], recipe, make_data(recipe), int(view.values["ladder_seeds"])
    )
    return Scene(plan_ladder(trainings))


def plan_ladder(trainings: tuple[AblationTraining, ...]) -> Ladder:
    """The ladder of trainings that have not begun."""
    return Ladder(AblationState.planned(trainings))


def show_ladder(scene: Scene[Ladder], options: Options) -> Iterator[Item]:
    """The rungs in plain words; in panels what each costs, and a card for each: change, paper, what was measured."""
    rungs = [RUNGS[name] for name in scene.now.names]
    if rungs:
        yield Paragraph("The rungs", "header")
        yield Paragraph(
            "\n".join(f"{i}. **{each.name}** ({each.year}): {each.plain}" for i, each in enumerate(rungs, 1))
        )
    yield fill_panel(
        options,
        "ladder_price",
        "What each rung costs: parameters, work and memory",
        lambda: (Control("ladder_counted", "Count"), *tabulate_costs(scene.now, options["ladder_counted"])),
        ":material/calculate:",
    )
    yield fill_panel(
        options,
        "ladder_cards",
        "Rung by rung: what changes exactly, what its paper reports, what was measured here",
        lambda: (Paragraph(ABOUT_RUNGS, "caption"), *show_rungs(scene)),
        ":material/stairs:",
    )


def show_answer(scene: Scene[Ladder], untrained: str = "") -> Iterator[Item]:
    """What the trainings have shown by now, in a sentence or two.

    `untrained`: what of the page's settings is no longer the trainings', in sentences.
    """
    yield Paragraph(f"{untrained} {answer_ladder(scene.now)}".strip(), "answer")


def answer_ladder(ladder: Ladder) -> str:
    """How far the ladder leads, which rung changed most, and how many cannot be told from chance (markdown)."""
    steps, used = ladder.steps, ladder.used
    if START not in used:
        return "The encoder of 2017 is being trained: more comes here."
    last = next((name for name in reversed(ladder.names) if name in steps), START)
    first = f"The encoder of 2017 answers **{_share_right(used[START])}** right of what it never saw"
    rule = f"A simple rule gets about {ladder.state.baseline:.0%}: {TASKS[ladder.first.recipe.task].rule}."
    if not steps:
        return f"{first}. {rule} {'The first rung comes next.' if ladder.names else 'There is no rung behind it.'}"
    reached = f"; with all {len(steps)} changes" if len(steps) == len(ladder.names) > 1 else f"; up to *{last}*"
    sentences = [f"{first}{reached}, **{_share_right(used[last])}**.", rule]
    if not ladder.is_complete:
        so_far = f": this is what {len(used[START])} of {ladder.n_seeds} seeds say" * (ladder.n_seeds > 1)
        return f"{' '.join(sentences)} The ladder is not at its end{so_far}."
    best = max(steps, key=lambda name: fmean(each.accuracy for each in used[name]))
    if _share_right(used[best]) != _share_right(used[last]):
        sentences.append(f"The most is **{_share_right(used[best])}**, up to *{best}*.")
    if len(steps) > 1:
        most = max(steps.values(), key=lambda step: abs(step.effect.loss_change))
        sentences.append(f"The loss changes most with *{most.rung.name}*: by {_nats(most.effect.loss_change)}.")
    told = [step for step in steps.values() if step.verdict != "no telling"]
    if ladder.n_seeds == 1:
        sentences.append(ONE_SEED)
    elif len(told) < len(steps):
        of_them = f"{len(steps) - len(told)} of {len(steps)} rungs" if len(steps) > 1 else "The rung"
        sentences.append(f"{of_them} cannot be told apart from chance at this size.")
    return " ".join(sentences)


def _share_right(measures: Sequence[Measure]) -> str:
    return f"{fmean(each.accuracy for each in measures):.1%}"


def _nats(change: float) -> str:
    return with_minus(f"{change:+.3f} nats")


def _write_effect(effect: Effect) -> tuple[str, str]:
    """The change of the loss and its spread over the seeds."""
    return _nats(effect.loss_change), f"spread {effect.loss_spread:.3f}"


def show_trained(scene: Scene[Ladder], options: Options) -> Iterator[Item]:
    """Right answers or loss, rung by rung, and the numbers."""
    ladder, measured = scene.now, options["ladder_measure"]
    of = {"right answers": "Right answers to", "loss": "The loss on"}[measured]
    caption = f"{of} sequences that no training saw, a bar a rung, from 2017 at the top."
    n = len(ladder.used.get(START, []))
    if n > 1:
        seeds = f"{ladder.n_seeds} seeds" if ladder.is_complete else f"{n} of {ladder.n_seeds} seeds"
        caption += f" A bar is the mean over {seeds}; in brackets the lowest and the highest."
    if measured == "loss":
        caption += " It is −ln of the probability that the right answer got, in *nats*. Less is better."
    yield LabelledBars(
        key="ladder_bars",
        alt=f"{measured.capitalize()} by rung, a bar each",
        caption=caption,
        bars=partial(draw_measured, measured=measured),
        table=tabulate_trained,
    )


def show_summary(scene: Scene[Ladder]) -> Iterator[Item]:
    """What the trainings of several seeds show, rung by rung, once all are there."""
    ladder = scene.now
    if ladder.is_complete and ladder.n_seeds > 1 and ladder.steps:
        yield Paragraph(summarise(ladder))


def draw_measured(ladder: Ladder, measured: str) -> LabelledRows:
    """A bar a rung: the mean share of right answers, or the mean loss, and the seeds' lowest and highest."""
    names = (START, *ladder.names)
    values = [[getattr(each, MEASURES[measured]) for each in ladder.used.get(name, [])] for name in names]
    means = [fmean(each) if each else 0.0 for each in values]
    colours = [palette.RESIDUAL if name == START else palette.ATTENTION for name in names]
    return LabelledRows(names, means, colours, [_write_measured(each, measured) for each in values], measured)


MEASURES = {"right answers": "accuracy", "loss": "loss"}
"""What a bar shows, as an attribute of a `Measure`."""


def _write_measured(values: Sequence[float], measured: str) -> str:
    if not values:
        return "still to come"
    write = "{:.1%}".format if measured == "right answers" else "{:.3f}".format
    return write(fmean(values)) + (
        f" ({write(min(values)).rstrip('%')}–{write(max(values)).rstrip('%')})" if len(values) > 1 else ""
    )


def tabulate_trained(ladder: Ladder) -> pd.DataFrame:
    """A row a rung: right answers and loss in use, over the seeds that have ended; ±: against the rung before."""
    rows = {}
    for name in (START, *ladder.names):
        used = ladder.used.get(name, [])
        step = ladder.steps.get(name)
        rows[name] = {
            "right, %": 100 * fmean(each.accuracy for each in used) if used else None,
            "± points": 100 * step.effect.accuracy_change if step else None,
            "loss, nats": fmean(each.loss for each in used) if used else None,
            "± nats": step.effect.loss_change if step else None,
            "spread, nats": step.effect.loss_spread if step and step.effect.n_seeds > 1 else None,
            "seeds": len(used),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rung")


def summarise(ladder: Ladder) -> str:
    """Which rungs brought a lower loss, which a higher one, of which that cannot be told, and by what (markdown)."""
    said = {"better": "A lower loss", "worse": "A higher loss", "no telling": "Not told apart from chance"}
    lines = [
        f"Each rung is compared with the one before it, with the same seed: that gives {ladder.n_seeds} changes of the "
        "loss, which also counts how sure each answer is: right answers may go the other way. "
        "*Spread*: the highest less the lowest. What a seed does to both rungs drops out, so the ranges above may "
        f"overlap all the same. Rungs compared: {len(ladder.names)}. If none had an effect, chance would tell any of "
        f"them apart in at most {LEVEL:.0%} of ladders (t-test, Bonferroni).\n"
    ]
    for verdict, words in said.items():
        steps = [step for step in ladder.steps.values() if step.verdict == verdict]
        if steps:
            listed = join_words([f"*{step.rung.name}* ({', '.join(_write_effect(step.effect))})" for step in steps])
            than = "" if verdict == "no telling" else " than on the rung before"
            lines.append(f"- {words}{than}: {listed}.")
    lines.append(
        "- These networks are tiny and train for seconds: a paper that measured a thousand times more may be right all "
        "the same."
    )
    return "\n".join(lines)


def tabulate_costs(ladder: Ladder, counted: str) -> Iterator[Item]:
    """A row a rung: parameters, work and memory of one sentence, and how each differs from the rung before."""
    start, n_tokens = ladder.first.config, ladder.first.recipe.length
    if counted == "as large as BERT base":
        start, n_tokens = LARGE, LARGE.max_len

    def frame(ladder: Ladder) -> pd.DataFrame:
        costs = [_count(config, n_tokens) for config in climb(start, ladder.names)]
        rows = []
        for before, here in zip((costs[0], *costs), costs, strict=False):
            row: dict[str, str] = {}
            for what, unit in UNITS.items():
                row[what] = in_units(here[what], unit).strip() if what != "parameters" else f"{here[what]:,}"
                row[f"± {what}"] = write_change(before[what], here[what])
            rows.append(row)
        return pd.DataFrame(rows, index=pd.Index((START, *ladder.names), name="rung"))

    def in_one_cell(ladder: Ladder) -> pd.DataFrame:
        counts = frame(ladder)
        cells = {what: counts[what] + " (" + counts[f"± {what}"].str.replace(" ", "\u00a0") + ")" for what in UNITS}
        return pd.DataFrame(cells, index=counts.index)

    yield Table(key="ladder_costs", frame=in_one_cell, compares=False, is_markdown=True)
    yield Paragraph(
        f"Of an encoder with {count_heads(start.n_layers, start.n_heads)}, d_model {start.d_model} and "
        f"{start.vocab_size:,} tokens in its table. FLOPs: the additions and multiplications in the matrix "
        f"products of one pass over {n_tokens} tokens. Memory: the weights and the keys and values of one such "
        "sentence, 4 bytes a number. "
        "In brackets: the change from the rung before.",
        "caption",
    )
    yield Table(key="ladder_counts", frame=frame, compares=False, is_folded=True)


UNITS = {"parameters": "", "FLOPs": "", "memory": "B"}
"""What is counted of a rung, and its unit."""


def _count(config: ModelConfig, n_tokens: int) -> dict[str, int]:
    """Parameters; work for one sentence of so many tokens; bytes of the weights and of its keys and values, in fp32."""
    memory = {row.purpose: row.n_bytes for row in count_memory(config, n_tokens)}
    return {
        "parameters": count_parameters(config).total,
        "FLOPs": count_flops(config, n_tokens).total,
        "memory": memory["weights, fp32"] + memory["keys and values of one sentence, fp32"],
    }


def write_change(before: int, after: int) -> str:
    """A change in percent with two digits, however small it is."""
    return with_minus(f"{100 * (after / before - 1):+.2g} %") if before != after else "±0"


def show_rungs(scene: Scene[Ladder]) -> Iterator[Item]:
    """A card for each rung: what it changes, what its paper reports, and what was measured here."""
    ladder = scene.now
    for number, name in enumerate(ladder.names, start=1):
        rung = RUNGS[name]
        yield Group(
            f"ladder_rung_{number}",
            (
                Paragraph(f"**{number} · {rung.name}** · {rung.year}"),
                Paragraph(rung.what),
                Paragraph(f"*The paper:* {rung.claim} ({rung.source})", "caption"),
                *([Paragraph(f"*Here:* {describe_step(rung, ladder)}", "caption")] if ladder.state.results else []),
                Widget("ladder_rung", {"names": ladder.names, "number": number}),
            ),
            is_card=True,
        )


def describe_step(rung: Rung, ladder: Ladder) -> str:
    """What the step up to a rung has changed, and whether that is told apart from chance (markdown)."""
    step = ladder.steps.get(rung.name)
    if step is None:
        return "this comes once the ladder is trained."
    effect = step.effect
    before = "the encoder of 2017" if step.before == START else f"*{step.before}*"
    points = with_minus(f"{100 * effect.accuracy_change:+.1f}")
    change, spread = _write_effect(effect)
    measured = (
        f"against {before}, loss **{change}**{f', {spread}' * (effect.n_seeds > 1)}; right answers {points} points."
    )
    if effect.diverged:
        counted = f"{len(effect.diverged)} of {effect.n_seeds} seeds"
        measured += f" With {counted} the training diverged: its loss got far worse than guessing."
    verdict = VERDICTS[step.verdict] if effect.n_seeds > 2 else "Fewer than three seeds cannot tell it from chance."
    if step.verdict != "no telling" and effect.loss_change * effect.accuracy_change > 0:
        verdict += " Right answers moved the other way; the loss also counts how sure each answer is."
    return f"{measured} {verdict}"


VERDICTS = {
    "better": "By the loss, it helps here.",
    "worse": "By the loss, it does harm here.",
    "no telling": "So much may be chance.",
}
"""What a step over all seeds shows, by what became of the loss."""
