"""Tests of the referee, of resuming, and of the table: python3 -m unittest discover experiments/peers

They need sgfmill of requirements.txt and skip without it. They start no peer.
"""

import contextlib
import io
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True  # keep the checkout clean

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import inference
import kept
import measure
import peer_openspiel
import peer_pgx
import peer_tengen
import run
import units

try:
    import sgfmill.boards
except ImportError:
    sys.path.append(str(run.site()))

try:
    import gtp
    import matches
    import pages
    import rates
    import referee
    import rules
    import sgfmill.common
    import table
except ImportError as error:
    raise unittest.SkipTest(f"{error}; `make peers` installs it") from error

HERE_NOW = {"processor": "AMD EPYC", "family": "25", "model": "17", "cores": 2, "instructions": "avx2",
            "memory_gib": 8.0}

# A GTP program that responds to genmove with the words of its arguments in turn and then passes; "exit" exits.
SCRIPTED = """
import sys
moves = sys.argv[1:]
for line in sys.stdin:
    word = line.split()[0]
    if word == "clear_board":
        left = list(moves)
    response = (left.pop(0) if left else "pass") if "genmove" in word else ""
    if response == "exit":
        sys.exit()
    print("? " + response[1:] if response.startswith("?") else "= " + response, end="\\n\\n", flush=True)
"""


def scripted(name, *moves, **options):
    return lambda: referee.Engine(name, [sys.executable, "-c", SCRIPTED, *moves], time_limit=60, **options)


def position(moves, **options):
    """A position after moves such as "A1 pass"."""
    made = rules.Position(**options)
    for move in moves.split():
        made.play(sgfmill.common.move_from_vertex(move, made.size))
    return made


def refusal(moves, move):
    made = position(moves)
    return made.refusal(sgfmill.common.move_from_vertex(move, made.size))


class RulesTest(unittest.TestCase):
    def test_moves_on_stones_are_refused(self):
        self.assertEqual(refusal("A1", "A1"), "occupied")

    def test_suicide_is_refused_and_capture_is_not(self):
        self.assertEqual(refusal("A2 pass B1", "A1"), "suicide")
        self.assertIsNone(refusal("A2 pass B1 B2 pass A3 C9 C1 pass", "A1"), "captures A2 and B1")

    def test_superko_is_refused_until_the_board_differs(self):
        ko = "B1 C1 A2 D2 B3 C3 C2 B2"  # White has just captured C2
        self.assertEqual(refusal(ko, "C2"), "superko")
        self.assertIsNone(refusal(f"{ko} G7 G8", "C2"))

    def test_board_is_counted_by_area(self):
        wall = " ".join(f"E{row} F{row}" for row in range(1, 10))  # Black has 45 points, White 36
        for komi, winner in ((7.0, "b"), (9.0, None), (10.0, "w")):
            self.assertEqual(position(wall, komi=komi).winner(), winner)

    def test_dead_stones_count_as_they_stand(self):
        wall = " ".join(f"E{row} F{row}" for row in range(1, 10))
        self.assertEqual(position(f"{wall} pass A1").winner(), "w", "a stone of White makes the region neutral")

    def test_two_passes_or_the_limit_end_the_game(self):
        self.assertFalse(position("pass A1 pass").is_over())
        self.assertTrue(position("A1 pass pass").is_over())
        self.assertTrue(position("A1 B1 C1", move_limit=3).is_over())


