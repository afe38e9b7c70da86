use config::Preset;
use mcts::{Algorithm, Evaluation, FirstPlay, Gumbel, Search, Selected, Settings};

use super::graph::GAP;
use super::*;

fn size() -> Size {
    Size::new(3).expect("a size")
}

fn mv(vertex: &str) -> Move {
    Move::from_gtp(size(), vertex).expect("a vertex")
}

fn game(moves: &str) -> Game {
    let mut game = Game::new(size());
    moves.split_whitespace().for_each(|vertex| game.play(mv(vertex)).expect("a legal move"));
    game
}

/// An entry with these moves: vertex, prior, visits and value for Black.
fn entry(game: &Game, visits: u32, value: f32, moves: &[(&str, f32, u32, f32)]) -> Entry {
    let symmetry = BookKey::new(game).0;
    let turned = |vertex: &str| symmetry.apply_move(size(), mv(vertex)).to_gtp(size());
    let one = |&(vertex, prior, visits, value): &(&str, f32, u32, f32)| BookMove {
        r#move: turned(vertex),
        prior,
        visits,
        value,
    };
    Entry {
        key: BookKey::new(game).1,
        to_move: letter(game.to_move()).to_owned(),
        visits,
        value,
        full: false,
        moves: moves.iter().map(one).collect(),
    }
}

fn graph(entries: &[Entry]) -> Graph {
    Graph::new(size(), entries.iter().map(|entry| (entry.key, entry.clone())).collect())
}

#[test]
fn images_and_other_orders_of_moves_are_one_position() {
    let key = |moves: &str| BookKey::new(&game(moves)).1;
    assert_eq!(key("A1 B2"), key("C3 B2"));
    assert_eq!(key("A1 C3 C1"), key("C1 C3 A1"));
    let others = ["A1 B2", "A1 C3", "A1 pass", "A1", ""];
    let keys: std::collections::BTreeSet<BookKey> = others.iter().map(|moves| key(moves)).collect();
    assert_eq!(keys.len(), others.len());
    assert_eq!(key("A1").to_string().parse::<BookKey>(), Ok(key("A1")));
}

#[test]
fn finished_position_is_another_than_the_one_after_a_pass() {
    let finished = game("A1 pass pass");
    let mut open = Game::from_position(game("A1").position().clone());
    open.set_to_move(Color::Black);
    open.play(Move::Pass).expect("a pass is legal");
    assert_eq!((open.to_move(), open.position().stones()), (finished.to_move(), finished.position().stones()));
    assert_eq!(open.legal_points(), finished.legal_points());
    assert_ne!(BookKey::new(&open).1, BookKey::new(&finished).1);
}

#[test]
fn position_where_a_ko_is_forbidden_is_another() {
    let size = Size::new(4).expect("a size");
    let mut game = Game::new(size);
    // White takes a stone at B2 with C2; Black may not take back at once.
    for vertex in "B3 C3 A2 D2 B1 C1 C2 pass D4 B2".split_whitespace() {
        let mv = Move::from_gtp(size, vertex).expect("a vertex");
        if vertex == "C2" {
            game.set_to_move(Color::Black);
        }
        game.play(mv).expect("a legal move");
    }
    let forbidden = game.position().legal_points() - game.legal_points();
    assert_eq!(forbidden.len(), 1, "{:?}", game.position());
    let free = Game::from_position(game.position().clone());
    assert_eq!(free.to_move(), game.to_move());
    assert_ne!(BookKey::new(&game).1, BookKey::new(&free).1);
}

#[test]
fn visits_of_images_have_a_largest_sum() {
    let found = graph(&[entry(&game(""), 100, 0.2, &[("A1", 0.5, u32::MAX, 0.2), ("C3", 0.5, 1, 0.2)])]);
    let visits: Vec<u32> = found.spots()[0].edges.iter().map(|edge| edge.visits).collect();
    assert_eq!(visits, [u32::MAX]);
}

