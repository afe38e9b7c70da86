#!/usr/bin/env python3
"""Sends the commands of a regression suite to a GTP program, and compares the responses.

    python3 tests/python/gtp_regress.py tests/gtp/conformance.tst tengen gtp --model uniform

A suite is a text as GNU Go's: commands, each with a number, and below each `#? [PATTERN]`. The pattern is a regular
expression that the whole response must match. `? ` at its beginning means that the command must fail with the rest as
its error. All commands are sent at once, as some controllers do. Exits with 1 at the first difference.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def questions(suite: Path) -> list[tuple[str, str]]:
    """The commands of a suite with the pattern of each."""
    asked = []
    for line in suite.read_text().splitlines():
        if line.startswith("#?"):
            command, pattern = asked[-1]
            if pattern is not None:
                raise SystemExit(f"{suite}: two patterns for {command}")
            asked[-1] = (command, line[2:].strip().removeprefix("[").removesuffix("]"))
        elif line.strip() and not line.startswith("#"):
            asked.append((line.strip(), None))
    missing = [command for command, pattern in asked if pattern is None]
    if missing:
        raise SystemExit(f"{suite}: no pattern for {missing[0]}")
    return asked


def responses(program: list[str], commands: list[str]) -> list[str]:
    """The responses of the program, one per command."""
    talk = subprocess.run(
        program, input="".join(f"{command}\n" for command in commands), capture_output=True, text=True, timeout=600
    )
    if talk.returncode:
        raise SystemExit(f"{program[0]} exits with {talk.returncode}:\n{talk.stderr}")
    if talk.stdout and not talk.stdout.endswith("\n\n"):
        raise SystemExit("the last response has no end")
    return talk.stdout.removesuffix("\n\n").split("\n\n")


def differs(command: str, pattern: str, response: str) -> str | None:
    """The difference between response and pattern."""
    number = command.split()[0]
    fails = pattern.startswith("? ")
    begin = ("?" if fails else "=") + number
    if not response.startswith(begin):
        return f"should begin with {begin}"
    text = response.removeprefix(begin).removeprefix(" ")
    pattern = pattern.removeprefix("? ") if fails else pattern
    return None if re.fullmatch(pattern, text) else f"should match {pattern}"


def main() -> None:
    suite, program = Path(sys.argv[1]), sys.argv[2:]
    asked = questions(suite)
    told = responses(program, [command for command, _ in asked])
    if len(told) != len(asked):
        raise SystemExit(f"{len(asked)} commands got {len(told)} responses:\n" + "\n".join(told))
    for (command, pattern), response in zip(asked, told):
        problem = differs(command, pattern, response)
        if problem:
            raise SystemExit(f"{command}\n{response}\n{problem}")
    print(f"{len(asked)} commands of {suite.name} have the expected responses")


if __name__ == "__main__":
    main()
