"""A table as text: each writer has `write_table(table)`."""
