"""pgx and mctx: Gumbel AlphaZero in JAX, with a training loop on their public interfaces."""

import json
import sys
import time
from pathlib import Path

import measure

NAME = "pgx + mctx"

# `example`: the settings of examples/alphazero in pgx's repository. `cpu`: chosen here; `tune` replaces `games` by the
# fastest number of games on this machine. Keys: network, games at a time, simulations per move, moves of all games per
# iteration, training batch, learning rate, iterations in the replay buffer, uses of a position, random symmetries, and
# whether games begin anew in each iteration.
ROWS = {
    "example": {"blocks": 6, "filters": 128, "games": 1024, "simulations": 32, "moves": 256, "batch": 4096,
                "learning_rate": 0.001, "window": 1, "uses": 1, "symmetries": False, "restart": True},
    "cpu": {"blocks": 4, "filters": 32, "games": 64, "simulations": 16, "moves": 32, "batch": 256,
            "learning_rate": 0.003, "window": 8, "uses": 2, "symmetries": True, "restart": False},
}
# Numbers of games to try, by form.
TRIED = {"short": [32, 128], "full": [2, 4, 8, 16, 32, 64, 128, 256]}
# Changes of `cpu` that are trained for some minutes each; the winner of duels at 16 simulations remains.
CANDIDATES = {"short": [], "full": [{}, {"simulations": 8}, {"simulations": 32}, {"uses": 4}]}
CANDIDATE_MINUTES = 2
DUEL_GAMES = 64
SIZE = 9


class Search:
    """Compiled functions of one network and one batch of games."""

    def __init__(self, settings, null_network=False):
        import flax.linen as nn
        import jax
        import jax.numpy as jnp
        import mctx
        import pgx
        from pgx.experimental import auto_reset

        class Network(nn.Module):
            """A residual tower with batch norm before each convolution, as in pgx's example."""

            @nn.compact
            def __call__(self, planes, training):
                def norm(x):
                    return nn.relu(nn.BatchNorm(use_running_average=not training, momentum=0.9)(x))

                def conv(x, filters, side=3):
                    return nn.Conv(filters, (side, side), use_bias=False)(x)

                x = conv(planes.astype(jnp.float32), settings["filters"])
                for _ in range(settings["blocks"]):
                    x = x + conv(norm(conv(norm(x), settings["filters"])), settings["filters"])
                x = norm(x)
                policy = norm(conv(x, 2, 1)).reshape((x.shape[0], -1))
                value = norm(conv(x, 1, 1)).reshape((x.shape[0], -1))
                value = nn.Dense(1)(nn.relu(nn.Dense(settings["filters"])(value)))
                return nn.Dense(SIZE * SIZE + 1)(policy), jnp.tanh(value[:, 0])

        network, env = Network(), pgx.make("go_9x9")
        self.env, self.network = env, network

        def evaluate(model, planes):
            if null_network:
                return jnp.zeros((planes.shape[0], SIZE * SIZE + 1)), jnp.zeros(planes.shape[0])
            return network.apply(model, planes, False)

        def step(model, _, action, state):
            player = state.current_player
            state = jax.vmap(env.step)(state, action)
            logits, value = evaluate(model, state.observation)
            reward = jnp.take_along_axis(state.rewards, player[:, None], 1)[:, 0]
            over = state.terminated
            return mctx.RecurrentFnOutput(
                reward=reward, discount=jnp.where(over, 0.0, -1.0), value=jnp.where(over, 0.0, value),
                prior_logits=jnp.where(state.legal_action_mask, logits, -1e9)), state

        def search(model, key, state, invalid, simulations, noise):
            logits, value = evaluate(model, state.observation)
            root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
            return mctx.gumbel_muzero_policy(model, key, root, step, simulations, invalid, gumbel_scale=noise)

        def begin(key, games):
            return jax.vmap(env.init)(jax.random.split(key, games))

        def play(model, key, state, moves):
            """Plays `moves` moves of each game; finished games begin anew."""
            def move(state, key):
                # A fresh state after the end of a game still says that it has ended.
                state = state.replace(terminated=jnp.zeros_like(state.terminated))
                search_key, reset_key = jax.random.split(key)
                output = search(model, search_key, state, ~state.legal_action_mask, settings["simulations"], 1.0)
                player = state.current_player
                after = jax.vmap(auto_reset(env.step, env.init))(
                    state, output.action, jax.random.split(reset_key, state.terminated.shape[0]))
                reward = jnp.take_along_axis(after.rewards, player[:, None], 1)[:, 0]
                return after, (state.observation, output.action_weights, reward, after.terminated)

            return jax.lax.scan(move, state, jax.random.split(key, moves))

        def duel(models, key, state):
            """The mean reward of the first of two models over games to their end; the colours are random."""
            def move(carry, key):
                state, reward = carry
                actions = [search(model, key, state, ~state.legal_action_mask, settings["simulations"], 1.0).action
                           for model in models]
                state = jax.vmap(env.step)(state, jnp.where(state.current_player == 0, *actions))
                return (state, reward + state.rewards[:, 0]), None

            games = state.terminated.shape[0]
            (_, reward), _ = jax.lax.scan(move, (state, jnp.zeros(games)), jax.random.split(key, 2 * SIZE * SIZE))
            return reward.mean()

        def evaluate_often(model, planes, times):
            """Evaluations one after the other in a compiled loop, as a search makes them."""
            def again(planes, _):
                _, value = evaluate(model, planes)
                # Never, but the compiler does not know it, and so evaluates each time.
                return planes ^ (value > 2)[:, None, None, None], None

            return jax.lax.scan(again, planes, None, times)[0]

        self.evaluate_often = jax.jit(evaluate_often, static_argnums=2)
        self.duel = jax.jit(duel)
        self.search = jax.jit(search, static_argnums=(4, 5))
        self.begin = jax.jit(begin, static_argnums=1)
        self.play = jax.jit(play, static_argnums=3)
        self.step = jax.jit(env.step)
        self.initial_state = jax.jit(env.init)
        self.batch_of_one = jax.jit(lambda state: jax.tree.map(lambda leaf: leaf[None], state))

    def new_model(self, seed):
        import jax
        import jax.numpy as jnp
        return self.network.init(jax.random.PRNGKey(seed), jnp.zeros((1, SIZE, SIZE, 17)), False)


