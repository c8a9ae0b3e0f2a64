"""What captions of attention add where the visitor has changed the computation."""

from playground.runs.encoder_run import Run
from playground.web.shared.markdown import escape_markdown
from playground.web.shared.what_if.change_names import name_change


def note_changes(run: Run) -> str:
    """That a chart shows the changed run, for its caption; empty where nothing is changed."""
    return " **With your changes.**" if run.interventions else ""


def note_set_weights(run: Run, layer: int, head: int | None) -> str:
    """Which weights of a layer's head, or of all its heads with None, were set by hand, for a caption."""
    names = [
        escape_markdown(name_change(each, run.tokens))
        for each in run.interventions
        if each.point in (f"layers.{layer}.attn.scores", f"layers.{layer}.attn.pattern")
        and (head is None or each.head in (None, head))
    ]
    return f" Set by you: {'; '.join(names)}." if names else ""


def has_odd_rows(run: Run, layer: int | None = None) -> bool:
    """Whether weights were set after the softmax, so that a row need not add up to 1; in a layer, or in any."""
    return any(each.kind == "weight_after" and layer in (None, each.layer) for each in run.interventions)
