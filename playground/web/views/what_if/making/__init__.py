"""Making a change: the choices, the sentence and the button."""
