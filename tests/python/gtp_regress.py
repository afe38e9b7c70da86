#!/usr/bin/env python3
"""Asks a program that speaks GTP everything that a regression suite asks, and compares the answers.

    python3 tests/python/gtp_regress.py tests/gtp/conformance.tst tengen gtp --model uniform

A suite is a text as GNU Go's: commands, each with a number, and below each `#? [PATTERN]`. The pattern is a regular
expression that the whole answer must match; `? ` at its beginning says that the command must fail, and the rest is what
the program must say then. All commands are sent at once, as some controllers do. Exits with 1 at the first difference.
"""

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


def answers(program: list[str], commands: list[str]) -> list[str]:
    """What the program says to all of them, one answer each."""
    talk = subprocess.run(
        program, input="".join(f"{command}\n" for command in commands), capture_output=True, text=True, timeout=600
    )
    if talk.returncode:
        raise SystemExit(f"{program[0]} exits with {talk.returncode}:\n{talk.stderr}")
    if talk.stdout and not talk.stdout.endswith("\n\n"):
        raise SystemExit("the last answer has no end")
    return talk.stdout.removesuffix("\n\n").split("\n\n")


def differs(command: str, pattern: str, answer: str) -> str | None:
    """What is wrong with an answer."""
    number = command.split()[0]
    fails = pattern.startswith("? ")
    begin = ("?" if fails else "=") + number
    if not answer.startswith(begin):
        return f"should begin with {begin}"
    text = answer.removeprefix(begin).removeprefix(" ")
    pattern = pattern.removeprefix("? ") if fails else pattern
    return None if re.fullmatch(pattern, text) else f"should match {pattern}"


def main() -> None:
    suite, program = Path(sys.argv[1]), sys.argv[2:]
    asked = questions(suite)
    told = answers(program, [command for command, _ in asked])
    if len(told) != len(asked):
        raise SystemExit(f"{len(asked)} commands got {len(told)} answers:\n" + "\n".join(told))
    for (command, pattern), answer in zip(asked, told):
        problem = differs(command, pattern, answer)
        if problem:
            raise SystemExit(f"{command}\n{answer}\n{problem}")
    print(f"{len(asked)} commands of {suite.name} are answered as they should be")


if __name__ == "__main__":
    main()