class RefereeTest(unittest.TestCase):
    def play(self, first, second, games=2, **options):
        return referee.play_match(first, second, games, seed=1, **options)

    def test_passing_players_leave_the_win_to_komi(self):
        played = self.play(scripted("a"), scripted("b"), komi=100.0)
        self.assertEqual((played["wins"], played["losses"], played["points"]), (1, 1, 1))
        first, second = (game["moves"] for game in played["records"])
        self.assertEqual(first, second, "each opening is played with both colours")

    def test_games_on_several_cores_are_those_on_one(self):
        alone = self.play(scripted("a"), scripted("b", "resign"), games=5)
        cores = [min(os.sched_getaffinity(0))] * 2
        together = self.play(scripted("a"), scripted("b", "resign"), games=5, cores=cores)
        clocks = [each.pop("seconds_per_move") for each in (alone, together)]
        self.assertEqual(alone, together)
        self.assertTrue(all(seconds > 0 for clock in clocks for seconds in clock))

    def test_draws_count_half(self):
        played = self.play(scripted("a"), scripted("b"), komi=0.0, games=2)
        self.assertEqual(played["games"], 2)
        empty = referee.result([referee.Game("a", "draw", "score"), referee.Game("b", "draw", "score")],
                               [referee.Clock(), referee.Clock()])
        self.assertEqual((empty["draws"], empty["points"]), (2, 1.0))

    def test_resignation_loses(self):
        played = self.play(scripted("a"), scripted("b", "resign"))
        self.assertEqual((played["wins"], played["records"][0]["reason"]), (2, "resignation"))

    def test_player_may_capture_dead_stones_before_a_pass(self):
        [game, _] = self.play(scripted("a", "pass", "E5", on_pass="kgs-genmove_cleanup"), scripted("b"))["records"]
        self.assertEqual([move for move in game["moves"] if move in ("E5", "pass")], ["E5", "pass", "pass"])

    def test_illegal_move_loses(self):
        played = self.play(scripted("a", "Z99"), scripted("b"))
        self.assertEqual((played["losses"], played["illegal_moves"]), (2, 2))
        opening = sgfmill.common.format_vertex(referee.random_opening(random.Random(1))[0])
        played = self.play(scripted("a", opening), scripted("b"))
        self.assertEqual(played["records"][0]["reason"], f"illegal move {opening.lower()}")

    def test_crash_voids_the_game_and_is_reported(self):
        played = self.play(scripted("a"), scripted("b", "E5", "exit"))
        self.assertEqual((played["games"], played["void"], played["points"]), (0, 2, 0))
        self.assertIn("b: genmove", played["records"][0]["reason"])
        self.assertIn("exited", played["records"][0]["reason"])

    def test_error_response_voids_the_game(self):
        played = self.play(scripted("a", "?out of memory"), scripted("b"))
        self.assertEqual(played["void"], 2)
        self.assertIn("out of memory", played["records"][0]["reason"])

    def test_match_of_void_games_fails(self):
        with self.assertRaisesRegex(referee.EngineFailure, "3 consecutive games were void"):
            self.play(scripted("a", "exit"), scripted("b"), games=10)

    def test_openings_have_two_to_four_legal_moves(self):
        lengths = {len(referee.random_opening(random.Random(seed))) for seed in range(40)}
        self.assertEqual(lengths, {2, 3, 4})


class GtpTest(unittest.TestCase):
    class First:
        """Plays the first legal action."""

        def clear(self):
            self.played = []

        def play(self, action):
            self.played.append(action)

        def choose(self, legal):
            return legal[0]

    def test_session_tells_the_player_all_moves(self):
        session = gtp.Session("first", self.First())
        for command in ("boardsize 9", "clear_board", "play b A1"):
            self.assertEqual(session.respond(*command.split()), "")
        self.assertEqual(session.respond("genmove", "w"), "B1")
        self.assertEqual(session.respond("genmove", "b"), "C1", "a move after a move, without `play`")
        self.assertEqual(session.player.played, [0, 1, 2])

    def test_errors_are_refused(self):
        session = gtp.Session("first", self.First())
        for command in ("boardsize 19", "play w A1", "undo"):
            with self.assertRaises(ValueError):
                session.respond(*command.split())


class TengenTest(unittest.TestCase):
    def test_counters_of_a_run_that_ends_within_its_response_are_the_last_known(self):
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
            runs = peer_tengen.Runs({"configs": []}, folder, 1)
            self.addCleanup(runs.stop)
            runs.metrics, runs.running = f"127.0.0.1:{server.getsockname()[1]}", {"updates": 3.0}

            def respond():
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntengen_train_steps_total 4")

            thread = threading.Thread(target=respond, daemon=True)
            thread.start()
            with mock.patch.dict(os.environ, {"no_proxy": "127.0.0.1"}):
                self.assertEqual(runs.counts()["updates"], 3.0)
            thread.join()


