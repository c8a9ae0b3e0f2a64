"""What a page's widgets stand at, as the server tells a browser."""

from typing import Any

from benchmarks.load.student import Student


def shown_values(student: Student) -> dict[str, str]:
    """Each widget's value by its key, as text; of those that take several, joined by commas."""
    values = {key: _value(widget.kind, widget.drawn) for key, widget in student.widgets.items()}
    return {key: str(value) for key, value in values.items() if value is not None}


def _value(kind: str, drawn: Any) -> object:
    match kind:
        case "slider":
            if drawn.set_value and drawn.raw_value:
                return drawn.raw_value[0]
            (number,) = drawn.value if drawn.set_value else drawn.default
            return drawn.options[int(number)] if drawn.options else number
        case "button_group":
            if drawn.set_value:
                return ",".join(drawn.raw_values)
            return ",".join(drawn.options[i].content for i in drawn.default)
        case "selectbox":
            return drawn.raw_value if drawn.set_value else drawn.options[drawn.default]
        case "checkbox" | "text_area" | "text_input":
            return drawn.value if drawn.set_value else drawn.default
    return None
