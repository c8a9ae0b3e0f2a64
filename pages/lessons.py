"""Lessons: words, pages and exercises, one after the other."""

from playground.learn.lesson import Lesson
from playground.web.shared import panels
from playground.web.views.lessons import draw_lessons

draw_lessons()
panels.code_behind("lessons", Lesson)
