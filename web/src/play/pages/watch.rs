//! The page that replays the newest games of a run.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::parts::{heading, status};
use crate::App;
use crate::view::Section;

/// Watch the newest games of a run.
pub(crate) async fn watch(State(app): State<App>) -> Response {
    let content = html! {
        (heading("Watch", &[("Play a game", "/play"), ("Review a game", "/play/review")]))
        .room {
            section.seat aria-label="Board" {
                p.players #players {}
                #board {}
                (status())
                .buttons {
                    button #pause type="button" { "Pause" }
                    button #skip type="button" { "Next game" }
                }
            }
            .side {
                .card {
                    .field { label for="run" { "Run" } select #run {} }
                    .field {
                        label for="kind" { "Games" }
                        select #kind { option value="" { "self-play" } option value="match" { "matches" } }
                    }
                    .field {
                        label for="speed" { "Speed" }
                        select #speed {
                            option value="1000" { "a move a second" }
                            option value="300" { "three moves a second" }
                            option value="100" { "ten moves a second" }
                        }
                    }
                    p.quiet { "The newest published game comes first. The pages of a run show games as they are played: " a #live href="/" { "live games" } "." }
                }
            }
        }
    };
    app.view("Watch", Section::Play).style("play.css").script("watch.js").page(&content)
}
