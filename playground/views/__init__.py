"""What each page shows, as data: pure functions of a scene and the page's options, free of Streamlit."""