class Learner:
    """The optimiser and its compiled step."""

    def __init__(self, search, settings, model):
        import jax
        import jax.numpy as jnp
        import optax

        optimizer = optax.adam(settings["learning_rate"])

        def loss(params, stats, planes, policy, outcome, known):
            (logits, value), updated = search.network.apply(
                {"params": params, "batch_stats": stats}, planes, True, mutable=["batch_stats"])
            value_loss = jnp.mean(known * (value - outcome) ** 2) / 2
            return optax.softmax_cross_entropy(logits, policy).mean() + value_loss, updated["batch_stats"]

        def update(model, state, batch):
            grads, stats = jax.grad(loss, has_aux=True)(model["params"], model["batch_stats"], *batch)
            updates, state = optimizer.update(grads, state)
            return {"params": optax.apply_updates(model["params"], updates), "batch_stats": stats}, state

        self.model, self.state = model, optimizer.init(model["params"])
        self.update = jax.jit(update)

    def train(self, batch):
        self.model, self.state = self.update(self.model, self.state, batch)


def outcomes(rewards, ended):
    """The outcome of each game for the player of each move, and whether the game ended; arrays by move and game.
    A game may begin and end anywhere in them."""
    import numpy as np
    outcome, known = np.zeros_like(rewards), np.zeros(rewards.shape, dtype=bool)
    value, over = np.zeros(rewards.shape[1], rewards.dtype), np.zeros(rewards.shape[1], dtype=bool)
    for move in reversed(range(len(rewards))):
        value = np.where(ended[move], rewards[move], -value)
        over = over | ended[move]
        outcome[move], known[move] = value, over
    return outcome, known


def examples(window):
    """Planes, policies, outcomes and whether they are known, of all positions of consecutive iterations. A game that
    began in one of them and ended in a later one has its outcome in both."""
    import numpy as np
    planes, policy, rewards, ended = (np.concatenate(part) for part in zip(*window))
    return [part.reshape((-1, *part.shape[2:])) for part in (planes, policy, *outcomes(rewards, ended))]


def symmetric(generator, planes, policy):
    """The batch under one random symmetry of the board."""
    import numpy as np
    points, turns = policy[:, :-1].reshape((-1, SIZE, SIZE)), generator.integers(4)
    planes, points = np.rot90(planes, turns, (1, 2)), np.rot90(points, turns, (1, 2))
    if generator.integers(2):
        planes, points = planes[:, :, ::-1], points[:, :, ::-1]
    return planes, np.concatenate([points.reshape((len(points), -1)), policy[:, -1:]], 1)


