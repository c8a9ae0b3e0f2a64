"""Charts of two runs lie on the same axes."""

from dataclasses import replace

import numpy as np
import pytest

from playground import count_parameters
from playground.accounting.readable import signed
from playground.figures import norms, palette
from playground.figures.differences import (
    SMALLEST_SHARE,
    component_pairs,
    differences_on_the_way,
)
from tests.model.reference import small_config


def test_the_other_runs_lines_are_dotted_and_on_the_same_axis() -> None:
    now, pinned = ({part: np.full((n, 4), 2.0 * n, np.float32) for part in norms.PARTS} for n in (7, 3))
    now["residual"], pinned["residual"] = (np.full((n, 4), 2.0 * n, np.float32) for n in (8, 4))
    figure = norms.norms_by_layer(now, pinned, "pinned: n_layers 3")
    dotted = [trace for trace in figure.data if trace.line.dash == "dot" and trace.showlegend is False]
    assert [trace.name for trace in dotted] == [f"{title}, pinned: n_layers 3" for title, _ in norms.PARTS.values()]
    np.testing.assert_array_equal(dotted[0].x, range(4))
    np.testing.assert_array_equal(dotted[1].x, range(1, 4))
    assert {trace.xaxis for trace in figure.data} == {None}
    (entry,) = (trace.name for trace in figure.data if trace.line.dash == "dot" and trace.showlegend is not False)
    assert entry == "dotted: pinned: n_layers 3"


def test_an_axis_is_logarithmic_for_what_both_runs_need() -> None:
    short, long = ({part: np.full((2, 4), size, np.float32) for part in norms.PARTS} for size in (1, 1e6))
    assert norms.norms_by_layer(short).layout.yaxis.type is None
    assert norms.norms_by_layer(short, long, "long").layout.yaxis.type == "log"


def test_pairs_of_components_have_both_models_sums_and_the_change() -> None:
    now, pinned = count_parameters(small_config()), count_parameters(replace(small_config(), n_layers=1))
    after, before = component_pairs(pinned, now, "parameters").data
    assert (after.x.sum(), before.x.sum()) == (now.total, pinned.total)
    assert before.marker.opacity < after.marker.opacity
    assert all(row.endswith(signed(int(n - m))) for row, n, m in zip(after.y, after.x, before.x, strict=True))


@pytest.mark.parametrize(
    ("share", "height", "colour"),
    [(0, SMALLEST_SHARE, palette.MUTED), (1e-6, 1e-6, palette.MUTED), (0.5, 0.5, palette.ATTENTION)],
)
def test_what_is_rounding_is_grey(share: float, height: float, colour: str) -> None:
    (bars,) = differences_on_the_way(np.array([share], np.float32), ["embed.out"], 1e-5).data
    assert bars.y[0] == pytest.approx(height)
    assert list(bars.marker.color) == [colour]
