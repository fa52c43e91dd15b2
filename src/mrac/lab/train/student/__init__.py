"""Training of the small network that `fast` runs, taught by the embedded one: `mrac train student`."""
