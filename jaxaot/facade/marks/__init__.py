"""What users say of values: constants, prints, sizes, names."""
