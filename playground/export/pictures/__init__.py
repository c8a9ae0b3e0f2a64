"""Charts as files for papers and slides, drawn on the server without a browser.

Plotly needs a browser for a picture, and leaves heatmaps raster in an SVG. Here matplotlib draws axes and text of the
same figure, and the cells of a heatmap are written as vectors of our own. It takes half a second to import, so that
`draw_picture` is imported where somebody asks for a picture.
"""
