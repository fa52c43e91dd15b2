"""Execution: compiled kernels, parallel loops, ONNX sessions, weight files, the prediction cache."""
