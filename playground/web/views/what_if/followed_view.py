"""What followed from the changes: against the run that nothing changes, on the same axes."""

import numpy as np
import pandas as pd

from playground.analysis.effects.vector_changes import stream_change
from playground.figures.effects.change_maps import vector_changes
from playground.figures.theme import token_names
from playground.link.places import Focus
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels


def draw_followed(run: Run, focus: Focus) -> None:
    """How far the changed run is from the untouched one."""
    with panels.explain_errors():
        untouched = caches.run_sentence(current_setup().untouched_key)
    change = stream_change(untouched, run)
    tokens = [token for token, padding in zip(run.tokens, run.padding, strict=True) if not padding]
    panels.chart(
        "whatif_vectors",
        vector_changes(change.relative, tokens),
        caption="How far has each token's vector moved from where the untouched model had it? A row is a depth: the "
        "number of blocks passed. The number is the length of the difference, divided by the vector's length before. "
        f"The largest is {np.nanmax(change.relative):.3g}.",
        alt="Heatmap of how far each token's vector has moved, by depth",
        table=lambda: pd.DataFrame(
            change.relative.T, token_names(tokens), [f"depth {depth}" for depth in range(len(change.relative))]
        ),
    )
