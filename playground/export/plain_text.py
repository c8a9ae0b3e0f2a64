"""Texts of figures and pages as plain letters: Plotly reads HTML, and pages markdown."""

import html
import re

_QUOTED = 0xF0000
"""Of a plane that no alphabet uses: stands for the first quoted word while a caption is read."""

_MARKDOWN = re.compile(
    r"`(?P<code>[^`]*)`|\$(?P<formula>[^$]+)\$|\\(?P<escaped>[^\w\s])|:[a-z-]+\[(?P<inside>[^\]]*)\]|\*\*|\*"
)
_ON_A_PAGE = re.compile(r"\b[Cc]lick|thumbnails")

_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_LOWERED = str.maketrans("0123456789il", "₀₁₂₃₄₅₆₇₈₉ᵢₗ")
_TEX_WORDS = {
    "lVert": "‖", "rVert": "‖", "sum": "∑", "partial": "∂", "log": "log", "sqrt": "√", "mathcal": "", "mathrm": "",
    "times": "×", "cdot": "·", "ell": "ℓ", "top": "ᵀ", "max": "max", "lvert": "|", "rvert": "|", "infty": "∞",
    "theta": "θ",
}  # fmt: skip


def plain_label(text: str | None) -> str:
    """A label of a figure as it is read: tags act, entities are letters."""
    text = re.sub(r"<br\s*/?>", "\n", text or "")
    text = re.sub("<sup>(.*?)</sup>", lambda found: raised(found[1]), text)
    return html.unescape(re.sub(r"</?[a-z]+[^<>]*>", "", text))


def raised(number: object) -> str:
    """A number above the line: `10` and this is a power."""
    return str(number).translate(_RAISED)


def plain_caption(markdown: str) -> str:
    """A caption as it is printed: without marks of markdown, and without what can be done on a page only."""
    quoted: list[str] = []  # tokens of the visitor's: nothing in them acts

    def read(found: re.Match[str]) -> str:
        code, formula, escaped, inside = found.group("code", "formula", "escaped", "inside")
        if formula is not None:
            return _plain_formula(formula)
        if code is None and escaped is None:
            return inside or ""
        quoted.append(str(code if escaped is None else escaped))
        return chr(_QUOTED + len(quoted) - 1)

    sentences = re.split(r"(?<=[.?!])\s+", _MARKDOWN.sub(read, markdown.replace(chr(_QUOTED), "")))
    sentences = [re.sub(r"; click\b.*(?=\.$)", "", sentence) for sentence in sentences]
    text = " ".join(sentence for sentence in sentences if not _ON_A_PAGE.search(sentence))
    return html.unescape(text.strip()).translate({_QUOTED + i: word for i, word in enumerate(quoted)})


def _plain_formula(tex: str) -> str:
    """A short formula of a caption in letters: `∑ pᵢ log₂ pᵢ`."""
    tex = re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda found: _TEX_WORDS.get(found[1], found[1]), tex)
    tex = re.sub(r"_\{?([0-9il])\}?", lambda found: found[1].translate(_LOWERED), tex)
    tex = re.sub(r"\^\{?([0-9])\}?", lambda found: found[1].translate(_RAISED), tex)
    return re.sub(r"\s+", "\N{NO-BREAK SPACE}", re.sub(r"[{}\\]", "", tex).strip())
