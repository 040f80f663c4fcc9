"""One module per input format; each turns a checked JSON document into a `Conversation` or its traces."""
