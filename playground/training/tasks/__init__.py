"""What can be learnt here: made-up sequences whose answer is known exactly, and text."""

from playground.training.tasks.task import Data, Examples, Task
from playground.training.tasks.task_list import TASKS, make_data

__all__ = ["TASKS", "Data", "Examples", "Task", "make_data"]
