"""Colours of numbers, without a chart."""

import numpy as np

from playground.charts import colour_scales


def test_colours_may_leave_the_farthest_numbers_out() -> None:
    near, far = np.linspace(-1, 1, 401), np.append(np.linspace(-2, 2, 400), 1e6)
    end = np.percentile(np.abs(far), 99)
    assert colour_scales.most_around_zero([near, far]).options["zmin"] == -end
    assert colour_scales.most_from_zero([near, far]).options == {"zmin": 0, "zmax": end}
    assert colour_scales.limit_of_most([np.zeros(3)]) == 1
