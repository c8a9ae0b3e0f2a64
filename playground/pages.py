"""The pages. A new one is a record here, a view in `playground/views/` and a script in `pages/`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page of the app; what the menu says of it is `purpose-<path>` in `words/en/frame.ftl`."""

    path: str
    title: str
    group: str = ""
    """The fold of the menu; empty for the first row."""
    prefix: str = ""
    """Of its own parameters, if not its path."""
    own_networks: bool = False
    """Whether it shows networks of its own."""
    runs_text: bool = True
    """Whether it runs the visitor's text."""
    shows_changes: bool = True
    """Whether its model has the visitor's changes of the computation."""
    cites: str = ""
    """Keys of further references, with blanks between them."""
    exports: str = "encoder"

    @property
    def parameter_prefix(self) -> str:
        """How its parameters start."""
        return f"{self.prefix or self.path}_"


def _apart(path: str, title: str, group: str, prefix: str = "", **more: str) -> Page:
    """A page that runs neither the visitor's text nor their encoder."""
    return Page(path, title, group, prefix, own_networks=True, runs_text=False, shows_changes=False, **more)


_OF_PARTS = (
    "hendrycks2016gaussian zhang2019root xiong2020layer shazeer2020glu beltagy2020longformer henry2020query "
    "su2021roformer chowdhery2022palm ainslie2023gqa"
)

PAGES = {
    page.path: page
    for page in (
        Page("overview", "Start"),
        Page("attention", "Attention", cites="abnar2020quantifying"),
        Page("what-if", "What if", prefix="whatif"),
        Page("similarity", "Similarity", cites="reimers2019sentence"),
        Page("compare", "Compare"),
        _apart("exercises", "Exercises", "Learn"),
        _apart("lessons", "Lessons", "Learn"),
        Page("diagnosis", "Diagnosis", "Learn", shows_changes=False),
        _apart("bug-lab", "Bug lab", "Learn", "lab"),
        _apart("tutorials", "Tutorials", "Learn"),
        Page("step-by-step", "Steps", "Inside", "step"),
        Page("norms", "Norms", "Inside"),
        Page("positions", "Positions", "Inside", shows_changes=False),
        Page("parameters", "Parameters", "Inside", runs_text=False, shows_changes=False),
        Page(
            "encoder-decoder",
            "Encoder-decoder",
            "Inside",
            "encdec",
            own_networks=True,
            shows_changes=False,
            exports="encoder–decoder",
        ),
        _apart("parts", "Parts", "Train", cites=_OF_PARTS),
        _apart("training", "Training", "Train", cites="kingma2015adam", exports="training run"),
        _apart("regularisers", "Regularisers", "Train", cites="kingma2015adam srivastava2014dropout"),
        Page(
            "gradient-flow",
            "Gradient flow",
            "Train",
            "gradient",
            own_networks=True,
            shows_changes=False,
            cites="xiong2020layer",
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
