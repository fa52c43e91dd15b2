"""The laboratory: data sets, outliers, benchmark, studies, training. It imports the runtime half, never the reverse."""
