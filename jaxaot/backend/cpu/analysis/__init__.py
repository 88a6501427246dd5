"""What a graph shows of masks, kernels, windows and parts."""
