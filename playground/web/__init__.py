"""The Streamlit side of the playground: everything here may import Streamlit, nothing outside may."""
