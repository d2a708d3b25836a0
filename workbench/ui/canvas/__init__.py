"""The picture with its label: sampled view, layers and tools."""
