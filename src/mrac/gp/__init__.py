"""Which pixels are alike: the features and the covariance by which neighbours are heard, in the gate and in kriging."""
