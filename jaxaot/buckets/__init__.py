"""One program for many sizes: made for a bucket, run for what is smaller, with the values of the exact program."""
