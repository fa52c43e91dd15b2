"""Random SIGKILLs over everything that writes: trainings, benchmark, batch jobs, recordings, cache."""
