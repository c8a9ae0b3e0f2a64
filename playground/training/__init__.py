"""Training: tasks, a recipe, a trainer, and what a run leaves behind."""

from playground.training.recipe import Recipe
from playground.training.trainer import Trainer

__all__ = ["Recipe", "Trainer"]
