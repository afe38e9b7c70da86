#!/usr/bin/env python3
"""Plays on CGOS, the Computer Go Server, with a GTP program.

    python3 python/cgos.py play HOST:PORT NAME PASSWORD_FILE -- tengen gtp --model v15
    python3 python/cgos.py check [--size N] [--seconds S] [--grace S] -- tengen gtp --model uniform

`play` connects to a server and plays the games that it pairs, one after the other, until it is interrupted or the server
closes the connection. It exits with 1 when the connection is lost in a game, which the server resumes when the player
connects again. `check` starts a server on loopback, connects two copies of the program to it, and plays one game,
in which Black loses its connection once. It exits with 1 when a response is not what CGOS accepts.

The protocol is that of the server at <https://github.com/zakki/cgos>: lines of text, of which the server sends
`protocol`, `username`, `password`, `setup`, `play`, `genmove`, `gameover` and `info`. After a move a client may send the
response to `cgos-genmove_analyze`, a JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator

# What a server must offer, and a client must want, for moves to be sent with their analysis.
ANALYSIS = "genmove_analyze"
CLIENT = f"e1 tengen-cgos {ANALYSIS}"
COLUMNS = "ABCDEFGHJKLMNOPQRST"
LONGEST_LINE = 1 << 16  # characters; the `setup` of a game of a thousand moves has 12,000


class Engine:
    """A GTP program."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.commands = set(self.ask("list_commands"))

    def ask(self, command: str) -> list[str]:
        """The lines of the response to a command."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = []
        while line := self.process.stdout.readline().strip():
            lines.append(line)
        if not lines or not lines[0].startswith("="):
            raise RuntimeError(f"the response to {command!r} is {' '.join(lines) or 'nothing'!r}")
        lines[0] = lines[0].removeprefix("=").strip()
        return [line for line in lines if line]

    def tell(self, command: str) -> None:
        """Says what a program need not understand."""
        if command.split()[0] in self.commands:
            self.ask(command)

    def genmove(self, color: str) -> tuple[str, str | None]:
        """A move, and what the program thinks of it."""
        if "cgos-genmove_analyze" not in self.commands:
            return self.ask(f"genmove {color}")[0], None
        *analysis, played = self.ask(f"cgos-genmove_analyze {color}")
        return played.removeprefix("play "), analysis[-1] if analysis else None

    def quit(self) -> None:
        self.tell("quit")
        self.process.wait(10)


class Lines:
    """A connection on which both sides send lines."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        # `info` has text of other people, in any encoding.
        self.file = connection.makefile("rw", encoding="utf-8", errors="replace", newline="\n")
        self.error: OSError | None = None  # by which the connection was lost

    def send(self, line: str) -> None:
        with contextlib.suppress(OSError):  # of a connection that is lost, which `receive` notices
            self.file.write(line + "\n")
            self.file.flush()

    def receive(self) -> str | None:
        """The next line; None at the end, and where the connection is lost."""
        try:
            line = self.file.readline(LONGEST_LINE)
        except OSError as error:
            self.error = error
            return None
        require(len(line) < LONGEST_LINE or line.endswith("\n"), f"a line has more than {LONGEST_LINE} characters")
        return line.strip() if line else None

    def ask(self, line: str) -> str:
        self.send(line)
        response = self.receive()
        if response is None:
            raise RuntimeError(f"no response to {line!r}")
        return response

    def close(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def follow(server: Lines, engine: Engine, name: str, password: str) -> bool:
    """Does what the server says until it closes the connection. Returns whether that was in a game."""
    analysis_wanted, playing = False, False
    while (line := server.receive()) is not None:
        word, *rest = line.split() or [""]
        if word == "protocol":
            analysis_wanted = ANALYSIS in rest
            server.send(CLIENT)
        elif word == "username":
            server.send(name)
        elif word == "password":
            server.send(password)
        elif word == "setup":
            with understood(name, line):
                _, size, komi, milliseconds, _, _, *played = rest
                seconds = int(milliseconds) // 1000
            set_up(engine, size, komi, seconds, played[::2])
            playing = True
        elif word == "play":
            with understood(name, line):
                color, move, *_ = rest
            engine.ask(f"play {color} {move}")
        elif word == "genmove":
            with understood(name, line):
                color, milliseconds = rest
                seconds = int(milliseconds) // 1000
            engine.tell(f"time_left {color} {seconds} 0")
            move, analysis = engine.genmove(color)
            server.send(f"{move.lower()} {analysis}" if analysis_wanted and analysis else move.lower())
        elif word == "gameover":
            print(f"{name}: the game is over: {printable(' '.join(rest))}", flush=True)
            playing = False
            server.send("ready")
        elif word == "Error:":
            raise SystemExit(printable(line))
    return playing


@contextlib.contextmanager
def understood(name: str, line: str) -> Iterator[None]:
    """Exits at a line that has other words than the protocol says."""
    try:
        yield
    except ValueError:
        raise SystemExit(f"{name}: the server sends {printable(line)!r}") from None


def printable(text: str) -> str:
    """Text of the server without characters that control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def set_up(engine: Engine, size: str, komi: str, seconds: int, played: list[str]) -> None:
    """`setup GAME SIZE KOMI MILLISECONDS WHITE BLACK [MOVE MILLISECONDS]…`: a game that was interrupted has moves."""
    for command in [f"boardsize {size}", f"komi {komi}", "clear_board"]:
        engine.ask(command)
    engine.tell(f"time_settings {seconds} 0 0")
    for index, move in enumerate(played):
        engine.ask(f"play {'bw'[index % 2]} {move}")


def read_password(file: str) -> str:
    """The first line of a file. All users of a machine can read its command lines."""
    try:
        with open(file, encoding="utf-8") as lines:
            password = lines.readline(1000).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"cgos: no password: {error}; name a file whose first line is the password") from None
    require(bool(password), f"{file} has no password on its first line")
    return password


def play(address: str, name: str, password: str, command: list[str]) -> None:
    host, _, port = address.rpartition(":")
    require(bool(host) and port.isdigit(), f"{address} is no HOST:PORT")
    engine = Engine(command)
    try:
        with connected(host.strip("[]"), int(port)) as connection:
            lines = Lines(connection)
            in_game = follow(lines, engine, name, password)
    finally:
        with contextlib.suppress(OSError, RuntimeError, subprocess.TimeoutExpired):
            engine.quit()
        engine.process.kill()
    reason = f": {lines.error}" if lines.error else ""
    require(not in_game, f"the connection to {address} was lost in a game{reason}; start again to resume it")
    require(lines.error is None, f"the connection to {address} was lost{reason}")


def connected(host: str, port: int) -> socket.socket:
    try:
        return socket.create_connection((host, port))
    except OSError as error:
        raise RuntimeError(f"cannot connect to {host}:{port}: {error}") from None


class Seat:
    """A player as the server of a check sees it."""

    def __init__(self, name: str, listener: socket.socket, command: list[str]) -> None:
        self.name, self.listener, self.engine = name, listener, Engine(command)
        self.connect()

    def connect(self) -> None:
        """Has the player log in, as at first or after its connection was lost."""
        address = self.listener.getsockname()

        def client() -> None:
            # This server breaks a connection.
            with contextlib.suppress(OSError), socket.create_connection(address) as connection:
                follow(Lines(connection), self.engine, self.name, "secret")

        self.thread = threading.Thread(target=client, daemon=True)
        self.thread.start()
        self.listener.settimeout(30)
        connection, _ = self.listener.accept()
        connection.settimeout(120)
        self.lines = Lines(connection)
        for question, expected in [(f"protocol {ANALYSIS}", CLIENT), ("username", self.name), ("password", "secret")]:
            require(self.lines.ask(question) == expected, f"{question} has a response other than {expected}")

    def leave(self) -> None:
        self.lines.close()
        self.thread.join(30)


def require(holds: bool, problem: str) -> None:
    if not holds:
        raise SystemExit(f"cgos: {problem}")


def check_analysis(analysis: dict, move: str, size: int) -> None:
    """Whether CGOS and its viewer can show this of a move."""
    require(0 <= analysis["winrate"] <= 1 and analysis["visits"] >= 1, f"not an analysis: {analysis}")
    moves = analysis["moves"]
    require(bool(moves) and moves[0]["move"].lower() == move, f"{move} is not the first of {moves}")
    visits = [candidate["visits"] for candidate in moves]
    require(sum(visits) == analysis["visits"], f"{visits} are not {analysis['visits']} visits")
    for candidate in moves:
        require(0 <= candidate["winrate"] <= 1 and 0 <= candidate["prior"] <= 1, f"no shares: {candidate}")
        for point in [candidate["move"], *candidate["pv"].split()]:
            column, row = COLUMNS[:size].find(point[0].upper()), point[1:]
            require(point == "pass" or column >= 0 and row.isdigit() and 1 <= int(row) <= size, f"{point} is no move")


def check(size: int, seconds: float, grace: float, command: list[str]) -> None:
    """Plays a game as CGOS would."""
    listener = socket.create_server(("127.0.0.1", 0))
    black, white = Seat("black", listener, command), Seat("white", listener, command)
    clocks = {"b": int(1000 * seconds), "w": int(1000 * seconds)}
    setup = f"setup 1 {size} 7.0 {int(1000 * seconds)} white(1800?) black(1800?)"
    for seat in [black, white]:
        seat.lines.send(setup)
        seat.lines.send("info the game begins")
        seat.lines.send("")  # says nothing, and is not the end
        seat.lines.connection.sendall(b"info caf\xe9\n")  # Latin-1
    played, analysed, several, resigned = [], 0, 0, None
    while [move for move, _ in played[-2:]] != ["pass", "pass"]:
        color, seat, other = [("b", black, white), ("w", white, black)][len(played) % 2]
        if len(played) == 10:
            # Black's, whose turn it is, and who finds the game as it was.
            seat.leave()
            seat.connect()
            seat.lines.send(" ".join([setup, *(f"{move} {clock}" for move, clock in played)]))
        began = time.monotonic()
        move, _, analysis = seat.lines.ask(f"genmove {color} {clocks[color]}").partition(" ")
        clocks[color] -= int(1000 * (time.monotonic() - began))
        require(clocks[color] > -1000 * grace, f"{seat.name} loses on time at move {len(played) + 1}")
        if analysis:
            analysis = json.loads(analysis)
            check_analysis(analysis, move, size)
            analysed += 1
            several += len(analysis["moves"]) > 1
        if move == "resign":
            resigned = "W+Resign" if color == "b" else "B+Resign"
            break
        played.append((move, clocks[color]))
        # The program of the other side judges whether it is legal.
        other.lines.send(f"play {color} {move} {clocks[color]}")
        require(len(played) < 3 * size * size, "the game has no end")
    for seat in [black, white]:
        # This server cannot count; the programs do it below.
        over = seat.lines.ask(f"gameover {time.strftime('%Y-%m-%d')} {resigned or 'uncounted'}")
        require(over == "ready", "the client does not leave a finished game")
        seat.leave()
    scores = {seat.engine.ask("final_score")[0] for seat in [black, white]}
    require(len(scores) == 1, f"the programs count differently: {scores}")
    for seat in [black, white]:
        seat.engine.quit()
    require(analysed >= len(played) // 2, f"only {analysed} of {len(played)} moves have an analysis")
    require(several > 0, "no analysis has more than one move")
    print(f"a game of {len(played)} moves, {analysed} with analysis, {several} of these of several moves: {resigned or scores.pop()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("play", help="play on a server")
    for name in ["address", "name"]:
        playing.add_argument(name)
    playing.add_argument("password_file", help="file with the password on its first line")
    checking = commands.add_parser("check", help="play one game on a server of its own")
    checking.add_argument("--size", type=int, default=9)
    checking.add_argument("--seconds", type=float, default=10)
    checking.add_argument("--grace", type=float, default=0, help="seconds that a clock may be below zero, for busy machines")
    for sub in [playing, checking]:
        sub.add_argument("engine", nargs="+", help="the program and its arguments, after --")
    args = parser.parse_args()
    try:
        if args.command == "play":
            play(args.address, args.name, read_password(args.password_file), args.engine)
        else:
            check(args.size, args.seconds, args.grace, args.engine)
    except (OSError, RuntimeError, ValueError) as error:
        raise SystemExit(f"cgos: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