#[test]
fn cheapest_line_is_the_likely_one_that_loses_nothing() {
    let root = entry(&game(""), 100, 0.2, &[("B2", 0.5, 80, 0.2), ("A1", 0.4, 15, 0.0), ("A2", 0.01, 5, 0.2)]);
    let found = graph(std::slice::from_ref(&root));
    let lines: Vec<Game> = found.cheapest(10);
    // The centre; then a corner, which loses 0.1 of a game; then a side that is a surprise.
    assert_eq!(lines.iter().map(|game| game.moves()[0]).collect::<Vec<_>>(), ["B2", "A1", "A2"].map(mv));
    assert_eq!(found.cheapest(1).len(), 1);
    let second = entry(&game("B2"), 100, 0.1, &[("A1", 0.9, 90, 0.1)]);
    let found = graph(&[root, second]);
    let lines: Vec<usize> = found.cheapest(10).iter().map(Game::turn).collect();
    assert_eq!(lines, [2, 1, 1]);
}

/// The next line of a book whose root likes the centre, which was searched with this value.
fn next_line(centre: f32) -> Vec<Move> {
    let root = entry(&game(""), 400, 0.3, &[("B2", 0.6, 300, 0.3), ("A1", 0.1, 90, 0.25)]);
    let centre = entry(&game("B2"), 400, centre, &[("A1", 0.9, 390, centre)]);
    graph(&[root, centre]).cheapest(1)[0].moves().to_vec()
}

#[test]
fn likely_move_that_its_own_search_refutes_is_not_followed() {
    assert_eq!(next_line(0.25), ["B2", "A1"].map(mv));
    assert_eq!(next_line(-0.5), ["A1"].map(mv));
    // Where the upper bound is as good as the other move, nothing is lost yet.
    assert_eq!(next_line(0.24), ["B2", "A1"].map(mv));
}

#[test]
fn line_of_a_move_that_its_own_search_likes_gets_cheaper() {
    let root = entry(&game(""), 400, 0.3, &[("B2", 0.5, 300, 0.3), ("A1", 0.4, 90, -0.3)]);
    let corner = entry(&game("A1"), 400, 0.5, &[("B2", 0.9, 390, 0.5)]);
    let cost = |entries: &[Entry], key: &str| {
        let found = graph(entries);
        found.spots()[0].edges.iter().find(|edge| edge.key == BookKey::new(&game(key)).1).expect("an edge").cost
    };
    let (before, after) = (std::slice::from_ref(&root), [root.clone(), corner]);
    assert!((cost(before, "A1") - cost(&after, "A1") - GAP * 0.3).abs() < 1e-5);
    assert!((cost(&after, "B2") - cost(before, "B2") - GAP * 0.1).abs() < 1e-5);
}

#[test]
fn editor_is_shown_the_best_move_first() {
    let root = entry(&game(""), 100, 0.2, &[("B2", 0.5, 64, 0.3), ("A1", 0.4, 36, 0.25)]);
    let found = graph(&[root, entry(&game("B2"), 50, -0.5, &[]), entry(&game("A1"), 50, 0.4, &[])]);
    assert_eq!(found.spots()[0].best().map(|edge| edge.mv), Some(mv("A1")));
    let text = book_sgf(&BookHeader::new(Origin::of("flat"), size(), 0.5), &found);
    let tree = &go::sgf::parse(text.as_bytes()).expect("SGF")[0];
    let moves: Vec<String> = tree.nodes().iter().filter_map(|node| Some(node.value("B")?.text())).collect();
    assert_eq!(moves, ["ac", "bb"], "{text}");
    assert!(text.contains("100 visits\nbest: A1]"), "{text}");
}

