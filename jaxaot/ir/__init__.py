"""What a graph is: jaxprs, the meaning of their slots, and how to walk, rewrite, check, price and print them."""
