"""The Training page's run: how it begins, what is said of it, and what is left when it ends."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch

from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.jobs.job import Status
from playground.text.pieces import visible
from playground.training.after.trained_network import from_trainer
from playground.training.history import Measure
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data, Task
from playground.training.trainer import Trainer
from playground.web.session import caches, experiments, trained_slot
from playground.web.session.memory_budget import Room
from playground.web.views.training.plan import PAGE, Plan, data, n_parameters

About = tuple[ModelConfig, Recipe]
"""What a run depends on."""


class Lesson:
    """A trainer as long as it trains, and afterwards what is drawn of it: no weights, no gradients, no training set.

    Attributes:
        recipe: what is done.
        data: what is learnt from; in the end, without the sequences, but for the first that validates.
        history: so far.
        step: optimisation steps done.
        kept_step: in the end, the step whose weights were kept.
        kept: in the end, what these weights make of the validation set; None where there are none.
        teacher_step: the teacher's steps, while it learns first.
        progress: the share of all steps that is done.
        outcome: as a trainer's, in the end.
        message: in the end, one sentence on it.
    """

    def __init__(self, config: ModelConfig, recipe: Recipe) -> None:
        self.recipe, self.data = recipe, data(recipe)
        self._trainer: Trainer | None = Trainer(config, recipe, caches.device(), data=self.data)
        self.history = self._trainer.history
        self.step = self.kept_step = 0
        self.kept: Measure | None = None
        self.teacher_step: int | None = None
        self.progress = 0.0
        self.outcome = self.message = ""

    def run(self) -> Iterator[None]:
        """Train."""
        trainer = self._trainer
        if trainer is not None:
            for _ in trainer.run():
                self._note(trainer)
                yield

    def end(self, shelf: trained_slot.Shelf, status: Status, room: Room) -> None:
        """Put on the shelf, in the run's room, what was reached until its end or its cancelling; let go of the rest."""
        trainer, self._trainer = self._trainer, None
        if trainer is None:
            return
        self.data = replace(
            self.data, train=self.data.train[torch.arange(0)], validation=self.data.validation[torch.arange(1)]
        )
        self._note(trainer)
        self.kept_step = trainer.kept_step
        self.outcome, self.message = trainer.outcome, trainer.message()
        if status == "failed" or not self.step:
            return
        if not trainer.kept_step and shelf.trained is not None:
            self.message += " What was trained before it stays."
        else:
            trained = from_trainer(trainer)
            self.kept = Measure(trained.results.validation_loss, trained.results.validation_accuracy)
            shelf.put(trained, instead_of=room)

    def reached(self) -> str:
        """How a sentence ends on a run that was cancelled."""
        if self.step:
            return f"after step {self.step:,}; the weights of that step are kept."
        return "before its own first step; it has no weights to keep."

    def _note(self, trainer: Trainer) -> None:
        teacher = trainer.teacher
        self.teacher_step = None if teacher is None or teacher.outcome else teacher.step
        self.step, self.progress = trainer.step, trainer.progress


def begin(plan: Plan) -> None:
    """Start a run in the background, from the initial weights of its seed."""
    shelf = trained_slot.shelf()  # now, as the thread that puts the network there belongs to no session
    room = Room(trained_slot.bytes_of_run(plan.config, plan.recipe, data(plan.recipe)))
    experiments.desk().start(
        PAGE,
        experiments.Experiment(
            plan.about,
            partial(Lesson, plan.config, plan.recipe),
            lambda lesson, status: lesson.end(shelf, status, room),
            room,
        ),
    )


def current() -> experiments.Experiment[Lesson] | None:
    """The session's run, whatever has become of it."""
    return experiments.desk().on(PAGE)


def says(run: experiments.Experiment[Lesson]) -> str:
    """Where a run stands, in one or two sentences."""
    status, lesson, standing = run.job.status, run.course, experiments.standing(run)
    if standing:
        return standing
    if lesson is None or status == "failed":
        return "It failed."
    if status == "cancelled":
        return f"{experiments.why_cancelled(run)} {lesson.reached()}"
    if lesson.outcome == "diverged":
        return f"Ended at step {lesson.step:,} of {lesson.recipe.steps:,}."
    if status == "finished":
        return lesson.message
    at = f"step {lesson.step:,} of {lesson.recipe.steps:,}"
    if lesson.teacher_step is not None:
        at = f"its teacher, twice as wide, learns first: step {lesson.teacher_step:,} of {lesson.recipe.steps:,}"
    if status == "paused":
        return f"Paused at {at}. Its seat is free for others; to go on takes a free one."
    left = f", about {duration(run.job.seconds * (1 / lesson.progress - 1))} to go" if lesson.progress else ""
    return f"Training: {at}{left}."


def joined(answer: Sequence[str], task: Task) -> str:
    """An answer as text: characters in one piece, other classes with blanks between them."""
    return task.join(answer)


def in_sight(read: str, task: Task) -> str:
    """What a network reads, with blanks that can be seen where they are characters, as in an answer's labels."""
    return read.replace(" ", visible(" ")) if task.reads_text else read


def in_words(about: About, made: Data) -> str:
    """What a run is made of, its data included."""
    config, recipe = about
    return " · ".join(
        (
            TASKS[recipe.task].title,
            f"{len(made.train):,} sequences of {recipe.length}",
            f"n_layers {config.n_layers}, n_heads {config.n_heads}, d_model {config.d_model}, d_ff {config.d_ff}",
            f"{n_parameters(config, made):,} parameters",
            f"{recipe.optimizer}, {recipe.schedule} schedule, lr {recipe.lr:g}",
            f"seed {recipe.seed}",
        )
    )


def changes(run: About, now: About) -> list[str]:
    """In which settings two runs differ: what it was, and what it is now."""
    changed = []
    for was, is_now in zip(run, now, strict=True):
        for name, value in vars(was).items():
            if getattr(is_now, name) != value and name not in ("vocab_size", "text"):
                before, after = (TASKS[x].title if name == "task" else x for x in (value, getattr(is_now, name)))
                changed.append(f"{name} {before} → {after}")
    if run[1].text != now[1].text:
        changed.append("another text")
    return changed
