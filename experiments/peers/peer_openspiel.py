"""OpenSpiel's AlphaZero in Python: actors that evaluate one position at a time, and one process that trains."""

import contextlib
import copyreg
import functools
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import measure

NAME = "OpenSpiel"

# `example`: the defaults of open_spiel/python/examples/alpha_zero.py, with Go instead of tic-tac-toe and without its
# evaluators, which play for information only. `cpu`: chosen here, with the network of the other rows, exploration for
# games of 80 moves, and a compiled network; `tune` chooses among its `CANDIDATES`.
ROWS = {
    "example": {"filters": 256, "blocks": 2, "simulations": 40, "batch": 128, "buffer": 8192, "reuse": 4,
                "learning_rate": 0.001, "uct_c": 1.41, "alpha": 1.0, "sampled_moves": 2, "compiled": False},
    "cpu": {"filters": 32, "blocks": 4, "simulations": 16, "batch": 64, "buffer": 2048, "reuse": 4,
            "learning_rate": 0.001, "uct_c": 1.41, "alpha": 0.15, "sampled_moves": 10, "compiled": True},
}
# Changes of `cpu` that are trained for some minutes each; the winner of matches at 16 visits remains.
CANDIDATES = {"short": [], "full": [{}, {"buffer": 8192}, {"simulations": 32}]}
CANDIDATE_MINUTES = 4
DUEL_GAMES = 32
GAME = "go(board_size=9,komi=7.0)"
# Each actor evaluates single positions: more threads only disturb the other actor.
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
API = "linen"  # the default of the example


def compile_inference():
    """Has JAX compile the evaluation of a position. OpenSpiel runs its operations one by one: it found compilation
    slow, but compiled anew at each call. The policy is copied out of JAX at once, since OpenSpiel reads it action by
    action and each read of an array of JAX is an operation of its own. A new checkpoint clears the evaluations and not,
    as OpenSpiel does, what JAX compiled."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import numpy as np
    from open_spiel.python.algorithms.alpha_zero import evaluator as evaluators
    from open_spiel.python.algorithms.alpha_zero import model_linen

    @functools.partial(jax.jit, static_argnums=0)
    def predict(apply, params, batch_stats, planes, mask):
        logits, value = apply({"params": params, "batch_stats": batch_stats}, planes, training=False, mutable=False)
        return value, nn.softmax(jnp.where(mask, logits, jnp.finfo(jnp.float32).min), axis=-1)

    def inference(self, observation, legals_mask):
        state = self._state
        value, policy = predict(state.apply_fn, state.params, state.batch_stats, jnp.asarray(observation, jnp.float32),
                                jnp.asarray(legals_mask, bool))
        return float(value), np.asarray(policy).tolist()

    if not hasattr(model_linen.Model, "original_inference"):
        model_linen.Model.original_inference = model_linen.Model.inference
    model_linen.Model.inference = inference
    evaluators.AlphaZeroEvaluator.clear_cache = lambda self: self._cache.clear()


def build_model(settings, path=None):
    import pyspiel
    from open_spiel.python.algorithms.alpha_zero import utils
    if settings["compiled"]:
        compile_inference()
    game = pyspiel.load_game(GAME)
    model = utils.api_selector(API).Model.build_model(
        "resnet", game.observation_tensor_shape(), game.num_distinct_actions(), settings["filters"],
        settings["blocks"], 1e-4, settings["learning_rate"], path)
    return game, model


def check_compiled(model, planes, mask):
    """That a compiled network answers as OpenSpiel's own function does."""
    import numpy as np
    for found, expected in zip(model.inference(planes, mask), model.original_inference(planes, mask)):
        if not np.allclose(np.ravel(found), np.ravel(expected), atol=1e-5):
            raise RuntimeError("the compiled network of OpenSpiel answers otherwise than the original")


