"""Diagnosis: tensors of one's own code beside the model's."""

from playground import diagnosis
from playground.web.shared import panels
from playground.web.views.diagnosis import draw_diagnosis

panels.draw_heading("Which mistake did I make?")
draw_diagnosis()
panels.code_behind("diagnosis", diagnosis.diagnose)
