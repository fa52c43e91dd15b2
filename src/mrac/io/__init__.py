"""Reads and writes files; draws pictures of depth."""
