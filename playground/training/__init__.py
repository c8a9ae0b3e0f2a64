"""Training without the app: tasks, a recipe, a trainer that yields after every step, and what a run leaves behind."""

from playground.training.recipe import Recipe
from playground.training.trainer import Trainer

__all__ = ["Recipe", "Trainer"]
