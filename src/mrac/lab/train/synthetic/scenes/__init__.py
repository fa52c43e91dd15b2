"""Rooms, streets and table tops made up at random, with exact depth: nothing is stored, each batch is new."""
