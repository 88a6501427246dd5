"""What users call: a table with one row for each op."""
