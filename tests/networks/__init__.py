"""Networks with random weights: the true architectures, and toys that run in milliseconds."""
