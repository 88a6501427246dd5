"""Numbers of Python that change from call to call."""
