"""The pages. A new one is a record here, a view in `playground/views/` and a script in `pages/`."""

from dataclasses import dataclass

SITE = "http://localhost:8501"
"""Where `make run` serves them."""


@dataclass(frozen=True)
class Page:
    """One page; the menu's words on it are `purpose-<path>` in `words/en/frame.ftl`."""

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
    untouched: bool = False
    """Whether it shows the visitor's network without their changes of the computation."""
    exports: str = "encoder"
    chart: str = ""
    """Key of its main chart."""

    @property
    def parameter_prefix(self) -> str:
        """How its parameters start."""
        return f"{self.prefix or self.path}_"

    @property
    def hides_changes(self) -> bool:
        """Whether it shows the visitor's architecture or text without their changes."""
        return self.untouched or (self.own_networks and self.runs_text)


def _apart(path: str, title: str, group: str, prefix: str = "", exports: str = "encoder") -> Page:
    return Page(path, title, group, prefix, own_networks=True, runs_text=False, exports=exports)


PAGES = {
    page.path: page
    for page in (
        Page("overview", "Start"),
        Page("attention", "Attention", chart="attention_pattern"),
        Page("what-if", "What if", prefix="whatif"),
        Page("similarity", "Similarity", chart="similarity_matrix"),
        Page("compare", "Compare"),
        _apart("exercises", "Exercises", "Learn"),
        _apart("lessons", "Lessons", "Learn"),
        Page("diagnosis", "Diagnosis", "Learn", untouched=True),
        _apart("bug-lab", "Bug lab", "Learn", "lab"),
        _apart("tutorials", "Tutorials", "Learn"),
        _apart("results", "Results", "Learn"),
        Page("step-by-step", "Steps", "Inside", "step"),
        Page("norms", "Norms", "Inside", chart="norms_by_layer"),
        Page("positions", "Positions", "Inside", untouched=True, chart="swap_differences"),
        Page("parameters", "Parameters", "Inside", runs_text=False, untouched=True, chart="parameter_breakdown"),
        Page("encoder-decoder", "Encoder-decoder", "Inside", "encdec", own_networks=True, exports="encoder–decoder"),
        _apart("parts", "Parts", "Train"),
        _apart("training", "Training", "Train", exports="training run"),
        _apart("regularisers", "Regularisers", "Train"),
        Page("gradient-flow", "Gradient flow", "Train", "gradient", own_networks=True),
    )
}
"""In the menu's order."""

LADDER = "from 2017 to today"

MOVED = {"ladder": ("parts", {"parts_view": LADDER}), "overview": ("", {})}
"""By a path that the app doesn't have: the page and the parameters that show it."""


def page_at(path: str) -> Page:
    """Return the page of a path; the overview's may be empty."""
    return PAGES[path or "overview"]
