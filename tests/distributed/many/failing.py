"""The process of rank 1 ends at once, unless all are to wait; the others would wait for it for ever."""

import os
import sys
import time

how = sys.argv[1]
if os.environ["RANK"] == "1" and how != "waits":
    if how == "killed":
        os.kill(os.getpid(), 9)
    sys.exit(3)
print("waiting", os.getpid(), flush=True)
time.sleep(600)
