"""The pages. A new one is a record here, a view in `playground/views/` and a script in `pages/`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page of the app."""

    path: str
    title: str
    purpose: str
    """Of the menu."""
    group: str = ""
    """The fold of the menu; empty for the first row."""
    prefix: str = ""
    """Of its own parameters, if not its path."""
    own_networks: bool = False
    """Whether it shows networks of its own."""
    draws_numbers: bool = False
    """Whether it uses the seed with any weights."""
    runs_text: bool = True
    """Whether it runs the visitor's text."""
    unchanged: str = ""
    """Why it does not show changes; empty if it does."""
    exports: str = "encoder"

    @property
    def parameter_prefix(self) -> str:
        """How its parameters start."""
        return f"{self.prefix or self.path}_"


_ENCODER_ALONE = "These changes are of the sidebar's encoder alone:"

PAGES = {
    page.path: page
    for page in (
        Page("overview", "Start", "Three experiments with your sentence, and its way through the encoder, box by box."),
        Page(
            "attention",
            "Attention",
            "Every head's attention, one head large, and what can be read off it.",
        ),
        Page(
            "what-if",
            "What if",
            "Parts of the computation switched off, cut or replaced, and what followed.",
            prefix="whatif",
        ),
        Page(
            "similarity",
            "Similarity",
            "Which sentences the encoder puts close together, and which words do that.",
        ),
        Page("compare", "Compare", "Two settings side by side: what a change changes, and where."),
        Page(
            "exercises",
            "Exercises",
            "Say what will happen, then see what comes out: exercises whose answers are computed.",
            own_networks=True,
            runs_text=False,
            unchanged="Only an exercise that asks for settings takes these changes: all others have their own.",
            group="Learn",
        ),
        Page(
            "lessons",
            "Lessons",
            "Words, pages and exercises, step by step: seven lessons, or one of your own as a link.",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} a lesson sets what it shows.",
            group="Learn",
        ),
        Page(
            "diagnosis",
            "Diagnosis",
            "Your own code's tensors beside the model's: where they part, and which mistake explains it.",
            unchanged=f"{_ENCODER_ALONE} your code is compared with the model without them.",
            group="Learn",
        ),
        Page(
            "bug-lab",
            "Bug lab",
            "An encoder that runs and is wrong: find its mistake with few tests.",
            prefix="lab",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} this page has encoders of its own.",
            group="Learn",
        ),
        Page(
            "tutorials",
            "Tutorials",
            "The five tutorials side by side: where they differ, what it does, and what went wrong.",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} this page compares other models, without them.",
            group="Learn",
        ),
        Page(
            "step-by-step",
            "Steps",
            "One layer, one head, one token: every number on the way.",
            prefix="step",
            draws_numbers=True,
            group="Inside",
        ),
        Page(
            "norms", "Norms", "How long the vectors are, layer by layer, and what the norms do to them.", group="Inside"
        ),
        Page(
            "positions",
            "Positions",
            "How words are told apart by their place, and what is lost without.",
            unchanged="This page looks at the position table and swaps two words: it shows the model without "
            "these changes.",
            group="Inside",
        ),
        Page(
            "parameters",
            "Parameters",
            "Where the parameters, the work and the memory go.",
            runs_text=False,
            unchanged="These changes take no parameter away and save no work: this page counts the whole model.",
            group="Inside",
        ),
        Page(
            "encoder-decoder",
            "Encoder-decoder",
            "How a decoder reads what the encoder wrote, and what comes next.",
            prefix="encdec",
            own_networks=True,
            unchanged=f"{_ENCODER_ALONE} this page shows another model, without them.",
            exports="encoder–decoder",
            group="Inside",
        ),
        Page(
            "parts",
            "Parts",
            "What each part of an encoder is for: trained encoders with one setting changed, or from 2017 to today.",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} this page shows other encoders, without them.",
            group="Train",
        ),
        Page(
            "training",
            "Training",
            "A small transformer learns a task while you watch, in the architecture you choose.",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} what is trained here is trained without them.",
            exports="training run",
            group="Train",
        ),
        Page(
            "regularisers",
            "Regularisers",
            "Ten ways to train that are to help: what each changes, measured in runs of your own.",
            own_networks=True,
            runs_text=False,
            unchanged=f"{_ENCODER_ALONE} what is trained here is trained without them.",
            group="Train",
        ),
        Page(
            "gradient-flow",
            "Gradient flow",
            "What norms and residual connections do to a gradient on its way back.",
            prefix="gradient",
            own_networks=True,
            unchanged=f"{_ENCODER_ALONE} this page shows other encoders, without them.",
            group="Train",
        ),
    )
}
"""In the menu's order."""

LADDER = "from 2017 to today"

MOVED = {"ladder": ("parts", "parts_view", LADDER)}
"""By the path of a page that is gone: the page and the parameter that show it."""


def page_at(path: str) -> Page:
    """Return the page of a path; the overview's may be empty."""
    return PAGES[path or "overview"]
