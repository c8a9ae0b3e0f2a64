"""Buttons that draw a chart as a picture in the visitor's browser, and save it: PNG, SVG, PDF.

Plotly draws the chart once more, from a figure for white paper. jsPDF and svg2pdf.js make a PDF of that drawing. All of
them come from this server (`playground/web/server/picture_libraries/`) when the first picture is saved. So does the
figure, as a file: on the page's own connection, megabytes would hold up everybody's answers while they are compressed.
"""

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime import get_instance

from playground.export.print_figure import write_print_figure
from playground.web.components.load_component import load_component

_buttons = load_component("save_picture", draws=True)


def draw_picture_buttons(
    key: str, figure: go.Figure, *, name: str, caption: str, title: str, link: str, libraries: str
) -> None:
    """Draw a button for each format.

    Args:
        key: of the component.
        figure: what is drawn.
        name: of the files, without an ending.
        caption: plain text that stands below the chart, followed by the link where that is not too long.
        title: what the chart is called in the files' metadata, which have all of the link, too.
        link: to the page that the chart is from.
        libraries: the folder on this server that has what draws.
    """
    words = {"name": name, "caption": caption, "title": title, "link": link}
    data = {**words, "figure": offer_file(key, write_print_figure(figure)), "libraries": libraries}
    _buttons(key=key, data=data, width="content")


def offer_file(key: str, text: str) -> str:
    """The path under which this server gives a JSON text, until the session's page is drawn without it.

    Args:
        key: the session's later texts of this key take the place of this one.
        text: what is given.
    """
    base = st.get_option("server.baseUrlPath").strip("/")
    path = get_instance().media_file_mgr.add(text.encode(), "application/json", key)
    return f"{base and '/'}{base}{path}"
