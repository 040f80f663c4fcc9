"""Model definitions, ONNX export and loading of the models that ship with entailgrid."""