def new_bot(game, settings, evaluator, simulations, noise=None):
    from open_spiel.python.algorithms import mcts
    return mcts.MCTSBot(game, settings["uct_c"], simulations, evaluator, solve=False, dirichlet_noise=noise,
                        child_selection_fn=mcts.SearchNode.puct_value, dont_return_chance_node=True)


class UniformEvaluator:
    """A network that costs nothing."""

    def __init__(self):
        self.evaluations = 0

    def evaluate(self, state):
        self.evaluations += 1
        return [0.0, 0.0]

    def prior(self, state):
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


def measure_actor(settings, seconds, null_network, together, results):
    """Of one actor, per second: positions, evaluations, and evaluations of its network alone."""
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms.alpha_zero import evaluator as evaluators
    if null_network:
        game, evaluator = pyspiel.load_game(GAME), UniformEvaluator()
        evaluations, bare = lambda: evaluator.evaluations, lambda: 0.0
    else:
        game, model = build_model(settings)
        state = game.new_initial_state()
        planes, mask = np.asarray(state.observation_tensor()), np.asarray(state.legal_actions_mask())
        model.inference(planes, mask)  # compiles
        if settings["compiled"]:
            check_compiled(model, planes, mask)
        bare = lambda: measure.calls_per_second(lambda: model.inference(planes, mask), seconds / 2)
        evaluator = evaluators.AlphaZeroEvaluator(game, model)
        evaluations = lambda: evaluator.cache_info().misses
    bot = new_bot(game, settings, evaluator, settings["simulations"], (0.25, settings["alpha"]))
    state = game.new_initial_state()
    # Half of the network's time comes before the moves and half after, and all actors do the same at a time.
    together.wait()
    before = bare()
    together.wait()
    bot.step(state)
    moves, known, began = 0, evaluations(), time.monotonic()
    while time.monotonic() - began < seconds:
        state.apply_action(bot.step(state))
        moves += 1
        if state.is_terminal():
            state = game.new_initial_state()
    taken, evaluated = time.monotonic() - began, evaluations() - known
    together.wait()
    results.put((moves / taken, evaluated / taken, (before + bare()) / 2))


def all_actors(settings, seconds, null_network):
    """The sums of an actor per core."""
    context = multiprocessing.get_context("spawn")
    cores = len(os.sched_getaffinity(0))
    # An actor that fails must not let the others wait for ever.
    results, together = context.Queue(), context.Barrier(cores, timeout=600)
    arguments = (settings, seconds, null_network, together, results)
    return [sum(rates) for rates in zip(*from_processes(context, measure_actor, arguments, results, cores))]


