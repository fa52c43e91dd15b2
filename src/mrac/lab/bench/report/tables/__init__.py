"""Tables, one file per group of the paper's: each has `tables(context)`, which gives none where nothing was run."""
