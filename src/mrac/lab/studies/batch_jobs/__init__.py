"""Batch jobs at scale: every frame once under a kill, speed of two workers, cost of a stage, a model of many."""
