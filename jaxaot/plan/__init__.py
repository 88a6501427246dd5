"""What was decided: frozen values without tracers, arrays or functions, and the stages that hold a graph with them."""
