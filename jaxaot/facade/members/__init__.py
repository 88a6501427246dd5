"""What is bound to the class Tensor, and to the package."""
