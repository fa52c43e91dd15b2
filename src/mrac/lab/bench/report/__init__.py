"""From a run's cells to tables and figures. One file per table or figure group, one per writer."""
