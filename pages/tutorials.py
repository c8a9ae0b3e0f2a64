"""One of the five tutorials, the student's own: what is different in it; and all five side by side."""

from playground.tutorials import comparison
from playground.tutorials.tutorial_texts import TUTORIALS
from playground.views.tutorials import show_tutorials
from playground.web.shared import panels
from playground.web.shared.renderer import read_options, render
from playground.web.views.tutorials import tutorials_scene

panels.draw_heading("What is different in the tutorial that I follow?")
scene, options = tutorials_scene(), read_options("tutorials")
render(show_tutorials(scene, options), scene)
mistakes = TUTORIALS[options["tutorials_letter"]].mistakes
demonstrations = [mistake.demonstration for mistake in mistakes if mistake.demonstration]
panels.code_behind("tutorials", *demonstrations, comparison.build, comparison.causes)
