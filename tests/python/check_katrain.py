"""Lets KaTrain's own code analyse a game with an engine, and read an analysed game.

    PYTHONPATH=.venv/site python3 tests/python/check_katrain.py GAME.sgf ANALYSED.sgf COMMAND...

KaTrain's engine, game and nodes run; its windows and Kivy, which they do not need, do not.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import shlex
import threading
import time
import types
from pathlib import Path

VISITS = 25
PATIENCE = 120  # seconds


def stub_kivy():
    """The two names of Kivy that KaTrain's core imports."""
    for name in ("kivy", "kivy.utils", "kivy._event"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["kivy.utils"].platform = "linux"
    sys.modules["kivy._event"].Observable = type("Observable", (), {"__init__": lambda self: None})


stub_kivy()

from katrain.core.constants import OUTPUT_DEBUG, OUTPUT_ERROR
from katrain.core.engine import KataGoEngine
from katrain.core.game import Game, KaTrainSGF
from katrain.core.game_node import GameNode
from pysgf import Move


class KaTrain:
    """What the engine and the game ask of the program around them."""

    def __init__(self):
        self.errors, self.lines, self.players_info = [], [], {}

    def log(self, message, level=0):
        if level == OUTPUT_ERROR:
            self.errors.append(message)
        elif level == OUTPUT_DEBUG:
            self.lines.append(message)

    def config(self, setting, default=None):
        return {"game/rules": "chinese", "game/handicap": 0}.get(setting, default)

    def __call__(self, *message):
        self.errors.append(message)


CONFIG = {
    "backend": "custom", "max_visits": VISITS, "fast_visits": VISITS, "max_time": 60, "wide_root_noise": 0.04,
    "_enable_ownership": True, "allow_recovery": False,
}


def main():
    path, analysed, command = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    katrain = KaTrain()
    engine = KataGoEngine(katrain, {**CONFIG, "altcommand": "exec " + shlex.join(command)})
    game = Game(katrain, engine, move_tree=KaTrainSGF.parse_sgf(path.read_text()))
    nodes = game.root.nodes_in_tree
    wait(lambda: all(node.analysis_complete for node in nodes), "the analysis of the game")
    for node in nodes:
        check_node(node)
    last = nodes[-1]
    asks_for_more(engine, last)
    ponders(engine, last)
    starts_again(engine, last)
    reports_illegal_moves(engine, last)
    assert not katrain.errors, katrain.errors
    process = engine.katago_process
    engine.shutdown(finish=True)
    assert process.wait(PATIENCE) in (0, 4), process.returncode
    read = reads_analysis(katrain, analysed)
    print(f"KaTrain analysed {len(nodes)} positions and read {read}")


def check_node(node):
    """What KaTrain shows of a node."""
    root, moves = node.analysis["root"], node.candidate_moves
    assert root["visits"] == VISITS and 0 <= node.winrate <= 1, root
    # A move that was played has the analysis of its own node, which has visits of its own.
    assert moves[0]["order"] == 0 and sum(move["order"] == 0 for move in moves) == 1, moves
    for move in moves:
        known = ("visits", "winrate", "scoreLead", "scoreStdev", "utility", "lcb", "pv", "prior", "pointsLost")
        assert node.player is None or all(key in move for key in known if key != "prior"), move
    side = node.board_size[0]
    assert len(node.policy) == side * side + 1 and abs(sum(p for p in node.policy if p > 0) - 1) < 1e-3
    taken = {stone.coords for ancestor in node.nodes_from_root for stone in ancestor.moves if not stone.is_pass}
    ranked = node.policy_ranking
    assert all(chance == -1 for chance, move in ranked if move.coords in taken), "points with stones have no chance"
    assert node.ownership is None and node.format_winrate() and node.format_score()
    if node.parent:
        assert node.points_lost is not None and "Win" in node.comment(sgf=True, details=True)


def asks_for_more(engine, node):
    """Alternatives, a region, and a move of the player's choice."""
    known = set(node.analysis["moves"])
    analyse(engine, node, find_alternatives=True)
    assert set(node.analysis["moves"]) > known, "alternatives"
    side = node.board_size[0]
    node.clear_analysis()
    analyse(engine, node, region_of_interest=[0, 2, 0, 2])
    inside = [Move.from_gtp(gtp).coords for gtp in node.analysis["moves"] if gtp != "pass"]
    assert inside and all(max(coords) <= 2 for coords in inside), inside
    node.clear_analysis()
    analyse(engine, node)
    assert node.analysis_complete, "the node again"
    free = next(move for chance, move in reversed(node.policy_ranking) if chance >= 0 and not move.is_pass)
    analyse(engine, node, refine_move=free, visits=9)
    chosen = node.analysis["moves"][free.gtp()]
    assert chosen["visits"] >= 9 and chosen["pv"][0] == free.gtp() and side, chosen


def analyse(engine, node, **settings):
    """Analyses a node again until KaTrain has taken the last report. One that comes later would add to what is cleared."""
    taken = threading.Event()

    def take(*report):
        GameNode.set_analysis(node, *report)
        is_partial = report[-1]
        if not is_partial:
            taken.set()

    node.set_analysis = take
    node.analyze(engine, **settings)
    assert taken.wait(PATIENCE), f"no analysis with {settings}"
    del node.set_analysis


def ponders(engine, node):
    """Search without end that is stopped: results grow, and one last result comes."""
    node.clear_analysis()
    node.analyze(engine, ponder=True)
    wait(lambda: node.root_visits > 2 * VISITS, "pondering")
    assert not node.analysis["completed"]
    engine.stop_pondering()
    wait(lambda: node.analysis_complete and engine.is_idle(), "the end of pondering")


def starts_again(engine, node):
    """A new game stops what is asked for."""
    for _ in range(5):
        engine.request_analysis(node, callback=lambda *_: None, visits=10_000_000, time_limit=False)
    wait(lambda: engine.queries_remaining() == 5, "five queries")
    engine.on_new_game()
    node.clear_analysis()
    node.analyze(engine)
    wait(lambda: node.analysis_complete, "analysis after a new game")


def reports_illegal_moves(engine, node):
    """An error goes to its query."""
    taken = next(ancestor.move for ancestor in node.nodes_from_root if ancestor.move and not ancestor.move.is_pass)
    found = threading.Event()
    errors = []

    def on_error(response):
        errors.append(response)
        found.set()

    move = Move(taken.coords, player=node.next_player)
    engine.request_analysis(node, callback=None, error_callback=on_error, next_move=move)
    assert found.wait(PATIENCE) and "Illegal move" in errors[0]["error"], errors


def reads_analysis(katrain, path):
    """What `tengen analyze` wrote is KaTrain's own analysis: nothing of the main line is searched again."""
    root = KaTrainSGF.parse_sgf(path.read_text())
    node, count = root, 0
    while node:
        assert node.load_analysis() and node.analysis_complete, node
        assert node.candidate_moves[0]["order"] == 0 and len(node.policy) == node.board_size[0] ** 2 + 1
        if node.parent:
            assert isinstance(node.points_lost, float)
        count += 1
        node = node.children[0] if node.children and "SBKV" in node.children[0].properties else None
    assert isinstance(root, GameNode)
    return count


def wait(condition, what):
    """Waits for what KaTrain's threads do."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come")
        time.sleep(0.01)


if __name__ == "__main__":
    main()
