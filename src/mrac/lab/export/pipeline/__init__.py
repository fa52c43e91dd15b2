"""The whole calibration as one ONNX graph: foundation, gate, fit and head, for images of one size."""
