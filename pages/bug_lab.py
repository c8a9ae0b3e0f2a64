"""Find the mistake that somebody made: an encoder that runs and is wrong, suspects, and tests."""

from playground.mistakes import bug_lab
from playground.mistakes.edits import run_edited
from playground.web.shared import panels
from playground.web.views.bug_lab import draw_bug_lab

panels.draw_heading("Where is the mistake?")
draw_bug_lab()
panels.code_behind("bug_lab", bug_lab.open_lab, run_edited)
