"""Programs as people write them for torch.compile, one for each habit, against `jaxaot` or `torch`."""
