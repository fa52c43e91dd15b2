"""Training of the learned heads: `mrac train vanilla | b_prime | raw_depth`, and the ablation."""
