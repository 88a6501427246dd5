"""What a function is made of, from shapes alone: operations, memory, batches that fit, plans for other machines."""
