"""What a tensor is: the cell that holds values, the handle, its version and gradient path, and who may touch them."""