class PgxTest(unittest.TestCase):
    def test_game_that_ends_in_a_later_iteration_has_its_outcome_in_earlier_ones(self):
        import numpy as np

        def iteration(moves, rewards=None, ended=None):
            planes, policy = np.zeros((moves, 1, 9, 9, 17), bool), np.zeros((moves, 1, 82), np.float32)
            rewards, ended = rewards or {}, ended or []
            return [planes, policy, np.array([[rewards.get(move, 0.0)] for move in range(moves)]),
                    np.array([[move in ended] for move in range(moves)])]

        # A game ends with the second move of the second iteration, which its player won; the next one goes on.
        window = [iteration(3), iteration(4, {1: 1.0}, [1])]
        planes, _, outcome, known = peer_pgx.examples(window)
        self.assertEqual(len(planes), 7)
        self.assertEqual(outcome[:5].tolist(), [1.0, -1.0, 1.0, -1.0, 1.0])
        self.assertEqual(known.tolist(), [True] * 5 + [False] * 2)

    def test_buffer_of_the_cpu_row_is_longer_than_a_game(self):
        settings = peer_pgx.ROWS["cpu"]
        self.assertGreater(settings["window"] * settings["moves"], 2 * peer_pgx.SIZE ** 2)


class OpenSpielTest(unittest.TestCase):
    def test_evaluations_are_the_misses_of_all_caches(self):
        with tempfile.TemporaryDirectory() as folder:
            move = "[t] Player 1 sampled action: W a1\n"
            cache = "[t] Inference cache: CacheInfo(hits=1000, misses={}, size=9, max_size=65536)\n".format
            first, second = (Path(folder, f"log-actor-{actor}.txt") for actor in (0, 1))
            first.write_text(cache(0) + move)
            self.assertIsNone(peer_openspiel.evaluations_of(folder), "nothing is known of the moves so far")
            first.write_text(cache(0) + move + cache(30) + move + cache(5))
            second.write_text(move + cache(7))
            self.assertEqual(peer_openspiel.evaluations_of(folder), 42)
            second.write_text(move + cache(7) + move)
            self.assertEqual(peer_openspiel.evaluations_of(folder), 56, "the last move is like the three before")

    def test_updates_are_those_of_all_steps(self):
        settings = {"buffer": 2048, "batch": 64}
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(peer_openspiel.updates_of(settings, folder), 0)
            lines = [json.dumps({"step": step, "total_states": 1000 * step}) for step in (1, 2, 3)]
            Path(folder, "learner.jsonl").write_text("\n".join(lines) + '\n{"step": 4, "total')
            self.assertEqual(peer_openspiel.updates_of(settings, folder), 15 + 31 + 32)


class CalibrationTest(unittest.TestCase):
    class Player:
        """Plays the first empty point of its half of the board and takes a share of a second per visit."""

        def __init__(self, clock, seconds, visits, kept=1.0):
            self.clock, self.seconds, self.kept = clock, seconds * visits, kept

        def begin(self, position, seed):
            self.position, self.seconds = position, self.seconds * self.kept

        def genmove(self, colour):
            self.clock[0] += self.seconds
            return sgfmill.common.format_vertex(self.position.legal_points()[0])

        def play(self, colour, move):
            pass

        def pin(self, core):
            pass

        def close(self):
            pass

    def test_visits_take_both_players_the_time(self):
        clock = [0.0]
        starts = [lambda visits, seconds=seconds: self.Player(clock, seconds, visits) for seconds in (0.001, 0.02)]
        with mock.patch("matches.time.monotonic", side_effect=lambda: clock[0]):
            self.assertEqual(matches.visits_for(starts, 0.1), [100, 5])

    def test_player_that_keeps_what_it_knows_gets_no_visits_for_it(self):
        # The second player takes half of the time in each game after its first, and is never too fast itself.
        clock = [0.0]
        starts = [lambda visits: self.Player(clock, 0.001, visits),
                  lambda visits: self.Player(clock, 0.02, visits, kept=0.5)]
        with mock.patch("matches.time.monotonic", side_effect=lambda: clock[0]):
            self.assertEqual(matches.visits_for(starts, 0.1), [100, 10])


