"""The five tutorials behind the playground: what they teach, where they disagree, and their mistakes made again."""

from playground.tutorials.catalogue import TUTORIALS, Mistake, Topic, Tutorial
from playground.tutorials.table import NAMES, Row, build_table

__all__ = ["NAMES", "TUTORIALS", "Mistake", "Row", "Topic", "Tutorial", "build_table"]
