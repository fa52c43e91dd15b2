"""docs/export.md: writing a graph needs torch and onnx."""

LAB = True
