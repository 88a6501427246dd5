"""What is done to the parameters of modules (`torch.nn.utils`)."""
