"""Image canvas with its label: sampled view, layers and tools."""
