"""Lessons: words, pages and exercises, one after the other; those that are there, and one's own."""

from playground.learn.lesson import Lesson
from playground.web.shared import panels
from playground.web.views.lessons import page

page.draw_lessons()
panels.code_behind("lessons", Lesson)
