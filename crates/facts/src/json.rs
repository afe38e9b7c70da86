//! Facts as JSON, for programs that read a report.

use serde_json::{Map, Value, json};

use crate::counts::Counts;
use crate::plots::{PLOTS, plot};
use crate::reader::Facts;
use crate::strength::Strength;

/// All that pages show of a run.
pub fn json(facts: &Facts, strength: &Strength) -> Value {
    let config = &facts.config;
    let visits = config.search.at(facts.newest_model.unwrap_or_default()).visits;
    let place = |name: &str| strength.players.iter().position(|player| player.rating.player == name);
    let pairings = facts.pool.pairs.iter().filter_map(|((black, white), results)| {
        Some(json!({
            "black": place(black)?, "white": place(white)?, "black_won": results.black_won, "white_won": results.white_won,
            "drawn": results.drawn,
        }))
    });
    let players = strength.players.iter().map(|player| {
        let rating = &player.rating;
        let effort = player.model.and_then(|model| strength.effort.get(&model));
        json!({
            "player": rating.player, "number": player.model, "settings": player.settings, "elo": rating.elo, "error": rating.error,
            "above_pool": rating.above_pool, "above_pool_error": rating.above_pool_error, "games": rating.games,
            "points": rating.points, "games_before": effort.map(|effort| effort.games),
            "visits_before": effort.map(|effort| effort.visits), "hours": effort.and_then(|effort| effort.hours),
        })
    });
    let models = facts.games.iter().map(|(number, games)| {
        let mut model = counts(&games.counts);
        model["number"] = json!(number);
        model["games"] = json!(games.counts.games());
        model["imported"] = json!(games.imported);
        model
    });
    let thresholds = facts.thresholds.values().map(|(time, threshold)| {
        let mut value = serde_json::to_value(threshold).unwrap_or_default();
        value["time"] = json!(time);
        value
    });
    let plots: Map<String, Value> =
        PLOTS.iter().filter_map(|(name, _)| Some(((*name).to_owned(), plot(facts, strength, name)?.json()))).collect();
    json!({
        "run": {
            "name": facts.run.as_str(), "config_digest": config.digest(), "size": config.game.size, "komi": config.game.komi,
            "scoring": config.game.scoring.name(), "visits": visits, "match_visits": config.evaluate.visits,
        },
        "scale": strength.scale,
        "players": players.collect::<Vec<_>>(),
        "pairings": pairings.collect::<Vec<_>>(),
        "pool": counts(&facts.pool.counts),
        "models": models.collect::<Vec<_>>(),
        "thresholds": thresholds.collect::<Vec<_>>(),
        "plots": plots,
    })
}

fn counts(counts: &Counts) -> Value {
    let (results, ends) = (counts.results, counts.ends);
    let lengths = counts.lengths().map(|lengths| {
        json!({
            "mean": lengths.mean, "shortest": lengths.shortest, "tenth": lengths.tenth, "median": lengths.median,
            "ninetieth": lengths.ninetieth, "longest": lengths.longest,
        })
    });
    json!({
        "black_won": results.black_won, "white_won": results.white_won, "drawn": results.drawn,
        "ends": {
            "passes": ends.passes, "pass_alive": ends.pass_alive, "resignation": ends.resignation,
            "move_limit": ends.move_limit, "forfeit": ends.forfeit,
        },
        "calibration": counts.calibration, "would_resign": counts.would_resign, "in_force": counts.in_force,
        "would_resign_wrongly": counts.would_resign_wrongly, "positions": counts.positions, "lengths": lengths,
        "mean_depth": counts.mean_depth(),
    })
}