def from_processes(context, function, arguments, results, count):
    """What so many processes put into the queue `results`."""
    processes = [context.Process(target=function, args=arguments) for _ in range(count)]
    for process in processes:
        process.start()
    found = [results.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    return found


def measure_updates(settings, seconds, results):
    """Updates per second on all cores."""
    import numpy as np
    from open_spiel.python.algorithms.alpha_zero import utils
    game, model = build_model(settings)
    state = game.new_initial_state()
    example = utils.TrainInput(
        observation=np.asarray(state.observation_tensor(), np.float32),
        legals_mask=np.asarray(state.legal_actions_mask(), bool), policy=np.full(82, 1 / 82, np.float32),
        value=np.float32(0))
    batch = utils.TrainInput.stack([example] * settings["batch"])
    results.put(measure.calls_per_second(lambda: float(model.update(batch).policy), seconds))


def speed(blocks, filters, simulations, seconds, form):
    """Self-play and networks of an actor per core, and updates. Evaluations are without the hits of OpenSpiel's cache,
    and its simulations count the root."""
    settings = {**ROWS["cpu"], "blocks": blocks, "filters": filters, "simulations": simulations + 1}
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    [updates] = from_processes(context, measure_updates, (settings, seconds, results), results, 1)
    os.environ["XLA_FLAGS"] = ONE_THREAD
    with measure.PeakMemory(own=False) as memory:
        positions, evaluations, network = all_actors(settings, seconds, False)
    return {"batch": 1, "positions_per_s": positions, "evaluations_per_s": evaluations,
            "network_evaluations_per_s": network, "share_of_network": evaluations / network,
            "examples_per_s": updates * settings["batch"],
            "search_alone_per_s": all_actors(settings, seconds, True)[1], "selfplay_bytes": memory.bytes}


def newest_checkpoint(path):
    """The number and folder of the newest checkpoint that is complete."""
    found = [(int(entry.name.removeprefix("checkpoint-")), entry) for entry in Path(path).glob("checkpoint-*")
             if entry.name.removeprefix("checkpoint-").isdigit()]
    return max(found, default=None)


def positions_of(path):
    """Moves that the actors have played, those of games in progress included. The trainer counts finished games."""
    logs = Path(path).glob("log-actor-*.txt")
    return sum(log.read_text(errors="replace").count("sampled action") for log in logs)


def evaluations_of(path):
    """Evaluations by the actors, without the hits of their caches. Each logs them when it gets a checkpoint; those
    since its newest one count as many per move as before. None where no actor has moved before a checkpoint."""
    found = known = 0
    moves = positions_of(path)
    for log in Path(path).glob("log-actor-*.txt"):
        text = log.read_text(errors="replace")
        known += text[:max(0, text.rfind("Inference cache:"))].count("sampled action")
        found += sum(int(misses) for misses in re.findall(r"Inference cache:.*?misses=(\d+)", text))
    return found * moves / known if known else None


def updates_of(settings, path):
    """Updates of the network so far. A step of the learner makes as many as batches fit into its buffer."""
    with contextlib.suppress(FileNotFoundError):
        lines = Path(path, "learner.jsonl").read_text().split("\n")[:-1]  # the last one may be incomplete
        sizes = (min(json.loads(line)["total_states"], settings["buffer"]) for line in lines)
        return sum(size // settings["batch"] for size in sizes)
    return 0


def minutes_to_first_update(settings, positions, seconds):
    """Minutes from the start to the first update, which takes so many positions; None before the first."""
    wanted = settings["buffer"] // settings["reuse"]
    return seconds / 60 * wanted / positions if positions else None


def compiled_config(fields):
    """The configuration in an actor, a process of its own: unpickling it compiles that process's network, too."""
    from open_spiel.python.algorithms.alpha_zero import alpha_zero
    compile_inference()
    return alpha_zero.Config(**fields)


def run(settings, path):
    """OpenSpiel's own main function, which does not return."""
    from open_spiel.python.algorithms.alpha_zero import alpha_zero
    if settings["compiled"]:
        compile_inference()
        copyreg.pickle(alpha_zero.Config, lambda config: (compiled_config, (dict(vars(config)),)))
    alpha_zero.alpha_zero(alpha_zero.Config(
        game=GAME, path=path, learning_rate=settings["learning_rate"], weight_decay=1e-4, decouple_weight_decay=False,
        train_batch_size=settings["batch"], replay_buffer_size=settings["buffer"],
        replay_buffer_reuse=settings["reuse"], max_steps=0, checkpoint_freq=1,
        actors=len(os.sched_getaffinity(0)), evaluators=0, evaluation_window=50, eval_levels=7,
        uct_c=settings["uct_c"], max_simulations=settings["simulations"], policy_alpha=settings["alpha"],
        policy_epsilon=0.25, temperature=1, temperature_drop=settings["sampled_moves"], nn_model="resnet",
        nn_width=settings["filters"], nn_depth=settings["blocks"], observation_shape=None, output_size=None,
        verbose=False, quiet=False, nn_api_version=API))


def train(settings, folder, minutes, seed):
    """Runs OpenSpiel until the last of `minutes`, or until one where the first update would come after the last; copies
    its newest checkpoint at each of them. It takes no seed."""
    began = time.monotonic()
    os.environ["XLA_FLAGS"] = ONE_THREAD
    path, saved = str(Path(folder, "run").absolute()), []
    process = multiprocessing.get_context("spawn").Process(target=run_in_group, args=(settings, path))
    process.start()
    try:
        for minute in minutes:
            while (left := minute * 60 - (time.monotonic() - began)) > 0:
                if not process.is_alive():
                    raise RuntimeError(f"OpenSpiel exited with code {process.exitcode}")
                time.sleep(min(left, 1))
            elapsed, positions, newest = time.monotonic() - began, positions_of(path), newest_checkpoint(path)
            if newest:
                # Orbax restores without its marker file, which has an absolute path in it.
                shutil.copytree(newest[1], Path(folder, f"checkpoint-{minute}"),
                                ignore=shutil.ignore_patterns("commit_success.txt"))
            # The checkpoint 0 is that of the random weights; a step writes its checkpoint before its line of the log.
            updates = max(1, updates_of(settings, path)) if newest and newest[0] else 0
            saved.append({"minutes": elapsed / 60, "positions": positions, "updates": updates})
            first_update = None if updates else minutes_to_first_update(settings, positions, elapsed)
            if first_update and first_update > minutes[-1]:
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()
    evaluations = evaluations_of(path)
    return {"positions": positions, "updates": updates, "seconds": elapsed, "checkpoints": saved,
            "minutes_to_first_update": first_update, "positions_per_s": positions / elapsed,
            "evaluations_per_s": evaluations and evaluations / elapsed,
            "examples_per_s": updates * settings["batch"] / elapsed}


def tune(form, seconds, folder):
    """The settings `cpu` with the changes whose networks win matches."""
    import matches
    best, duels = {"settings": ROWS["cpu"]}, []
    for index, changes in enumerate(CANDIDATES[form]):
        place = Path(folder, str(index))
        place.mkdir()
        settings = {**ROWS["cpu"], **changes}
        updates = train(settings, place, [CANDIDATE_MINUTES], 1)["updates"]
        player = {"name": f"candidate {index}", "module": "peer_openspiel", "settings": settings,
                  "folder": str(place), "minute": CANDIDATE_MINUTES, "updates": updates}
        if index:
            played = matches.play(player, best, DUEL_GAMES, index, visits=16)
            duels.append({"settings": changes, "updates": updates, "games": played["games"],
                          "points_against_the_best_before": played.get("points")})
            if not played["games"] or played["points"] <= played["games"] / 2:
                continue
        best = player
    return {"settings": best["settings"], "duels": duels}


def run_in_group(settings, path):
    os.setsid()
    run(settings, path)


class Player:
    """Plays without noise, with a fixed number of simulations."""

    def __init__(self, settings, folder, minute, visits):
        from open_spiel.python.algorithms.alpha_zero import evaluator as evaluators
        self.game, model = build_model(settings, str(Path(folder).absolute()))
        model.load_checkpoint(minute)
        # Its simulations count the root.
        self.bot = new_bot(self.game, settings, evaluators.AlphaZeroEvaluator(self.game, model), visits + 1)
        self.clear()
        self.choose([81])  # compiles

    def clear(self):
        self.state = self.game.new_initial_state()

    def play(self, action):
        self.state.apply_action(action)

    def choose(self, legal):
        from open_spiel.python.algorithms import mcts
        root, legal = self.bot.mcts_search(self.state), set(legal)
        return max((child for child in root.children if child.action in legal), key=mcts.SearchNode.sort_key).action


def networks(folder, minute):
    """What `engine` reads, relative to the folder of the training."""
    return [f"checkpoint-{minute}"]


def engine(settings, folder, minute, visits):
    """The command of a GTP program."""
    return [sys.executable, __file__, json.dumps(settings), str(folder), str(minute), str(visits)]


if __name__ == "__main__":
    import gtp
    gtp.serve(NAME, Player(json.loads(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4])))