class FirstUpdateTest(unittest.TestCase):
    def test_pgx_needs_an_iteration_at_the_rate_after_compilation(self):
        def minutes(positions, seconds):
            settings = {"games": 1000, "moves": 101}
            return peer_pgx.minutes_to_first_update(settings, positions, seconds, chunk=1, compiled=120.0)

        self.assertIsNone(minutes(0, 60.0))
        self.assertEqual(minutes(1000, 120.0), 101 * 2, "with compilation, as no other move is known")
        self.assertEqual(minutes(2000, 180.0), 2 + 100)
        self.assertEqual(minutes(101_000, 180.0), 3, "the iteration is complete")

    def test_openspiel_needs_a_share_of_its_buffer(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(peer_openspiel.positions_of(folder), 0)
            for actor, moves in enumerate((3, 5)):
                line = "[2026-01-01 00:00:00.000] Player 1 sampled action: W a1\n"
                Path(folder, f"log-actor-{actor}.txt").write_text("actor started\n" + line * moves)
            self.assertEqual(peer_openspiel.positions_of(folder), 8)
        settings = {"buffer": 64, "reuse": 4}
        self.assertEqual(peer_openspiel.minutes_to_first_update(settings, 8, 300.0), 10)
        self.assertIsNone(peer_openspiel.minutes_to_first_update(settings, 0, 300.0))

    def test_table_says_when_it_would_be(self):
        for result, text in (((0, 312.4), "0; the first after 312 minutes"), ((80, None), "80.0")):
            self.assertEqual(table.updates(dict(zip(("updates", "minutes_to_first_update"), result))), text)


class MeasureTest(unittest.TestCase):
    def test_memory_of_descendants_is_that_of_the_process_that_needs_it(self):
        child = "x = b'1' * (64 << 20)\nprint(flush=True)\ninput()"
        with measure.PeakMemory() as whole, measure.PeakMemory(own=False) as descendants:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            with subprocess.Popen([sys.executable, "-c", child], **pipes) as process:
                process.stdout.readline()
                deadline = time.monotonic() + 60
                while not whole.bytes > descendants.bytes > 64 << 20 and time.monotonic() < deadline:
                    time.sleep(0.05)
                process.communicate(b"\n")
        self.assertTrue(whole.bytes > descendants.bytes > 64 << 20, (whole.bytes, descendants.bytes))

    def test_time_after_the_last_sample_is_not_that_of_others(self):
        usage = measure.Usage()
        burn = "import time\nwhile time.process_time() < 0.5: pass"
        subprocess.run([sys.executable, "-c", burn], check=True)
        busy = usage.busy + 0.5 * os.sysconf("SC_CLK_TCK")
        with mock.patch("measure.busy_ticks", return_value=busy):
            self.assertEqual(usage.of_others(), 0.0)


class ResumeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results, self.executed, self.asked, self.minutes = kept.Results(folder.name), [], {}, {}

    def units(self):
        for name, needs in (("one", ()), ("two", ("one",)), ("three", ("two",))):
            yield units.Unit(name, "inference", "measure", lambda name=name: self.asked.get(name, {}), needs,
                             self.minutes.get(name, 0))

    def execute(self, unit):
        self.executed.append(unit.name)
        if unit.name == self.fails:
            raise RuntimeError("exit code 1")
        return {"unit": unit.name, "arguments": unit.arguments(), "result": 1, "seconds": 0.0}

    def run_all(self, fails=None, **options):
        self.fails, self.executed = fails, []
        about = {"date": "2026-01-01", "machine": HERE_NOW}
        with contextlib.redirect_stdout(io.StringIO()):
            return run.run_all(self.units(), self.results, self.execute, about, **options)

    def test_failed_unit_runs_again_and_complete_ones_do_not(self):
        self.assertEqual(self.run_all(fails="two"), {"two": "exit code 1", "three": "needs two"})
        self.assertEqual(self.executed, ["one", "two"])
        self.assertEqual(self.run_all(), {})
        self.assertEqual(self.executed, ["two", "three"])
        self.run_all()
        self.assertEqual(self.executed, [])

    def test_units_that_do_not_fit_in_the_minutes_are_not_begun(self):
        self.minutes = {"one": 5, "two": 60}
        problems = self.run_all(minutes=10)
        self.assertEqual(self.executed, ["one"])
        self.assertEqual(problems, {"two": "takes about 60 minutes, more than were left", "three": "needs two"})
        self.assertEqual(self.run_all(minutes=61), {})

    def test_partial_file_is_no_result(self):
        self.results.path("one").with_suffix(".partial").write_text("{")
        self.assertFalse(self.results.has("one"))

    def test_unit_whose_arguments_changed_is_refused_or_measured_again(self):
        self.asked = {"two": {"minutes": [5], "folder": "/checkout"}}
        self.run_all()
        self.asked = {"two": {"minutes": [5], "folder": "/another/checkout"}}
        self.assertIsNone(kept.refusal(list(self.units()), self.results, HERE_NOW))
        self.asked = {"two": {"minutes": [5, 25]}}
        reason = kept.refusal(list(self.units()), self.results, HERE_NOW)
        self.assertTrue(reason.endswith("two.json: measured with other minutes"), reason)
        self.results.forget("one")  # `two` may change with it
        self.assertIsNone(kept.refusal(list(self.units()), self.results, HERE_NOW))
        self.run_all()
        self.assertEqual(self.executed, ["one", "two", "three"], "units that need another one follow it")

    def test_result_of_no_unit_is_refused(self):
        self.run_all()
        [*fewer, _] = self.units()
        self.assertIn("three.json: no unit of this form", kept.refusal(fewer, self.results, HERE_NOW))

    def test_results_of_another_machine_are_refused(self):
        self.run_all()
        todo = list(self.units())
        self.assertIsNone(kept.refusal(todo, self.results, {**HERE_NOW, "memory_gib": 7.9}))
        for other in ({"cores": 4}, {"family": "26"}, {"model": "1"}):
            reason = kept.refusal(todo, self.results, {**HERE_NOW, **other})
            self.assertIn("another machine (AMD EPYC, family 25, model 17, 2 cores, avx2; this is", reason)

    def test_results_are_kept_without_games_and_folders(self):
        first = {"folder": "/checkout", "minute": 5}
        self.results.write("one", {"arguments": {"first": first}, "result": {"points": 1, "records": [1]}})
        self.assertEqual(self.results.document("one"), {"arguments": {"first": {"minute": 5}}, "result": {"points": 1}})

    def test_training_is_kept_with_the_networks_that_matches_need(self):
        files = {peer_tengen: ["5.json", "store/9x9/run.toml", "store/9x9/models/000012/model.toml"],
                 peer_pgx: ["5.msgpack"], peer_openspiel: ["checkpoint-5/d/data"]}
        others = ["25.json", "25.msgpack", "log", "store/9x9/models/000013/model.toml", "checkpoint-25/d/data"]
        for module, wanted in files.items():
            unit = units.Unit(f"train {module.NAME}", module.__name__, "train", dict)
            for path in [*wanted, *others]:
                file = self.results.scratch(unit.name) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps({"model": "9x9-12"}))
            result = {"checkpoints": [{"updates": 1}, {"updates": 0}]}
            document = {"arguments": {"minutes": [5, 25]}, "result": result}
            for _ in range(2):  # the second time it replaces the first
                self.results.write(unit.name, document, run.networks_of(unit, self.results, document))
            networks = self.results.networks(unit.name)
            found = sorted(str(path.relative_to(networks)) for path in networks.rglob("*") if path.is_file())
            self.assertEqual(found, sorted(wanted))

    def test_forms_have_unique_units_whose_needs_come_first(self):
        for form in units.FORMS.values():
            seen = set()
            for unit in units.units(form, self.results):
                self.assertTrue(set(unit.needs) <= seen, unit.name)
                self.assertNotIn(unit.name, seen)
                self.assertGreater(unit.minutes, 0)
                seen.add(unit.name)

    def test_all_rows_are_measured_with_a_seed_before_the_next_one(self):
        names = [unit.name for unit in units.units(units.FORMS["full"], self.results)]
        beginnings = ["inference 4x32", "tune pgx", "train tengen 9x9 1", "train pgx cpu 1",
                      "match pgx cpu 1 5 GNU Go level 1", "match pgx cpu 1 60 tengen 9x9 seconds",
                      "train openspiel example 1", "train tengen 9x9 2", "train pgx cpu 2"]
        self.assertEqual(sorted(beginnings, key=names.index), beginnings)

    def test_seeds_share_the_games_in_pairs(self):
        form = units.Form("form", 1.0, [], {}, [1, 2, 3], 100, 1, once=("alone",))
        self.assertEqual([form.games_of(row) for row in ("all", "alone")], [34, 100])

    def test_network_of_a_training_that_stopped_has_no_updates(self):
        form = units.FORMS["full"]
        self.results.write("train pgx example 1", {"arguments": {"settings": {}}, "result": {
            "checkpoints": [{"minutes": 5.1, "updates": 0}]}})
        found = [units.player(form, self.results, "pgx example", 1, minute) for minute in (5, 25)]
        self.assertEqual([player["updates"] for player in found], [0, 0])
        self.assertEqual(matches.play(found[1], {}, 100, 1, visits=32),
                         {"games": 0, "reason": "pgx example had not trained yet"})

    def test_matches_are_between_networks_that_were_saved(self):
        for form in units.FORMS.values():
            for row, minutes in form.minutes.items():
                for seed in form.seeds:
                    saved = [{"minutes": minute, "updates": 1} for minute in minutes]
                    self.results.write(f"train {row} {seed}", {"arguments": {"settings": {}},
                                                               "result": {"checkpoints": saved}})
            for name in units.TUNED:
                self.results.write(f"tune {name}", {"result": {"settings": {}}})
            played = [unit for unit in units.units(form, self.results) if unit.module == "matches"]
            self.assertTrue(played)
            for unit in played:
                first, second = (unit.arguments()[side] for side in ("first", "second"))
                self.assertTrue(second["module"] == "peer_gnugo" or first["minute"] == second["minute"], unit.name)


