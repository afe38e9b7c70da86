//! Settings of a search.

use config::QInit;
use go::Scoring;

/// Settings of the tree search, for self-play and for matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How edges are chosen.
    pub algorithm: Algorithm,
    /// Value of an edge before its first visit; PUCT only.
    pub q_init: QInit,
    /// Use of that value after the first visit; PUCT only.
    pub first_play: FirstPlay,
    /// c_base of the exploration factor, in visits; PUCT only.
    pub c_puct_base: f32,
    /// c_init of the exploration factor; PUCT only.
    pub c_puct_init: f32,
    /// Keep the tree below a move that is played.
    pub reuse: bool,
    /// No pass before this move, unless no other move is legal. Stones of the first position count as moves.
    pub pass_from: usize,
    /// Leave out points of pass-alive regions. They are worth nothing to anyone where those count for their owner,
    /// which is to say with [`Scoring::PassAlive`].
    pub prune_pass_alive: bool,
    /// Take a position after a pass for won where another pass wins.
    pub adjudicate_winning_pass: bool,
    /// How games end and are counted.
    pub scoring: Scoring,
    /// Points added to White's area.
    pub komi: f32,
}

/// How edges are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// The highest s·Q + U.
    Puct,
    /// Sequential halving at the root and the improved policy below it.
    Gumbel(Gumbel),
}

/// The constants of Gumbel search (Danihelka et al. 2022).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gumbel {
    /// Moves considered at the root, at most.
    pub moves: usize,
    /// c_visit of σ(q) = (c_visit + max N)·c_scale·q.
    pub c_visit: f32,
    /// c_scale of σ, for values from 0 to 1.
    pub c_scale: f32,
}

/// Use of the initial value of an edge after its first visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstPlay {
    /// It stays in the mean as one virtual visit (Minigo): Q = (init + W)/(1 + N).
    VirtualVisit,
    /// It counts as long as the edge is unvisited (first-play urgency), less `reduction` times the square root of the
    /// prior of the edges that were followed; then Q = W/N.
    Urgency {
        /// 0 for none; KataGo has 0.2.
        reduction: f32,
    },
}

impl Settings {
    /// The settings of a run.
    pub fn new(search: &config::Search, game: &config::Game) -> Settings {
        Settings {
            algorithm: match search.algorithm {
                config::Algorithm::Puct => Algorithm::Puct,
                config::Algorithm::Gumbel => Algorithm::Gumbel(Gumbel {
                    moves: search.gumbel_moves,
                    c_visit: search.gumbel_c_visit,
                    c_scale: search.gumbel_c_scale,
                }),
            },
            q_init: search.q_init,
            first_play: if search.q_init_stays {
                FirstPlay::VirtualVisit
            } else {
                FirstPlay::Urgency { reduction: search.fpu_reduction }
            },
            c_puct_base: search.c_puct_base,
            c_puct_init: search.c_puct_init,
            reuse: search.reuse,
            pass_from: search.pass_from,
            prune_pass_alive: search.prune_pass_alive,
            adjudicate_winning_pass: search.adjudicate_winning_pass,
            scoring: game.scoring,
            komi: game.komi,
        }
    }
}