def minutes_to_first_update(settings, positions, seconds, chunk, compiled):
    """Minutes from the start to the first update, after an iteration, at the rate since the first `chunk` moves of each
    game, which were played after `compiled` seconds; None before."""
    if not positions:
        return None
    later = positions - chunk * settings["games"]
    rate = later / (seconds - compiled) if later else positions / seconds
    return (seconds + max(0, settings["games"] * settings["moves"] - positions) / rate) / 60


def train(settings, folder, minutes, seed):
    """Trains until the last of `minutes`, or until one where the first update would come after the last; saves the
    network at each of them. The time includes compilation."""
    import flax.serialization
    import jax
    import numpy as np

    began = time.monotonic()
    search = Search(settings)
    key, generator = jax.random.PRNGKey(seed), np.random.default_rng(seed)
    learner = Learner(search, settings, search.new_model(seed))
    buffer, due, saved = [], list(minutes), []
    count = {"positions": 0, "updates": 0, "selfplay_seconds": 0.0, "training_seconds": 0.0}
    state, iteration, compiled, first_update = None, 0, None, None

    def save_if_due():
        nonlocal first_update
        elapsed = (time.monotonic() - began) / 60
        while due and elapsed >= due[0]:
            target = Path(folder, f"{due.pop(0)}.msgpack")
            target.write_bytes(flax.serialization.to_bytes(learner.model))
            saved.append({"minutes": elapsed, "positions": count["positions"], "updates": count["updates"]})
            first_update = None if count["updates"] else minutes_to_first_update(
                settings, count["positions"], elapsed * 60, chunk, compiled)
            if first_update and first_update > minutes[-1]:
                due.clear()
        return bool(due)

    # One move of a large batch takes minutes, so the clock is read after each; small ones are read after eight.
    chunk = 1 if settings["games"] > 256 else min(8, settings["moves"])
    while save_if_due():
        key, reset_key = jax.random.split(key)
        if state is None or settings["restart"]:
            state = search.begin(reset_key, settings["games"])
        parts, start = [], time.monotonic()
        for _ in range(settings["moves"] // chunk):
            key, play_key = jax.random.split(key)
            state, part = search.play(learner.model, play_key, state, chunk)
            parts.append(jax.device_get(part))
            compiled = compiled or time.monotonic() - began
            count["positions"] += chunk * settings["games"]
            if not save_if_due():
                break
        count["selfplay_seconds"] += time.monotonic() - start
        buffer = [*buffer, [np.concatenate(part) for part in zip(*parts)]][-settings["window"]:]
        start = time.monotonic()
        pool = examples(buffer)
        updates = settings["uses"] * settings["games"] * settings["moves"] // settings["batch"]
        for _ in range(updates if due else 0):
            chosen = generator.integers(len(pool[0]), size=settings["batch"])
            planes, policy, outcome, known = (part[chosen] for part in pool)
            if settings["symmetries"]:
                planes, policy = symmetric(generator, planes, policy)
            learner.train((planes, policy, outcome, known))
            count["updates"] += 1
            if not save_if_due():
                break
        jax.block_until_ready(learner.model)
        count["training_seconds"] += time.monotonic() - start
        iteration += 1
    elapsed = time.monotonic() - began
    return {
        **count, "iterations": iteration, "seconds": elapsed, "seconds_to_first_moves": compiled, "checkpoints": saved,
        "minutes_to_first_update": first_update,
        "positions_per_s": count["positions"] / elapsed,
        "evaluations_per_s": count["positions"] * (settings["simulations"] + 1) / elapsed,
        "examples_per_s": count["updates"] * settings["batch"] / elapsed,
    }


def rate(function, seconds):
    """Calls per second of a function that returns arrays of JAX."""
    import jax
    return measure.calls_per_second(lambda: jax.block_until_ready(function()), seconds)


def play_rate(settings, seconds, search=None):
    """Positions per second of self-play."""
    import jax
    search, key = search or Search(settings), jax.random.PRNGKey(0)
    model, state = search.new_model(0), search.begin(key, settings["games"])
    return settings["games"] * rate(lambda: search.play(model, key, state, 1), seconds)


def speed(blocks, filters, simulations, seconds, form):
    """Self-play, the bare network, training and search alone on all cores, at the fastest batch of self-play."""
    import numpy as np
    best = None
    for games in TRIED[form]:
        settings = {**ROWS["cpu"], "blocks": blocks, "filters": filters, "games": games, "simulations": simulations}
        with measure.PeakMemory() as memory:
            positions = play_rate(settings, seconds)
        if best is None or positions > best[0]:
            best = positions, settings, memory.bytes
    _, settings, size = best
    games, batch, search = settings["games"], settings["batch"], Search(settings)
    model, planes = search.new_model(0), np.zeros((games, SIZE, SIZE, 17), bool)
    times = simulations + 1  # of a move
    bare = lambda: games * times * rate(lambda: search.evaluate_often(model, planes, times), seconds / 2)
    # Half of the network's time comes before self-play and half after, so that a change in the machine's load shows in
    # both. The fastest of several rates would be too high by chance, so self-play is measured again.
    before, positions, after = bare(), play_rate(settings, seconds, search), bare()
    network = (before + after) / 2
    learner = Learner(search, settings, model)
    examples = (np.zeros((batch, SIZE, SIZE, 17), bool), np.full((batch, 82), 1 / 82, np.float32),
                np.zeros(batch, np.float32), np.ones(batch, bool))
    updates = rate(lambda: (learner.train(examples), learner.model)[1], seconds)
    without = play_rate(settings, seconds, Search(settings, null_network=True))
    evaluations = positions * times
    return {"batch": games, "positions_per_s": positions, "evaluations_per_s": evaluations,
            "network_evaluations_per_s": network, "share_of_network": evaluations / network,
            "examples_per_s": updates * batch, "search_alone_per_s": without * times,
            "selfplay_bytes": size}


def tune(form, seconds, folder):
    """The settings `cpu` with the fastest number of games, and with the changes whose networks win duels."""
    import flax.serialization
    import jax
    tried = {games: play_rate({**ROWS["cpu"], "games": games}, seconds) for games in TRIED[form]}
    base = {**ROWS["cpu"], "games": max(tried, key=tried.get)}
    best, duels = None, []
    for index, changes in enumerate(CANDIDATES[form]):
        settings, place = {**base, **changes}, Path(folder, str(index))
        place.mkdir()
        train(settings, place, [CANDIDATE_MINUTES], 1)
        model = (place / f"{CANDIDATE_MINUTES}.msgpack").read_bytes()
        if best is None:
            best = settings, model
            continue
        search = Search({**base, "simulations": 16})
        models = [flax.serialization.msgpack_restore(content) for content in (model, best[1])]
        key = jax.random.PRNGKey(index)
        reward = float(search.duel(models, key, search.begin(key, DUEL_GAMES)))
        duels.append({"settings": changes, "mean_reward_against_the_best_before": reward})
        if reward > 0:
            best = settings, model
    return {"settings": best[0] if best else base, "positions_per_s": tried, "duels": duels}


class Player:
    """Plays without noise, with a fixed number of simulations."""

    def __init__(self, settings, checkpoint, visits):
        import flax.serialization
        import jax
        self.engine, self.visits = Search(settings), visits
        self.model = flax.serialization.msgpack_restore(Path(checkpoint).read_bytes())
        self.key = jax.random.PRNGKey(0)
        self.clear()
        self.choose([SIZE * SIZE])  # compiles

    def clear(self):
        self.state = self.engine.initial_state(self.key)

    def play(self, action):
        self.state = self.engine.step(self.state, action)

    def choose(self, legal):
        import numpy as np
        invalid = np.ones((1, SIZE * SIZE + 1), bool)
        invalid[0, legal] = False
        states = self.engine.batch_of_one(self.state)
        output = self.engine.search(self.model, self.key, states, invalid, self.visits, 0.0)
        return int(output.action[0])


def networks(folder, minute):
    """What `engine` reads, relative to the folder of the training."""
    return [f"{minute}.msgpack"]


def engine(settings, folder, minute, visits):
    """The command of a GTP program."""
    return [sys.executable, __file__, json.dumps(settings), str(Path(folder, f"{minute}.msgpack")), str(visits)]


if __name__ == "__main__":
    import gtp
    gtp.serve(NAME, Player(json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
