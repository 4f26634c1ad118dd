"""`python -m posse`: the command, for where its script is not on the path."""

from posse.cli.main import main

main()
