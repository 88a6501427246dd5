"""Members of tensors that are made of tensors; plain subclasses."""