/// The best answer may lead to a position that stands on a cheaper line.
#[test]
fn best_line_is_found_from_every_image_of_a_position() {
    let graph = grown(60);
    let line = graph.best_line(&game(""));
    assert!(!line.is_empty());
    for symmetry in Symmetry::ALL {
        let mut image = game("");
        let first = symmetry.apply_move(size(), line[0]);
        image.play(first).expect("a legal move");
        assert_eq!(graph.best_line(&image).len(), line.len() - 1);
        let (spot, edges) = graph.at(&image).expect("it is in the book");
        assert_eq!(spot.entry.key, BookKey::new(&image).1);
        for edge in edges {
            let mut next = image.clone();
            next.play(edge.mv).expect("a legal move");
            assert_eq!(BookKey::new(&next).1, edge.key);
        }
    }
}

#[test]
fn values_are_minimax_and_what_was_not_searched_counts_less() {
    let root = entry(&game(""), 100, 0.2, &[("B2", 0.5, 64, 0.3), ("A1", 0.4, 36, 0.25)]);
    let best = |graph: &Graph| graph.spots()[0].best().map(|edge| edge.mv);
    let alone = graph(std::slice::from_ref(&root));
    assert!((alone.spots()[0].bounds.value - 0.2).abs() < 1e-6);
    assert_eq!(best(&alone), None, "nothing to lead to");
    // White has a refutation of the centre.
    let centre = entry(&game("B2"), 50, -0.5, &[]);
    let found = graph(&[root.clone(), centre.clone()]);
    let corner = 0.25 - (1.0_f64 - 0.0625).sqrt() / 6.0;
    assert!((found.spots()[0].bounds.value - corner).abs() < 1e-6, "{:?}", found.spots()[0].bounds);
    assert_eq!(best(&found), None, "the corner is not in the book");
    assert_eq!(found.disputed(0.1, 101).count(), 1);
    assert_eq!((found.disputed(0.1, 100).count(), found.disputed(0.3, 101).count()), (0, 0));
    let full = Entry { full: true, ..root.clone() };
    assert_eq!(graph(&[full, centre.clone()]).disputed(0.1, 101).count(), 0, "no more visits are possible");
    let corner = entry(&game("C3"), 50, 0.4, &[]);
    let found = graph(&[root, centre, corner]);
    assert_eq!(best(&found), Some(mv("A1")), "an image of what is in the book");
    assert!((found.spots()[0].bounds.value - 0.4).abs() < 1e-6);
}

#[test]
fn moves_to_images_of_a_position_are_one() {
    let moves = [("A1", 0.25, 30, 0.2), ("B2", 0.25, 40, 0.2), ("C3", 0.5, 10, 0.6)];
    let found = graph(&[entry(&game(""), 80, 0.2, &moves)]);
    let edges = &found.spots()[0].edges;
    assert_eq!(
        edges.iter().map(|edge| (edge.mv, edge.prior, edge.visits)).collect::<Vec<_>>(),
        [(mv("A1"), 0.75, 40), (mv("B2"), 0.25, 40),]
    );
    assert!((edges[0].value - 0.3).abs() < 1e-6 && edges[0].cost < edges[1].cost);
}

/// Searches positions with a flat network, the cheapest first.
fn grown(entries: usize) -> Graph {
    let config = Preset::Minigo.config();
    let settings = Settings { komi: 0.5, pass_from: 0, ..Settings::new(&config.search, &config.game) };
    let mut book = BTreeMap::new();
    while book.len() < entries {
        let graph = Graph::new(size(), book.clone());
        let games = if book.is_empty() { vec![game("")] } else { graph.cheapest(4) };
        assert!(!games.is_empty());
        for game in games {
            let entry = if game.is_over(settings.scoring) {
                Entry::ended(&game, settings.scoring, settings.komi)
            } else {
                let mut search = Search::new(game.clone(), settings);
                while !search.is_expanded() || search.visits() < 50 {
                    if let Selected::Leaf(leaf) = search.select(&mut |_| {}) {
                        search.expand(leaf, Evaluation { policy: &[0.1; 10], value: Value::ZERO });
                    }
                }
                Entry::new(&game, &Analysis::of(&search).expect("a search"), 50)
            };
            book.insert(entry.key, entry);
        }
    }
    Graph::new(size(), book)
}

