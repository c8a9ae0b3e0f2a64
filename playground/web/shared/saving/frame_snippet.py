"""The lines of HTML that put one chart of a view into a course page."""

from html import escape
from urllib.parse import urlencode

ROOM = 260
"""Pixels that the focus line, a caption of a few lines and the way out take beside a chart."""


def write_snippet(key: str, link: str, title: str, height: int) -> str:
    """A frame with the chart of this key and what moves it, as `single_chart` shows it.

    Args:
        key: the chart's.
        link: to the view, with its query.
        title: what the chart shows, for whoever cannot see it.
        height: of the chart, in pixels.
    """
    source = f"{link}&{urlencode({'embed': 'true', 'only': key})}"
    attributes = f'title="{escape(title)}" width="100%" height="{height + ROOM}" loading="lazy" style="border: 0"'
    return f'<iframe src="{escape(source)}"\n        {attributes}></iframe>'
