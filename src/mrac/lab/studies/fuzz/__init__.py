"""Generated hostile input for the whole public surface: parsers, calls, command lines and invariants of the result."""
