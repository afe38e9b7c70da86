//! The two pages. Their scripts fill them; without scripts there is no board.

use axum::response::Response;
use maud::{Markup, html};

use crate::{Section, View};

/// Play against a model, or watch two models.
pub(super) async fn play() -> Response {
    let content = html! {
        (heading("Play", &[("Review a game", "/play/review"), ("Watch self-play", "/play/watch")]))
        .room #room {
            section.seat aria-label="Board" {
                .player #player-W {}
                #board {}
                .player #player-B {}
                (status())
                .buttons #actions role="group" aria-label="Game" {
                    button #pass type="button" { "Pass" }
                    button #undo type="button" { "Undo" }
                    button #resign type="button" { "Resign" }
                    button #hint type="button" aria-pressed="false" { "Hints" }
                    button #score type="button" { "Score" }
                    button #pause type="button" hidden { "Pause" }
                }
                .buttons #scoring role="group" aria-label="Score" hidden {
                    button.primary #accept type="button" { "Accept the score" }
                    button #resume type="button" { "Play on" }
                }
            }
            .side {
                (new_game())
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
    View::new("Play", Section::Play).style("play.css").script("play.js").page(&content)
}

fn new_game() -> Markup {
    html! {
        form.card #new-game {
            h2 { "New game" }
            .field #model {}
            .field #second hidden {}
            .field {
                label for="you" { "You play" }
                select #you {
                    option value="B" { "Black" }
                    option value="W" { "White" }
                    option value="both" { "both colours" }
                    option value="none" { "neither: watch" }
                }
            }
            .field {
                label for="visits" { "Visits a move" }
                input #visits type="number" min="1" inputmode="numeric" required;
            }
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
                    input #size type="number" min="2" max="19" value="9" inputmode="numeric" required;
                }
                .field {
                    label for="komi" { "Komi" }
                    input #komi type="number" step="0.5" value="7" inputmode="decimal" required;
                }
                .field {
                    label for="handicap" { "Handicap stones" }
                    input #handicap type="number" min="0" value="0" inputmode="numeric" required;
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
            button.primary { "Start" }
        }
    }
}

/// Review games.
pub(super) async fn review() -> Response {
    let content = html! {
        (heading("Review", &[("Play a game", "/play"), ("Watch self-play", "/play/watch")]))
        .room #room {
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
            .side {
                .card {
                    .field #model {}
                    .field #second {}
                    .field {
                        label for="visits" { "Visits" }
                        input #visits type="number" min="1" inputmode="numeric" required;
                    }
                    .field {
                        label for="show" { "On the board" }
                        select #show {
                            option value="moves" { "moves of the model" }
                            option value="both" { "moves of both models" }
                            option value="second" { "moves of the compared model" }
                            option value="policy" { "policy of the network" }
                            option value="nothing" { "nothing" }
                        }
                    }
                    .buttons {
                        button.primary #analyse type="button" { "Analyse the game" }
                        button #stop type="button" hidden { "Stop" }
                    }
                    progress #progress hidden max="1" value="0" aria-label="Analysed positions" {}
                }
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
                .card #files {
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
    };
    View::new("Review", Section::Play).style("play.css").script("review.js").page(&content)
}

/// Watch the newest games of a run.
pub(super) async fn watch() -> Response {
    let content = html! {
        (heading("Watch", &[("Play a game", "/play"), ("Review a game", "/play/review")]))
        .room {
            section.seat aria-label="Board" {
                p.players #players {}
                #board {}
                (status())
                .buttons {
                    button #pause type="button" aria-pressed="false" { "Pause" }
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
                    p.quiet { "The newest game comes first. A game appears when its file is published, and is then replayed." }
                }
            }
        }
    };
    View::new("Watch", Section::Play).style("play.css").script("watch.js").page(&content)
}

fn heading(title: &str, others: &[(&str, &str)]) -> Markup {
    html! {
        .heading {
            h1 { (title) }
            @for (text, href) in others { a href=(href) { (text) } }
            p.connection #connection role="status" { }
        }
        noscript { p.bad { "The board needs JavaScript. The pages of runs do not." } }
    }
}

/// What happens, for eyes and for screen readers.
fn status() -> Markup {
    html! { p.status #status role="status" aria-live="polite" {} }
}
