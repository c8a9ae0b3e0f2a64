"""Charts, tables and paragraphs as data, and how a chart is drawn beside a pinned run's."""
