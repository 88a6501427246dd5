"""The main job: a small GPT, written as a PyTorch user would, trained on real text through the compiler."""
