//! Elo of models.

use std::collections::BTreeMap;

use page::{Axis, Format, Mark, Plot, Point, Series};

use crate::reader::Facts;
use crate::strength::{Player, Strength};

/// What models are placed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Their number.
    #[default]
    Model,
    /// Games of self-play before them.
    Games,
    /// Visits of self-play before them.
    Visits,
    /// Hours since the first games.
    Hours,
}

impl By {
    /// All of them.
    pub const ALL: [By; 4] = [By::Model, By::Games, By::Visits, By::Hours];

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            By::Model => "model",
            By::Games => "games",
            By::Visits => "visits",
            By::Hours => "hours",
        }
    }

    /// Its name on a page.
    fn label(self) -> &'static str {
        match self {
            By::Model => "model",
            By::Games => "self-play games before the model",
            By::Visits => "self-play visits before the model",
            By::Hours => "hours since the first games, pauses included",
        }
    }

    /// What a reader could take it for and it is not, as a sentence after others.
    pub fn caveat(self) -> &'static str {
        match self {
            By::Visits => {
                " Visits bound network evaluations from above: cached positions and inherited visits cost none, and the \
                 store has no count of evaluations."
            }
            By::Model | By::Games | By::Hours => "",
        }
    }

    /// The name of its plot.
    pub fn id(self) -> &'static str {
        match self {
            By::Model => "elo",
            By::Games => "elo-by-games",
            By::Visits => "elo-by-visits",
            By::Hours => "elo-by-hours",
        }
    }

    fn place(self, strength: &Strength, model: u32) -> Option<f64> {
        let effort = strength.effort.get(&model);
        match self {
            By::Model => Some(f64::from(model)),
            By::Games => effort.map(|effort| effort.games as f64),
            By::Visits => effort.map(|effort| effort.visits),
            By::Hours => effort.and_then(|effort| effort.hours),
        }
    }
}

/// Elo of the run's models, other players as lines. Each manner of search has a line of its own.
pub(super) fn elo(facts: &Facts, strength: &Strength, by: By) -> Plot {
    let mut series: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    let mut models: Vec<&Player> = strength.players.iter().filter(|player| player.model.is_some()).collect();
    models.sort_by_key(|player| player.model);
    for player in models {
        let Some(place) = player.model.and_then(|model| by.place(strength, model)) else { continue };
        let (elo, margin) = (player.rating.elo, strength.margin(&player.rating));
        let point = Point::new(place, elo).within(elo - margin, elo + margin).label(&player.rating.player);
        series.entry(&player.settings).or_default().push(point);
    }
    let named = |(settings, points): (&str, Vec<Point>)| Series {
        name: if settings.is_empty() { facts.run.to_string() } else { format!("{}, {settings}", facts.run) },
        points,
        ..Series::default()
    };
    let others = strength.players.iter().filter(|player| player.model.is_none());
    let zero = strength.zero().map_or_else(String::new, |zero| format!("{zero}. "));
    Plot {
        caption: format!(
            "{zero}The band is 95 % against {}; lines across are other players.{}",
            strength.against(),
            by.caveat()
        ),
        x: Axis::new(by.label()),
        y: Axis::new("Elo").format(Format::Signed),
        series: series.into_iter().map(named).collect(),
        marks: others.map(|player| Mark { name: player.rating.player.clone(), y: player.rating.elo }).collect(),
        empty: "No matches yet.".to_owned(),
        ..Plot::default()
    }
}
