"""Other people's data sets turned into rows: one module per layout."""
