"""Charts, tables and paragraphs as data, and how a chart is drawn beside the same chart of a pinned run.

A view says *which numbers* of a run a chart shows (`chart`). `draw` asks for them of the present run and of the pinned
one, and makes figures of both, captions, tables, and the difference. A renderer puts that on a page or into a notebook.
"""
