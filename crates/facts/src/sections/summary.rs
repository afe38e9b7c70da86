//! What a run is, in a few words and numbers.

use config::Search;
use maud::{Markup, html};
use page::number::{counted, percent, signed, whole};

use crate::reader::Facts;
use crate::strength::Strength;

/// Alarms that are shown, the newest.
const ALARMS: usize = 8;

/// The rules of the run, and how it searches.
pub fn about(facts: &Facts) -> Markup {
    let config = &facts.config;
    let rules = if config.game.scoring.name() == "area" {
        "area scoring"
    } else {
        "area scoring, pass-alive regions count wholly"
    };
    html! {
        p.quiet {
            (config.game.size) "×" (config.game.size) ", komi " (config.game.komi) ", " (rules) "; "
            (visits(&config.search)) "; " (config.evaluate.visits) " in matches; configuration "
            code { (config.digest()) }
        }
    }
}

/// The visits of self-play, by model where they change.
fn visits(search: &Search) -> String {
    let (mut text, mut before) = (format!("{} visits a move in self-play", search.visits), search.visits);
    for phase in &search.phases {
        if phase.visits != before {
            text += &format!(", {} from model {} on", phase.visits, phase.from_model);
            before = phase.visits;
        }
    }
    text
}

/// The numbers that people come for.
pub fn tiles(facts: &Facts, strength: &Strength) -> Markup {
    let models = strength.models();
    let games: u64 = facts.games.values().map(|games| games.counts.games()).sum();
    let imported: u64 = facts.games.values().map(|games| games.imported).sum();
    let matches = facts.pool.counts.games();
    // Before all games are read, their number would only confuse.
    let counted = |number: u64| if facts.unread == 0 || number > 0 { whole(number as f64) } else { "…".to_owned() };
    html! {
        dl.tiles {
            @if let Some(newest) = facts.newest_model {
                div { dt { "models" @if facts.config.run_loop.models > 0 { " of " (whole(facts.config.run_loop.models.into())) } } dd { (whole(newest.into())) } }
            }
            @if let Some(newest) = models.last() {
                div {
                    dt { "Elo of " (newest.rating.player) "; ± against " (strength.against()) }
                    dd { (signed(newest.rating.elo)) " ± " (whole(strength.margin(&newest.rating))) }
                }
                @if let Some(first) = models.first().filter(|first| first.model != newest.model) {
                    div {
                        dt { "Elo from " (first.rating.player) " to " (newest.rating.player) }
                        dd { (signed(newest.rating.elo - first.rating.elo)) }
                    }
                }
            }
            @if let Some(best) = strength.players.iter().find(|player| player.model.is_some() && player.settings.is_empty()) {
                div { dt { "strongest model by its rating" } dd { (best.rating.player) } }
            }
            div { dt { "self-play games" } dd { (counted(games)) } }
            @if imported > 0 { div { dt { "imported games" } dd { (whole(imported as f64)) } } }
            div { dt { "match games" } dd { (counted(matches)) } }
        }
    }
}

/// What the reader of a page has to know first.
pub fn notes(facts: &Facts) -> Markup {
    let newest = facts.damaged.back();
    html! {
        @if facts.unread > 0 || newest.is_some() || facts.curves.unread > 0 {
            ul.notes {
                @if facts.unread > 0 {
                    li { "Reading the run: " (counted(facts.unread, "file is", "files are")) " not counted yet." }
                }
                @if let Some(newest) = newest {
                    li { (counted(facts.unreadable, "file", "files")) " cannot be read; the newest: " (newest) }
                }
                @if facts.curves.unread > 0 {
                    li { (counted(facts.curves.unread, "unreadable line of the logs is", "unreadable lines of the logs are")) " omitted." }
                }
            }
        }
    }
}

/// What was wrong in training, newest first.
pub fn alarms(facts: &Facts) -> Markup {
    let (alarms, all) = (&facts.curves.alarms, facts.curves.alarms_in_all());
    html! {
        @if alarms.is_empty() {
            p.quiet { @if facts.unread > 0 { "Loading alarms …" } @else { "No alarms." } }
        } @else {
            ul.notes {
                @for alarm in alarms.iter().rev().take(ALARMS) {
                    li { b { "Model " (alarm.model) ": " (alarm.name) } " – " (alarm.text) }
                }
            }
            @if all > ALARMS { p.quiet { (counted(all - ALARMS, "older one is", "older ones are")) " in the logs." } }
        }
    }
}

/// How matches ended.
pub fn colours(facts: &Facts) -> Markup {
    let counts = &facts.pool.counts;
    let (results, games) = (counts.results, counts.games());
    let share = |number: u64| percent(number as f64 / games as f64, 0);
    html! {
        @if games == 0 {
            p.empty { "No matches yet." }
        } @else {
            p {
                "Of " (whole(games as f64)) " match games, Black won " (whole(results.black_won as f64)) " (" (share(results.black_won))
                "), White " (whole(results.white_won as f64)) " (" (share(results.white_won)) "); " (whole(results.drawn as f64))
                " were drawn. "
                @if let Some(lengths) = counts.lengths() {
                    "They have " (format!("{:.1}", lengths.mean)) " moves on average, 8 in 10 have " (lengths.tenth) " to "
                    (lengths.ninetieth) ". "
                }
                (whole(counts.ends.passes as f64)) " were over after two passes, " (whole(counts.ends.pass_alive as f64))
                " because all was pass-alive, " (whole(counts.ends.resignation as f64)) " by resignation, "
                (whole(counts.ends.move_limit as f64)) " at the move limit, " (whole(counts.ends.forfeit as f64)) " by forfeit."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use store::Store;

    use super::*;
    use crate::reader::Reader;

    #[test]
    fn notes_of_one_file_are_singular() {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        let of = |unread: usize| {
            let facts = Facts { unread, ..Reader::open(run.clone()).unwrap().facts() };
            notes(&facts).into_string()
        };
        for (unread, note) in [(1, ": 1 file is not counted yet."), (2, ": 2 files are not counted yet.")] {
            assert!(of(unread).contains(note), "{}", of(unread));
        }
    }

    #[test]
    fn visits_are_those_of_all_phases() {
        let phase = |model: u32, visits: u32| {
            format!("{{from_model={model},visits={visits},gumbel_moves=4,gumbel_c_scale=1.0}}")
        };
        let text = |list: &str| {
            let overrides = ["search.visits=8".to_owned(), format!("search.phases=[{list}]")];
            visits(&Preset::NineByNine.with(&overrides).unwrap().search)
        };
        assert_eq!(text(""), "8 visits a move in self-play");
        let phases = [phase(12, 8), phase(24, 16), phase(30, 32)].join(",");
        assert_eq!(text(&phases), "8 visits a move in self-play, 16 from model 24 on, 32 from model 30 on");
    }
}
