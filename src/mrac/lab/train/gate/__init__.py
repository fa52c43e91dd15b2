"""Training of the gate's classifier: `mrac train gate`."""
