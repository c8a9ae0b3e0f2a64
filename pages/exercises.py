"""Exercises: what will happen? The answers are computed, and seen only after a student has given one."""

from playground.learn.exercise import Variant
from playground.web.shared import panels
from playground.web.views.exercises import draw_exercises

draw_exercises()
panels.code_behind("exercises", Variant)