def simulated(unit):
    """A document as a unit of the full form may write it."""
    arguments, rate = unit.arguments(), 12345.6
    if unit.function == "play":
        trained = arguments["first"]["updates"] and arguments["second"].get("updates", 1)
        result = {"games": 0, "reason": "openspiel example had not trained yet"}
        if trained:
            result = {"games": arguments["games"], "points": arguments["games"] / 2 - 0.5, "void": 2,
                      "visits": [1536, 1489], "seconds_per_move": [0.1, 0.1]}
    elif unit.function == "train":
        minutes, folder = arguments["minutes"], Path(arguments["folder"])
        for path in ("store/9x9/models/000012/model.toml", "store/9x9/run.toml",
                     *(f"{minute}.{suffix}" for minute in minutes for suffix in ("json", "msgpack")),
                     *(f"checkpoint-{minute}/data" for minute in minutes)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(json.dumps({"model": "9x9-12"}))
        updates = 0 if "example" in unit.name else 98765
        saved = [{"minutes": minute + 0.05, "positions": 600 * minute, "updates": updates}
                 for minute in (minutes if updates else minutes[:1])]
        result = {"checkpoints": saved, "updates": updates, "positions": rate, "positions_per_s": rate,
                  "evaluations_per_s": rate, "examples_per_s": None,
                  "minutes_to_first_update": None if updates else 312.5}
    elif unit.function == "tune":
        result = {"settings": run.peer(unit.name.split()[1]).ROWS["cpu"], "positions_per_s": {"8": rate, "32": 1.0},
                  "duels": [{"settings": {"uses": 4}, "mean_reward_against_the_best_before": 0.1}]}
    elif unit.function == "measure":
        result = {"cases": [{"engine": engine, "batch": batch, "evaluations_per_s": rate} for batch in (1, 64)
                            for engine in ("int16 avx2", "f32", "onnxruntime 1", "openvino 1", "openvino-bf16 1")]}
    elif "leelaz" in unit.name:
        result = {"visits_per_s": rate, "tengen_visits_per_s": rate / 2}
    else:
        result = {**dict.fromkeys(rates.SPEEDS, rate), "batch": 64, "selfplay_bytes": 1e9}
    return {"unit": unit.name, "arguments": arguments, "result": result, "seconds": 1.0, "peak_bytes": 2e9,
            "share_of_others": 0.2}


class PagesTest(unittest.TestCase):
    def complete(self, folder):
        """The documents of a full form that was run in two parts."""
        results = kept.Results(folder)
        about = {"machine": HERE_NOW, "form": "full", "versions": dict.fromkeys(table.PROGRAMS, "2026.12.1")}
        todo = list(units.units(units.FORMS["full"], results))
        for part, date in ((todo[:40], "2026-12-01"), (todo, "2026-12-03")):
            with contextlib.redirect_stdout(io.StringIO()), mock.patch("run.missing", return_value=None):
                self.assertEqual(run.run_all(part, results, simulated, {**about, "date": date}), {})
            self.assertIsNone(kept.refusal(todo, results, HERE_NOW))
        documents = rates.read(results.kept)
        self.assertEqual(len(documents), len(todo))
        return documents

    def outputs(self, select=dict):
        """The outputs of those documents that `select` leaves."""
        with tempfile.TemporaryDirectory() as folder:
            documents = select(self.complete(Path(folder, "results")))
            root = Path(folder)
            for path in (pages.README, pages.SUMMARY, pages.PAGE, pages.PICTURE):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / pages.SUMMARY).write_text((run.ROOT / pages.SUMMARY).read_text().replace(pages.LINE, ""))
            readme = f"a\n{pages.BEGIN}old\n{pages.END}b\n"
            (root / pages.README).write_text(readme)
            for _ in range(2):  # its own outputs do not change them
                outputs = pages.outputs(documents, root)
                for path, text in outputs.items():
                    (root / path).write_text(text)
        return outputs

    def test_page_says_which_units_are_not_measured_yet(self):
        outputs = self.outputs(lambda documents: {
            name: document for name, document in documents.items()
            if " pgx cpu 2" not in name and name != "match tengen 9x9 2 60 GNU Go level 10"})
        rows = outputs[pages.PAGE].partition("## Not measured yet\n")[2].splitlines()[1:]
        self.assertEqual(rows, ["| row, seed | units |", "|---|---|", "| tengen 9x9 2 | 1 of 7 |",
                                "| pgx cpu 2 | 13 of 13 |"])
        self.assertIn("; 82 of 96 measurements so far. ", " ".join(outputs[pages.README].split()))

    def test_first_unit_makes_a_page(self):
        outputs = self.outputs(lambda documents: dict(list(documents.items())[:1]))
        self.assertIn("; 1 of 96 measurements so far. ", " ".join(outputs[pages.README].split()))
        self.assertIn("| tengen 9x9 | –", outputs[pages.README])
        self.assertNotIn(pages.PICTURE, outputs)
        for path in (pages.README, pages.PAGE):
            self.assertNotIn(".svg", outputs[path])

    def test_outputs_of_complete_results_fit_the_rules_of_documents(self):
        outputs = self.outputs()
        self.assertEqual(outputs[pages.SUMMARY].count(pages.LINE), 1)
        self.assertNotIn("old", outputs[pages.README])
        self.assertTrue(outputs[pages.README].endswith(f"{pages.END}b\n"))
        self.assertIn("| pgx cpu | 12,346 | 49% | 49% | 49% | 51% |", outputs[pages.README])
        self.assertIn("| openspiel example | – | –", outputs[pages.README])
        self.assertIn("2026-12-01 to 2026-12-03", outputs[pages.PAGE])
        self.assertIn("| pgx example 1 | 5.05 |", outputs[pages.PAGE])
        for path in (pages.README, pages.PAGE):
            self.assertIn("peers.svg", outputs[path])
            self.assertNotIn("measured", outputs[path])
        for path in (pages.README, pages.PAGE):
            for line in outputs[path].splitlines():
                self.assertLessEqual(len(line), 120, f"{path}: {line}")

    def test_page_is_made_of_the_results_in_the_repository(self):
        if (run.ROOT / pages.PAGE).exists():
            for path, text in pages.outputs(rates.read(pages.FULL), run.ROOT).items():
                self.assertEqual((run.ROOT / path).read_text(), text, f"{path}: run experiments/peers/pages.py")


class KeptTest(unittest.TestCase):
    def test_results_in_the_repository_are_small(self):
        size = sum(path.stat().st_size for path in (HERE / "full").rglob("*") if path.is_file())
        self.assertLess(size, 25e6)


if __name__ == "__main__":
    unittest.main()
