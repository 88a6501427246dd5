"""`python -m jaxaot`."""

from jaxaot.cli import main

raise SystemExit(main())
