"""The page of `mrac web`: a small server of our own, its HTML, CSS and JavaScript (extra `web`)."""
