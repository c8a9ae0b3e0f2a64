"""What stands around Streamlit's server: settings, security headers, the cap on visitors."""
