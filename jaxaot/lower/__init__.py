"""From a graph to something that runs: executables, backends, and what the compiled result depends on."""
