"""A chart of a scene, for any renderer."""

from playground.charts.draw.drawn import Drawing, Drawn, SavedHeads, compare_tables, draw_table
from playground.charts.draw.kinds import draw_chart

__all__ = ["Drawing", "Drawn", "SavedHeads", "compare_tables", "draw_chart", "draw_table"]
