"""The laboratory's commands: `mrac bench | data | export | train`."""
