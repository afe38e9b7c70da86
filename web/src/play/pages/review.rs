//! The page on which games are analysed.

use axum::response::Response;
use maud::{Markup, html};

use super::parts::{Second, heading, models, status, visits};
use crate::App;
use crate::play::message::LONGEST_SGF;
use crate::view::Section;

/// Review games. A search has at most so many visits.
pub(crate) async fn review(app: App, most_visits: u32) -> Response {
    let content = html! {
        (heading("Review", &[("Play a game", "/play"), ("Watch self-play", "/play/watch")]))
        .room #room {
            (board())
            .side {
                (settings(most_visits))
                (results())
                (file())
            }
        }
    };
    app.view("Review", Section::Play).style("play.css").script("review.js").page(&content)
}

/// The board and the way through the game.
fn board() -> Markup {
    html! {
        section.seat aria-label="Board" {
            p.players #players {}
            #board {}
            .buttons.steps role="group" aria-label="Moves" {
                button #first type="button" aria-label="First position" { "|◀" }
                button #back type="button" aria-label="Previous move" { "◀" }
                button #next type="button" aria-label="Next move" { "▶" }
                button #last type="button" aria-label="Last position" { "▶|" }
                button #pass type="button" { "Pass" }
                button #cut type="button" { "Remove move" }
            }
            (status())
            p.comment #comment hidden {}
        }
    }
}

/// Models, visits, and what is shown of them.
fn settings(most_visits: u32) -> Markup {
    html! {
        .card {
            (models(Second::Shown))
            (visits("Visits", most_visits))
            .field {
                label for="show" { "On the board" }
                select #show {
                    option value="moves" { "moves of the model" }
                    option value="both" { "moves of both models" }
                    option value="second" { "moves of the compared model" }
                    option value="policy" { "policy of the network" }
                    option value="ownership" hidden disabled { "ownership" }
                    option value="nothing" { "nothing" }
                }
            }
            .buttons {
                button.primary #analyse type="button" { "Analyse the game" }
                button #stop type="button" hidden { "Stop" }
            }
            progress #progress hidden max="1" value="0" aria-label="Analysed positions" {}
        }
    }
}

/// What was found.
fn results() -> Markup {
    html! {
        .card {
            h2 { "Value" }
            p.quiet { "Black's chance to win, in percent. A click jumps to a move." }
            #graph {}
        }
        .card {
            h2 { "Moves" }
            p.quiet #value { "Chances are those of the player to move." }
            #candidates {}
        }
        .card #losses-card hidden {
            h2 { "Biggest losses" }
            ol.losses #losses {}
        }
        .card {
            h2 { "Variations" }
            #tree {}
        }
        details.card #planes-card {
            summary { "Input planes" }
            #planes {}
        }
    }
}

/// The game as a file.
pub(super) fn file() -> Markup {
    html! {
        .card #files data-longest-sgf=(LONGEST_SGF) {
            h2 { "Game" }
            p.quiet { "Drop an SGF file anywhere on this page, paste one, or choose it." }
            .buttons {
                label.button for="file" { "Open a file" }
                input.hidden #file type="file" accept=".sgf,application/x-go-sgf,text/plain";
                button #save type="button" { "Save with analysis" }
                button #empty type="button" { "Empty board" }
            }
            label.hidden for="paste" { "SGF text" }
            textarea #paste rows="2" placeholder="Paste SGF here" spellcheck="false" {}
        }
    }
}
