"""Reports: what became of a function, as plain data with three faces: text, JSON and one page of HTML."""
