"""Training of VI-Depth's scale-map learner: `mrac train sml_retrained`."""
