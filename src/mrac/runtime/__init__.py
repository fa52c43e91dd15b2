"""How things run: compiled kernels, parallel loops, ONNX sessions, cached predictions."""
