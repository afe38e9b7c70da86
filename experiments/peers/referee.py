"""Plays matches between two GTP programs. It is independent of both: it checks each move and counts each board itself.

    python3 referee.py GAMES SEED 'PROGRAM ARGUMENTS' 'PROGRAM ARGUMENTS'

Each opening of two to four random moves is played twice, with colours exchanged. A program that plays an illegal move
loses the game. A program that exits, returns an error or exceeds the time limit makes the game void, and both programs
are restarted.
"""

import json
import os
import queue
import random
import shlex
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

from sgfmill import common

import rules

MAX_VOID = 3  # in a row


class EngineFailure(Exception):
    """A program exited, returned an error or exceeded its time limit."""


class Engine:
    """A GTP program. `setup` has commands before each game, and `on_pass` a command that captures dead stones first."""

    def __init__(self, name, command, time_limit=120.0, setup=(), on_pass=None):
        self.name, self.time_limit, self.setup, self.on_pass = name, time_limit, list(setup), on_pass
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def pin(self, core):
        """Runs the program on this core, so that programs of other games keep theirs."""
        if core is not None:
            os.sched_setaffinity(self.process.pid, {core})

    def send(self, command, time_limit=None):
        """The response to a command."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise EngineFailure(f"{self.name}: {command}: {error.strerror}") from error
        deadline = time.monotonic() + (time_limit or self.time_limit)
        response = []
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise EngineFailure(f"{self.name}: {command}: no response in time") from None
            if line is None:
                raise EngineFailure(f"{self.name}: {command}: the program exited")
            if line.strip():
                response.append(line)
            elif response:
                break
        text = "\n".join(response)
        if not text.startswith("="):
            raise EngineFailure(f"{self.name}: {command}: {text}")
        return text[1:].strip()

    def begin(self, position, seed):
        """Sets up a game and replays the opening."""
        # The first response of a program that compiles its network takes long.
        self.send(f"boardsize {position.size}", time_limit=600.0)
        for command in ("clear_board", f"komi {position.komi:g}", *self.setup):
            self.send(command.format(seed=seed))
        for turn, move in enumerate(position.moves):
            self.play("bw"[turn % 2], move)

    def genmove(self, colour):
        """A move, in lower case."""
        response = self.send(f"genmove {colour}").lower()
        if response == "pass" and self.on_pass:
            self.send("undo")
            response = self.send(f"{self.on_pass} {colour}").lower()
        return response

    def play(self, colour, move):
        self.send(f"play {colour} {common.format_vertex(move)}")

    def close(self):
        self.process.kill()
        self.process.wait()


@dataclass
class Game:
    """One game: `winner` is "b", "w", "draw" or "void"."""

    black: str
    winner: str
    reason: str
    moves: list = field(default_factory=list)


@dataclass
class Clock:
    """Seconds and moves of a player over a match."""

    seconds: float = 0.0
    moves: int = 0


def random_opening(generator, **options):
    """A position after two to four random moves."""
    position = rules.Position(**options)
    for _ in range(generator.randint(2, 4)):
        position.play(generator.choice(position.legal_points()))
    return position.moves


def play_game(players, opening, clocks, seed=1, **options):
    """Plays one game; `players` and `clocks` are by colour."""
    position = rules.Position(**options)
    for move in opening:
        position.play(move)

    def ended(winner, reason):
        return Game(players["b"].name, winner, reason, [common.format_vertex(move) for move in position.moves])

    try:
        for player in players.values():
            player.begin(position, seed)
        while not position.is_over():
            colour = position.to_move
            began = time.monotonic()
            response = players[colour].genmove(colour)
            clocks[colour].seconds += time.monotonic() - began
            clocks[colour].moves += 1
            if response == "resign":
                return ended(rules.OTHER[colour], "resignation")
            try:
                move = common.move_from_vertex(response, position.size)
                position.play(move)
            except ValueError:
                return ended(rules.OTHER[colour], f"illegal move {response}")
            players[rules.OTHER[colour]].play(colour, move)
    except EngineFailure as failure:
        return ended("void", str(failure))
    return ended(position.winner() or "draw", "score")


def play_match(start_first, start_second, games, seed, report=lambda game: None, cores=(None,), **options):
    """Plays a match and returns its result from the first player's side. The first arguments start the programs.

    On each core a pair of programs plays its share of the games, one after the other; None is any core.
    """
    generator = random.Random(seed)
    openings = [random_opening(generator, **options) for _ in range((games + 1) // 2)]
    waiting = iter(range(games))  # `next` of it is atomic

    def play_share(core):
        return play_games((start_first, start_second), openings, waiting, seed, report, core, **options)

    with ThreadPoolExecutor(len(cores)) as pool:
        shares = list(pool.map(play_share, cores))
    played = dict(sorted(item for games, _ in shares for item in games.items()))
    clocks = [Clock(sum(clock.seconds for clock in both), sum(clock.moves for clock in both))
              for both in zip(*(clocks for _, clocks in shares))]
    return result(list(played.values()), clocks)


def play_games(starts, openings, waiting, seed, report, core, **options):
    """Plays games that wait, until none does, with programs of its own on one core: games by number, and clocks."""
    clocks, played, engines, void = [Clock(), Clock()], {}, [], 0
    try:
        while (index := next(waiting, None)) is not None:
            if not engines:
                engines = [start() for start in starts]
                for engine in engines:
                    engine.pin(core)
            first_colour = "bw"[index % 2]
            seats = {first_colour: 0, rules.OTHER[first_colour]: 1}
            game = play_game({colour: engines[seat] for colour, seat in seats.items()}, openings[index // 2],
                             {colour: clocks[seat] for colour, seat in seats.items()}, seed * 1000 + index, **options)
            played[index] = game
            report(game)
            void = void + 1 if game.winner == "void" else 0
            if void == MAX_VOID:
                raise EngineFailure(f"{MAX_VOID} consecutive games were void; last error: {game.reason}")
            if game.winner == "void":
                for engine in engines:
                    engine.close()
                engines = []
    finally:
        for engine in engines:
            engine.close()
    return played, clocks


def result(games, clocks):
    """Wins, draws and losses of the first player, who is Black in the games of even number."""
    count = {"win": 0, "draw": 0, "loss": 0, "void": 0}
    for index, game in enumerate(games):
        won = game.winner == "bw"[index % 2]
        count[game.winner if game.winner in ("draw", "void") else "win" if won else "loss"] += 1
    decided = len(games) - count["void"]
    return {
        "games": decided, "wins": count["win"], "draws": count["draw"], "losses": count["loss"], "void": count["void"],
        "points": count["win"] + count["draw"] / 2,
        "illegal_moves": sum(game.reason.startswith("illegal") for game in games),
        "seconds_per_move": [clock.seconds / max(clock.moves, 1) for clock in clocks],
        "records": [asdict(game) for game in games],
    }


def main(games, seed, first, second):
    starts = [lambda command=command: Engine(command, shlex.split(command)) for command in (first, second)]
    report = lambda game: print(f"{game.winner:4} {game.reason}", flush=True)
    played = play_match(*starts, int(games), int(seed), report)
    print(json.dumps({key: value for key, value in played.items() if key != "records"}))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
