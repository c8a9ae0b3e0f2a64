"""A chart of a scene, for any renderer: the present subject's figure, the pinned one's beside it, the difference."""

from playground.charts.draw.drawn import Drawing, Drawn, SavedHeads, compare_tables, draw_table
from playground.charts.draw.kinds import draw_chart

__all__ = ["Drawing", "Drawn", "SavedHeads", "compare_tables", "draw_chart", "draw_table"]
