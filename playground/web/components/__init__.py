"""What Streamlit has not: a folder each, with its Python function and the files that run in the browser."""