#[test]
fn grown_book_is_reached_whole_and_its_exports_agree() {
    let graph = grown(60);
    assert!(graph.spots().len() >= 60);
    assert!(graph.spots().is_sorted_by(|a, b| a.cost <= b.cost));
    for spot in graph.spots() {
        assert!(
            spot.bounds.low <= spot.bounds.value + 1e-9 && spot.bounds.value <= spot.bounds.high + 1e-9,
            "{spot:?}"
        );
        assert_eq!(BookKey::new(&graph.game(spot)).1, spot.entry.key);
    }
    let header = BookHeader::new(Origin::of("flat"), size(), 0.5);
    let text = book_sgf(&header, &graph);
    let tree = &go::sgf::parse(text.as_bytes()).expect("SGF")[0];
    assert_eq!(tree.nodes().len(), graph.spots().len(), "each position once");
    let rows = book_rows(&graph);
    assert_eq!(rows.len(), graph.spots().iter().map(|spot| spot.edges.len()).sum::<usize>());
    let json = book_json(&header, &graph);
    assert_eq!(json["positions"].as_array().map(Vec::len), Some(graph.spots().len()));
    assert_eq!(json["positions"][0]["line"], "");
}

/// A book of a million positions is held as a whole, and a game takes several kilobytes.
#[test]
fn positions_of_a_graph_hold_no_games() {
    assert!(8 * size_of::<Spot>() < size_of::<Game>(), "{} and {}", size_of::<Spot>(), size_of::<Game>());
}

#[test]
fn files_that_are_no_books_are_named_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let header = serde_json::to_string(&BookHeader::new(Origin::of("flat"), size(), 0.5)).expect("JSON");
    let refused = |text: &[u8]| {
        std::fs::write(&path, text).expect("the file");
        BookFile::read(&path).expect_err("no book").to_string()
    };
    let no_book = format!("{}: not a book of `tengen book`", path.display());
    let analysis = header.replace("tengen-book", "tengen-analysis") + "\n";
    for text in [&b"(;GM[1]SZ[9])\n"[..], b"(;GM[1]SZ[9])", &[0xff, 0, b'\n'], b"{}\n", analysis.as_bytes()] {
        assert_eq!(refused(text), no_book);
    }
    let newer = header.replace("\"version\":1", "\"version\":2") + "\n";
    for newer in [newer.as_bytes(), b"{\"format\":\"tengen-book\",\"version\":2}\n"] {
        assert_eq!(refused(newer), no_book.clone() + ": its version is 2, not 1");
    }
    let large = header.replace("\"boardSize\":3", "\"boardSize\":99") + "\n";
    assert!(refused(large.as_bytes()).starts_with(&(no_book + ": no board is 99x99 at line 1")));
    assert!(refused((header + "\n{}\n").as_bytes()).contains("line 2 is damaged"));
}

#[test]
fn book_of_other_weights_or_cached_evaluations_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let digests = ["0123456789abcdef", "fedcba9876543210"];
    let header = |weights, evaluations| BookHeader::new(Origin { model: "net", weights, evaluations }, size(), 0.5);
    let refused = |header: &BookHeader| BookFile::open(&path, header).err().map(|error| error.to_string());
    let first = header(Some(digests[0]), Some("canonical 2048"));
    assert_eq!(refused(&first), None, "it begins");
    assert_eq!(refused(&first), None, "it is continued");
    let said = refused(&header(Some(digests[1]), Some("canonical 2048"))).expect("other weights");
    assert!(
        said.contains("a book of model net with weights 0123456789ab, not of model net with weights fedcba987654;"),
        "{said}"
    );
    let said = refused(&header(Some(digests[0]), Some("canonical 256"))).expect("other evaluations");
    let book = |steps: &str| format!("of cached evaluations (canonical {steps})");
    let [found, asked] = ["2048", "256"].map(book);
    assert!(said.contains(&format!("a book {found}, not {asked}; continue it with the same")), "{said}");
    assert_eq!(refused(&header(Some(digests[0]), None)), None, "it is continued without a cache");
    let said = refused(&header(None, Some("canonical 2048"))).expect("no weights");
    assert!(said.contains("with weights 0123456789ab, not of model net without weights;"), "{said}");
    std::fs::remove_file(&path).expect("the file");
    assert_eq!(refused(&header(Some(digests[0]), None)), None, "it begins without a cache");
    assert_eq!(refused(&first), None, "it is continued with one");
}

