"""Tests of the tables and of the picture: python3 -m unittest discover experiments/peers"""

import unittest
from unittest import mock

import test_peers  # finds the packages, or skips

import inference
import picture
import rates
import table
import wins


def match(first, second, points, games=10, **more):
    documents = {}
    side = lambda name, minute: {"name": name, "minute": minute, "module": "peer_gnugo" if "Go" in name else "peer_x"}
    limit = {"visits": 32} if "seconds" not in more else {}
    arguments = {"first": side(*first), "second": side(*second), "seed": 1, "games": games, **limit, **more}
    result = {"games": games, "points": points, "void": 0, "visits": [32, 32], "seconds_per_move": [0.1, 0.2]}
    documents[f"match {first} {second}"] = {"unit": "match", "arguments": arguments, "result": result, "form": "short",
                                            "date": "2026-01-01", "seconds": 1.0}
    return documents


class TableTest(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([rates.number(value) for value in (12345.6, 12.345, 0.01234, 0, None)],
                         ["12,346", "12.3", "0.0123", "0", "–"])

    def test_highest_rate_wins_whoever_has_it(self):
        self.assertEqual(rates.winner({"Tengen": 10.0, "pgx": 25.0, "c": None}), "pgx, 2.50 times Tengen")
        self.assertEqual(rates.winner({"Tengen": 0.5, "pgx": 2.0, "c": None}, lowest=True), "Tengen, 0.250 times pgx")
        self.assertEqual([rates.winner(some) for some in ({"pgx": 1.0}, {"pgx": None})], ["pgx", "–"])

    def test_rates_within_5_percent_are_equal(self):
        self.assertEqual(rates.winner({"Tengen": 10.0, "pgx": 10.4}), "pgx and Tengen, equal")
        documents = {f"speed {name} 4x32": {"result": {"share_of_network": 0.5, "positions_per_s": rate}}
                     for name, rate in (("tengen", 10.0), ("pgx", 10.4))}
        self.assertEqual(wins.won(documents, ""), [])
        points = {**match(("tengen 9x9", 60), ("GNU Go level 1", 0), 96, games=100),
                  **match(("pgx cpu", 60), ("GNU Go level 1", 0), 100, games=100)}
        self.assertEqual(len(wins.won(points, "")), 1, "points are no rates")

    def test_memory_of_a_row_is_that_of_its_best_seed(self):
        self.assertEqual(rates.best_seeds({"pgx cpu 1": 3.0, "pgx cpu 2": 2.0, "tengen 9x9 1": 1.0}, lowest=True),
                         {"pgx cpu": 2.0, "tengen 9x9": 1.0})

    def test_load_of_others_is_the_mean_over_the_time(self):
        unit = lambda share, took, games=50, **arguments: {
            "share_of_others": share, "seconds": took, "result": {"games": games}, "arguments": arguments}
        hour = {"train": unit(0.01, 3600)}
        self.assertEqual(table.busy(hour), "The machine was idle otherwise.")
        short = {"match": unit(0.2, 40.0, seconds=0.1), **hour}
        self.assertEqual(table.busy(short),
                         "Other processes took 1.2 % of the cores on average, and 20 % in `match`.")
        of_visits = table.busy({"visits": unit(0.5, 40.0, visits=32), **short}).replace("\n", " ")
        self.assertIn("50 % in `visits`, where visits are equal and time does not count. Where it counts, they took "
                      "20 % at most, in `match`.", of_visits)
        self.assertEqual(table.busy({"unplayed": unit(0.9, 0.2, games=0, visits=32), **short}), table.busy(short))

    def test_inference_table_has_a_column_for_each_precision(self):
        engines = ["int16 avx512-vnni", "f32", "plain libtorch", "onnxruntime 1.32.0", "openvino 2026.4.1",
                   "openvino-bf16 2026.4.1"]
        cases = [{"engine": engine, "batch": batch, "evaluations_per_s": 100.0 * batch - 20 * index}
                 for batch in (1, 64) for index, engine in enumerate(engines)]
        text = table.inference_table({"inference 4x32": {"result": {"cases": cases}}})
        head, _, one, _ = text.splitlines()
        self.assertEqual(head, "| network | batch | Tengen int16 | Tengen f32 | ONNX Runtime f32 | OpenVINO f32 "
                               "| OpenVINO bf16 | faster |")
        self.assertEqual(one, "| 4x32 | 1 | 100 | 80.0 | 40.0 | 20.0 | 0 | Tengen int16, 2.50 times ONNX Runtime f32 |")

    def test_bf16_is_measured_where_the_processor_has_it(self):
        for flags, libraries in (("avx512f avx512_bf16", 3), ("avx512f", 2), ("amx_bf16", 3)):
            with mock.patch("inference.processor", return_value={"flags": flags}):
                self.assertEqual(len(inference.libraries()), libraries, flags)

    def test_rates_of_a_training_are_those_between_its_networks(self):
        saved = [{"minutes": 5.0, "positions": 3000}, {"minutes": 25.0, "positions": 27000}]
        self.assertEqual(table.rates_by_part(saved), "10.0; 20.0")

    def test_changes_of_settings_have_their_points(self):
        of_pgx = {"settings": {"uses": 4}, "mean_reward_against_the_best_before": 0.25}
        of_openspiel = {"settings": {"buffer": 8192}, "games": 32, "points_against_the_best_before": 16.0}
        tunes = {"tune pgx": {"result": {"duels": [of_pgx]}}, "tune openspiel": {"result": {"duels": [of_openspiel]}}}
        self.assertEqual(table.tune_table(tunes).splitlines()[2:], [
            "| pgx cpu | uses 4 | 40 of 64 (50%–73%) | yes |",
            "| openspiel cpu | buffer 8192 | 16 of 32 (34%–66%) | no |"])

    def test_match_is_decided_only_outside_the_interval(self):
        level = ("GNU Go level 10", 0)
        for points, ahead in ((1, "opponent"), (5, "not decided"), (10, "player")):
            [row] = rates.match_rows(match(("x", 5), level, points), lambda arguments: True)
            self.assertEqual(row[-1], ahead)

    def test_games_of_all_seeds_count_together(self):
        level = ("GNU Go level 10", 0)
        seeds = {seed: match(("x", 5), level, points) for seed, points in ((1, 9), (2, 6.5), (3, 0))}
        both = {f"match {seed}": next(iter(documents.values())) for seed, documents in seeds.items()}
        both["match 3"]["result"] = {"games": 0, "reason": "x had not trained yet"}
        [row] = rates.match_rows(both, lambda arguments: True)
        self.assertEqual(row[:6], ["5", "x", "GNU Go level 10", "32", "15.5 of 20 (56%–90%)", "9; 6.5; –"])
        self.assertEqual(row[-1], "player")

    def test_void_games_count_though_no_game_of_their_seed_does(self):
        level = ("GNU Go level 10", 0)
        both = {"match 1": {}, "match 2": {}}
        for name, games in (("match 1", 10), ("match 2", 0)):
            [both[name]] = match(("x", 5), level, 9).values()
            both[name]["result"].update(games=games, void=2)
        [row] = rates.match_rows(both, lambda arguments: True)
        self.assertEqual(row[4:6], ["9 of 10 (60%–98%), 4 void", "9; –"])

    def test_rows_that_a_peer_won_have_their_paragraph_in_the_readme(self):
        speed = {"share_of_network": 0.5, "positions_per_s": 10.0, "evaluations_per_s": 300.0, "selfplay_bytes": 2e9}
        documents = {
            "speed tengen 4x32": {"result": speed},
            "speed pgx 4x32": {"result": {**speed, "positions_per_s": 15.0, "selfplay_bytes": 3e9}},
            **match(("tengen 9x9", 5), ("pgx cpu", 5), 1, seconds=0.1),
            **match(("tengen 9x9", 25), ("pgx cpu", 25), 9, seconds=0.1),
            **match(("tengen 9x9", 5), ("GNU Go level 1", 0), 4),
            **match(("pgx cpu", 5), ("GNU Go level 1", 0), 5),
        }
        readme = f"# A\n\n{wins.HEADING}\n\n**self-play, positions/s, pgx + mctx.** It has\nmore.\n\n## B\n\n**c.**\n"
        documents["speed openspiel 4x32"] = {"result": {"positions_per_s": 12.0, "share_of_network": 0.5}}
        found = wins.won(documents, readme)
        self.assertEqual([(win.reason, win.row, win.lead, win.explained) for win in found], [
            ("**self-play, positions/s, pgx + mctx.**", "4x32", "1.50 times Tengen's", True),
            ("**self-play, positions/s, OpenSpiel.**", "4x32", "1.20 times Tengen's", False),
            ("**points against GNU Go level 1, pgx cpu.**", "5 min", "1.25 times Tengen's", False),
            ("**head to head at equal time, pgx cpu.**", "5 min", "Tengen has 1 of 10 (2%–40%)", False)])
        self.assertEqual(wins.reasons(readme), {"**self-play, positions/s, pgx + mctx.**"})

    def test_ratings_have_the_order_of_the_results(self):
        level = ("GNU Go level 10", 0)
        rated = picture.ratings({**match(("strong", 5), level, 8), **match(("weak", 5), level, 2)})
        self.assertEqual(rated["GNU Go level 10", 0, 0].elo, 0.0)
        self.assertGreater(rated["strong", 5, 1].elo, 100)
        self.assertAlmostEqual(rated["strong", 5, 1].elo, -rated["weak", 5, 1].elo, places=3)
        # A share of 0.8 of ten games, and a drawn one: 173 Elo / sqrt(11 * 0.77 * 0.23) * 1.96
        self.assertAlmostEqual(rated["strong", 5, 1].interval, 244, delta=2)

    def test_share_above_1_leaves_its_row_undecided(self):
        shares = lambda ours: {f"speed {name} 4x32": {"result": {"share_of_network": share, "positions_per_s": 1.0}}
                               for name, share in (("tengen", ours), ("pgx", 0.9))}
        self.assertIn("| 0.600 | 0.900 | pgx + mctx, 1.50 times Tengen |", table.speed_table(shares(0.6)))
        self.assertIn("| 1.10 | 0.900 | not decided |", table.speed_table(shares(1.1)))
        self.assertEqual([len(wins.won(shares(ours), "")) for ours in (0.6, 1.1)], [1, 0])

    def test_networks_without_a_win_are_bounds_and_no_curve(self):
        # Defeats by the stronger say less, so the bounds rise with the opponents.
        documents = {}
        for minute, points in ((5, 3), (25, 6), (60, 9)):
            documents |= match(("tengen 9x9", minute), ("GNU Go level 10", 0), points)
            documents |= match(("tengen 9x9", minute), ("pgx cpu", minute), 10)
            documents |= match(("pgx cpu", minute), ("GNU Go level 10", 0), 0)
        rated = picture.ratings(documents)
        self.assertTrue(all(rated["pgx cpu", minute, 1].is_bound for minute in (5, 25, 60)))
        # Ten games lost to either: the product of the chances of the opponents.
        bound, strong = rated["pgx cpu", 5, 1].elo, rated["tengen 9x9", 5, 1].elo
        chance = lambda elo: 1 / (1 + 10 ** ((bound - elo) / 400))
        self.assertAlmostEqual(chance(0) ** 10 * chance(strong) ** 10, 0.025, places=6)
        self.assertGreater(rated["tengen 9x9", 60, 1].elo - rated["tengen 9x9", 5, 1].elo, 300)
        drawn = picture.picture(documents)
        self.assertEqual(drawn.count('fill="#ffffff" stroke'), 3)
        self.assertEqual(drawn.count("<polyline"), 1)


if __name__ == "__main__":
    unittest.main()
