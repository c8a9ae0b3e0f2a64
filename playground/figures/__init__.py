"""Charts: arrays in, Plotly figures out."""
