"""Training without the app: tasks, a recipe, a trainer that yields after every step, and what a run leaves behind."""

from playground.training.evaluation import History
from playground.training.network import Tagger
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Task, make_data
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import Trainer

__all__ = ["TASKS", "History", "Recipe", "Tagger", "Task", "TrainedNetwork", "Trainer", "make_data"]
