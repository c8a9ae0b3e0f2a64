"""Small views that Streamlit has not."""
