//! Every option of every program, given values that no number of its kind has.

use clap::error::ErrorKind;
use clap::{Arg, Command};

use super::programs;

const TRIED: [&str; 11] = ["-1", "0", "1", "2", "5", "400", "0.25", "NaN", "inf", "1e99", "99999999999999999999"];

/// Numbers: the option, and those of [`TRIED`] that it takes.
const NUMBERS: &[(&str, &[&str])] = &[
    ("alpha", &["0.25"]),
    ("batch", &["1", "2", "5", "400"]),
    ("batch-wait", &["0", "1", "2", "5", "400"]),
    ("beta", &["0.25"]),
    ("blocks", &["0", "1", "2", "5"]),
    ("budget", &["1", "2", "5", "400"]),
    ("candidates", &["0", "1", "2", "5"]),
    ("cache-mib", &["0", "1", "2", "5", "400"]),
    ("client-batch", &["1", "2", "5", "400"]),
    ("clients", &["1", "2", "5"]),
    ("compact", &["1", "2", "5", "400"]),
    ("connections", &["1", "2", "5", "400"]),
    ("serve connections", &["5", "400"]),
    ("credit", &["1", "2", "5", "400"]),
    ("drain-seconds", &["0", "1", "2", "5", "400"]),
    ("elo0", &["-1", "0", "1", "2", "5", "400", "0.25"]),
    ("elo1", &["-1", "0", "1", "2", "5", "400", "0.25"]),
    ("evaluator games", &["2", "400"]),
    ("evaluator gate games", &["2", "400"]),
    ("evaluator sprt games", &["2", "400"]),
    ("entries", &["0", "1", "2", "5", "400"]),
    ("every", &["1", "2", "5", "400"]),
    ("examples", &["400"]),
    ("failures", &["0", "1", "2", "5", "400"]),
    ("filters", &["1", "2", "5", "400"]),
    ("generation", &["1", "2", "5", "400"]),
    ("hours", &["1", "2", "5", "400", "0.25"]),
    ("inference-deadline", &["1", "2", "5", "400"]),
    ("eval-interval", &["1", "2", "5", "400"]),
    ("io-threads", &["1", "2", "5"]),
    ("live-interval", &["0", "1", "2", "5", "400"]),
    ("limit", &["1", "2", "5", "400"]),
    ("max-games-per-model", &["0", "1", "2", "5", "400"]),
    ("komi", &["-1", "0", "1", "2", "5", "0.25"]),
    ("evalcache export komi", &["-1", "0", "1", "2", "5", "400", "0.25"]),
    ("minutes", &["1", "2", "5", "400", "0.25"]),
    ("model-mib", &["1", "2", "5", "400"]),
    ("models", &["1", "2", "5", "400"]),
    ("most-visits", &["1", "2", "5", "400"]),
    ("open-models", &["1", "2", "5"]),
    ("pairs", &["1", "2", "5", "400"]),
    ("points", &["0", "1", "2", "5", "400", "0.25"]),
    ("positions", &["2", "5", "400"]),
    ("bench network positions", &["0", "1", "2", "5", "400"]),
    ("ladders positions", &["1", "2", "5", "400"]),
    ("study positions positions", &["1", "2", "5", "400"]),
    ("queue", &["1", "2", "5", "400"]),
    ("reports-mib", &["0", "1", "2", "5", "400"]),
    ("resign", &["-1", "0"]),
    ("searches", &["2", "5", "400"]),
    ("serve searches", &["1", "2", "5", "400"]),
    ("seconds", &["1", "2", "5", "400", "0.25"]),
    ("selfplay games", &["1", "2", "5", "400"]),
    ("size", &["2", "5"]),
    ("stalled-after", &["1", "2", "5", "400"]),
    ("steps", &["1", "2", "5", "400"]),
    ("temperature", &["1", "0.25"]),
    ("threads", &["1", "2", "5", "400"]),
    ("visits", &["1", "2", "5", "400"]),
    ("study values visits", &["0", "1", "2", "5", "400"]),
    ("watch", &["1", "2", "5", "400", "0.25"]),
    ("window", &["1", "2", "5", "400"]),
];

/// Options that are no numbers.
const WORDS: &str = "against against-anchors allow-host anchor book client-ca config device engines eval-positions eval-sgf evalcache \
    evalcache-copies evalcache-steps evalcache-symmetry format from inference inference-ca \
    inference-cert inference-encoding inference-key inference-token-file json keep listen log-format log-level metrics-addr model model-file name new-model objective \
    on-shutdown out pair parquet perspective precision prior python run serve set sgf store times tls-cert tls-key token-file where with worker";

/// A file in one command, and a number in others.
const FILE: &str = "study values positions";

/// The numbers that an option takes by the longest name that fits, or `None` for one that is no number.
fn declared(name: &str) -> Option<&'static [&'static str]> {
    let fits = |row: &&(&str, &[&str])| name == row.0 || name.ends_with(&format!(" {}", row.0));
    NUMBERS.iter().filter(fits).max_by_key(|row| row.0.len()).map(|row| row.1)
}

/// Gives the option this value and nothing else; what is wrong with the value, if it is the value.
fn refused(program: &Command, path: &[&str], option: &str, value: &str) -> Option<clap::Error> {
    let option = format!("--{option}");
    let words = path.iter().copied().chain([option.as_str(), value]);
    let error = program.clone().try_get_matches_from(words).err()?;
    let wrong =
        [ErrorKind::ValueValidation, ErrorKind::InvalidValue, ErrorKind::UnknownArgument].contains(&error.kind());
    wrong.then_some(error)
}

fn check(program: &Command, path: &[&str], argument: &Arg) {
    let option = argument.get_long().expect("a name");
    let name = format!("{} {option}", path.join(" "));
    if name.ends_with(FILE) {
        return;
    }
    let Some(taken) = declared(&name) else {
        let is_word = WORDS.split_whitespace().any(|word| word == option);
        assert!(is_word, "{name} is neither among the numbers nor among the words of this test");
        return;
    };
    for value in TRIED {
        let error = refused(program, path, option, value);
        assert_eq!(error.is_none(), taken.contains(&value), "--{option} {value} of {}: {error:?}", path.join(" "));
    }
    for value in TRIED.into_iter().filter(|value| !taken.contains(value)).chain(["", "many", "0x10", "1;5"]) {
        let error = refused(program, path, option, value).unwrap_or_else(|| panic!("{name} takes {value:?}"));
        let said = error.to_string();
        assert_eq!(error.exit_code(), 2, "{said}");
        let names_it = said.contains(&format!("--{option}")) && said.contains(value);
        // An odd number of games is in the range.
        let gives_range =
            ["..", "number from", "number of at least", "even number"].iter().any(|part| said.contains(part));
        assert!(names_it && (gives_range || value.is_empty()), "{name} {value:?}: {said}");
    }
}

fn check_all(program: &Command, command: &Command, path: &[&str]) {
    let named = command.get_arguments().filter(|argument| argument.get_long().is_some());
    named.filter(|argument| argument.get_action().takes_values()).for_each(|argument| check(program, path, argument));
    for inner in command.get_subcommands() {
        check_all(program, inner, &[path, &[inner.get_name()]].concat());
    }
}

#[test]
fn numeric_options_refuse_values_out_of_range() {
    for program in programs(<crate::command::Args as clap::CommandFactory>::command()) {
        check_all(&program, &program, &[program.get_name()]);
    }
}
