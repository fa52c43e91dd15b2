"""Files and pictures at the package's border."""
