"""A class of students at one server, through Streamlit's own websocket protocol: `python -m benchmarks.load`."""