#[test]
fn book_of_other_scoring_or_search_settings_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let config = Preset::Minigo.config();
    let settings = Settings { scoring: Scoring::Area, ..Settings::new(&config.search, &config.game) };
    let plain = || BookHeader::new(Origin::of("flat"), size(), 0.5);
    let refused = |header: &BookHeader| BookFile::open(&path, header).err().map(|error| error.to_string());
    assert_eq!(refused(&plain().with_settings(&settings)), None, "it begins");
    let same = Settings { komi: settings.komi + 1.0, reuse: !settings.reuse, ..settings };
    assert_eq!(refused(&plain().with_settings(&same)), None, "it is continued");
    let said = refused(&plain().with_settings(&Settings { scoring: Scoring::PassAlive, ..settings }));
    assert!(said.expect("other scoring").contains("a book of scoring area, not of scoring pass-alive; continue"));
    let said = refused(&plain().with_settings(&Settings { c_puct_init: settings.c_puct_init + 1.0, ..settings }));
    let said = said.expect("other settings");
    assert!(said.contains("a book of search settings ") && said.contains(", not of search settings "), "{said}");
    std::fs::remove_file(&path).expect("the file");
    assert_eq!(refused(&plain()), None, "as an earlier version begins it");
    assert_eq!(refused(&plain().with_settings(&settings)), None, "it is continued");
}

/// Books of earlier versions would be refused otherwise.
#[test]
fn search_settings_have_the_text_that_books_were_begun_with() {
    let config = Preset::Minigo.config();
    let puct = Settings {
        algorithm: Algorithm::Puct,
        q_init: config::QInit::LOSS,
        first_play: FirstPlay::Urgency { reduction: 0.2 },
        c_puct_base: 19652.0,
        c_puct_init: 1.25,
        pass_from: 30,
        prune_pass_alive: true,
        adjudicate_winning_pass: false,
        ..Settings::new(&config.search, &config.game)
    };
    assert_eq!(search(&puct), "Puct loss Urgency { reduction: 0.2 } 19652 1.25 30 true false");
    let gumbel = Algorithm::Gumbel(Gumbel { moves: 16, c_visit: 50.0, c_scale: 1.0 });
    let gumbel = Settings { algorithm: gumbel, first_play: FirstPlay::VirtualVisit, ..puct };
    let text = "Gumbel(Gumbel { moves: 16, c_visit: 50.0, c_scale: 1.0 }) loss VirtualVisit 19652 1.25 30 true false";
    assert_eq!(search(&gumbel), text);
}

#[test]
fn book_of_a_file_of_weights_is_continued_by_another_path_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let open = |model, weights| {
        let header = BookHeader::new(Origin { model, weights: Some(weights), evaluations: None }, size(), 0.5);
        BookFile::open(&path, &header).err().map(|error| error.to_string())
    };
    assert_eq!(open("./net.safetensors", "ab"), None, "it begins");
    assert_eq!(open("a/net.safetensors", "ab"), None, "it is continued");
    let said = open("a/net.safetensors", "cd").expect("other weights");
    assert!(said.contains("a book of model ./net.safetensors, not of model a/net.safetensors;"), "{said}");
    let said = open("./other.safetensors", "ab").expect("another file");
    assert!(said.contains("a book of model ./net.safetensors, not of model ./other.safetensors;"), "{said}");
}

