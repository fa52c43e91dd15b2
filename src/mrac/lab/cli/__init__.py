"""The laboratory's commands: `mrac bench | data | train`."""
