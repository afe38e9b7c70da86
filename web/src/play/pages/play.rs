//! The page for games against models.

use axum::response::Response;
use maud::{Markup, html};

use super::parts::{Second, heading, models, status, visits};
use crate::App;
use crate::view::Section;

/// Play against a model, or watch two models. A search has at most so many visits.
pub(crate) async fn play(app: App, most_visits: u32) -> Response {
    let content = html! {
        (heading("Play", &[("Review a game", "/play/review"), ("Watch self-play", "/play/watch")]))
        .room #room {
            section.seat aria-label="Board" {
                .player #player-W {}
                #board {}
                .player #player-B {}
                (status())
                p.lead #lead aria-live="polite" {}
                .buttons #actions role="group" aria-label="Game" {
                    button #pass type="button" { "Pass" }
                    button #undo type="button" { "Undo" }
                    button #resign type="button" { "Resign" }
                    button #hint type="button" aria-pressed="false" { "Hints" }
                    button #owner type="button" aria-pressed="false" hidden { "Ownership" }
                    button #score type="button" { "Score" }
                    button #pause type="button" hidden { "Pause" }
                }
                .buttons #scoring role="group" aria-label="Score" hidden {
                    button.primary #accept type="button" { "Accept the score" }
                    button #resume type="button" { "Play on" }
                }
            }
            .side {
                (new_game(most_visits))
                details.card #evaluation {
                    summary { "Value of the game" }
                    p.quiet { "Black's chance to win as the models saw it, in percent." }
                    #graph {}
                }
                .card {
                    h2 { "This game" }
                    p.quiet { "It stays in this browser, also when the server restarts. Its address opens it elsewhere." }
                    .buttons {
                        button #save type="button" { "Save as SGF" }
                        button #share type="button" { "Copy address" }
                        a.button #review href="/play/review#game" { "Review this game" }
                    }
                }
            }
        }
    };
    app.view("Play", Section::Play).style("play.css").script("play.js").page(&content)
}

fn new_game(most_visits: u32) -> Markup {
    html! {
        form.card #new-game {
            h2 { "New game" }
            (models(Second::Hidden))
            .field {
                label for="you" { "You play" }
                select #you {
                    option value="B" { "Black" }
                    option value="W" { "White" }
                    option value="both" { "both colours" }
                    option value="none" { "neither: watch" }
                }
            }
            (visits("Visits a move", most_visits))
            .field {
                label for="clock" { "Clock" }
                select #clock {
                    option value="" { "none" }
                    option value="0,5,1" { "5 s a move" }
                    option value="60,10,3" { "1 min, then 3 × 10 s" }
                    option value="300,20,3" { "5 min, then 3 × 20 s" }
                    option value="600,30,5" { "10 min, then 5 × 30 s" }
                }
            }
            details {
                summary { "Board, komi and handicap" }
                .field #size-field {
                    label for="size" { "Board" }
                    // Most models have one size, so it can be typed once the list of models is there.
                    input #size type="number" min="2" max="19" value="9" inputmode="numeric" readonly required;
                }
                .field {
                    label for="komi" { "Komi" }
                    input #komi type="number" step="0.5" value="7" inputmode="decimal" required;
                }
                .field {
                    label for="handicap" { "Handicap stones" }
                    input #handicap type="number" min="0" max="20" value="0" inputmode="numeric" required;
                }
                .field.check {
                    input #resigns type="checkbox" checked;
                    label for="resigns" { "The model resigns lost games" }
                }
                .field.check {
                    input #varies type="checkbox" checked;
                    label for="varies" { "The model varies its opening" }
                }
            }
            // Enabled when the list of models is there: a game that began before it would be replaced by the first of
            // the page.
            button.primary #start disabled { "Start" }
        }
    }
}
