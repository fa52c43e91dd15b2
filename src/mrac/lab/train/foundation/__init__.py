"""Training of the embedded foundation: `mrac train foundation`."""
