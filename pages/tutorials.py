"""Tutorials: one of the five, and all side by side."""

from playground import tutorials
from playground.views.tutorials import show_tutorials, tutorials_scene
from playground.web.choices.setup import current_value
from playground.web.shared import panels
from playground.web.shared.renderer import draw_view

panels.draw_heading("What is different in the tutorial that I follow?")
draw_view("tutorials", show_tutorials, tutorials_scene, ())
flaws = tutorials.TUTORIALS[current_value("tutorials_letter")].flaws
panels.code_behind("tutorials", *(each.demonstration for each in flaws if each.demonstration), tutorials.trace_of)