/// Two processes would each drop lines of the other.
#[test]
fn book_that_one_process_writes_is_refused_to_others_and_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let (header, graph) = (BookHeader::new(Origin::of("flat"), size(), 0.5), grown(40));
    let (mut file, _) = BookFile::open(&path, &header).expect("a file");
    let second = BookFile::open(&path, &header).expect_err("it is open").to_string();
    assert!(second.contains("book.jsonl: another process writes this book; wait until it has finished"), "{second}");
    for spot in graph.spots().iter().take(2) {
        file.add(&spot.entry).expect("it can be written");
    }
    assert_eq!(BookFile::read(&path).expect("a book").1.len(), 2, "reading needs no lock");
    drop(file);
    assert_eq!(BookFile::open(&path, &header).expect("a file").1.len(), 2, "nothing was dropped");
}

#[test]
fn book_file_resumes_and_plays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.jsonl");
    let (header, graph) = (BookHeader::new(Origin::of("flat"), size(), 0.5), grown(40));
    let (mut file, entries) = BookFile::open(&path, &header).expect("a file");
    assert!(entries.is_empty());
    graph.spots().iter().for_each(|spot| file.add(&spot.entry).expect("it can be written"));
    drop(file);
    let text = std::fs::read_to_string(&path).expect("the file");
    assert!(!text.contains("full"), "{text}");
    std::fs::write(&path, text.clone() + "{\"key\":\"00").expect("the file");
    let (_, entries) = BookFile::open(&path, &header).expect("a file");
    assert_eq!(entries.len(), graph.spots().len());
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), text, "half a line is dropped");
    // Cut in its header, it begins anew, whatever the header was.
    let end = text.find('\n').expect("a header");
    for was in [&text[..end], "{\"format\":\"tengen-book\",\"version\":1,\"model\":\"another\",\"boardSize\":3"] {
        for cut in 0..=was.len() {
            std::fs::write(&path, &was[..cut]).expect("the file");
            let (_, entries) = BookFile::open(&path, &header).expect("a file");
            assert!(entries.is_empty());
            assert_eq!(std::fs::read_to_string(&path).expect("the file"), text[..=end], "{was} cut at {cut}");
        }
    }
    std::fs::write(&path, "{\"format\":\"tengen-analysis\",\"version\":1").expect("the file");
    let other = BookFile::open(&path, &header).expect_err("no book");
    assert!(other.to_string().contains("not a book"), "{other}");
    std::fs::write(&path, &text).expect("the file");
    let other = BookFile::open(&path, &BookHeader::new(Origin::of("other"), size(), 0.5)).expect_err("another model");
    assert!(other.to_string().contains("a book of model flat, not of model other;"), "{other}");
    let other = BookFile::open(&path, &BookHeader::new(Origin::of("flat"), size(), 1.5)).expect_err("another komi");
    assert!(other.to_string().contains("a book of komi 0.5, not of komi 1.5;"), "{other}");

    let openings = Openings::read(&path).expect("a book");
    assert!(!openings.is_empty());
    let spot = graph.spots().iter().find(|spot| !spot.line.is_empty() && spot.best().is_some());
    let spot = spot.expect("a position with a move");
    // It plays the images of a position alike.
    for symmetry in Symmetry::ALL {
        let mut image = Game::new(size());
        for mv in &spot.line {
            image.play(symmetry.apply_move(size(), *mv)).expect("a legal move");
        }
        let found = openings.best(&image, 0.5).expect("a move");
        let mut after = image.clone();
        after.play(found).expect("a legal move");
        let mut expected = graph.game(spot);
        expected.play(spot.best().expect("a move").mv).expect("a legal move");
        assert_eq!(BookKey::new(&after).1, BookKey::new(&expected).1);
    }
    assert_eq!(openings.best(&graph.game(spot), 1.5), None, "another komi");
    assert_eq!(openings.best(&Game::new(Size::new(5).expect("a size")), 0.5), None);
}
