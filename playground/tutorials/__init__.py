"""The five tutorials behind the playground: what they teach, where they disagree, and their mistakes made again."""

from playground.tutorials.table import NAMES, Row, build_table
from playground.tutorials.tutorial_texts import TUTORIALS, Mistake, Topic, Tutorial

__all__ = ["NAMES", "TUTORIALS", "Mistake", "Row", "Topic", "Tutorial", "build_table"]
