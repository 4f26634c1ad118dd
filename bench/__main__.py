"""`python -m bench [b1 b3 b5 b8] [--full]`: run benchmarks. Each prints a table and a JSON line."""

import argparse

from bench import b1_decide, b3_cycle, b5_memory, b8_explain

BENCHMARKS = {"b1": b1_decide.run, "b3": b3_cycle.run, "b5": b5_memory.run, "b8": b8_explain.run}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], help="which; all without a name")
    parser.add_argument("--full", action="store_true", help="the largest sizes too: minutes, and some 10 GB of memory")
    arguments = parser.parse_args()
    for name in arguments.names or BENCHMARKS:
        BENCHMARKS[name](full=arguments.full)


if __name__ == "__main__":
    main()
