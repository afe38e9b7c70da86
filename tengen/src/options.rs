//! The reference of all options, written by the code that has them: every key of a run's configuration, and every
//! argument of every program.

use std::fmt::Write;

use clap::{Arg, CommandFactory};
use config::reference::{Key, Section, sections};
use config::{Preset, RunConfig};

const HEAD: &str = "\
# Options

This page is written by the programs themselves: `cargo run --release -p tengen -- options > docs/OPTIONS.md`
writes it anew, and a test fails where it is stale.

What affects learning is in a run's configuration. What belongs to the place (store, device, threads) is an argument or an
environment variable.

## The configuration of a run

A configuration is a TOML file. `configs/base.toml` has every key; another file says `extends = \"base.toml\"`, a path relative
to its own folder, and holds only what differs. Tables are merged key by key, lists are replaced. `tengen config show FILE`
prints the resolved configuration, which the run stores; `tengen config diff A B` prints the differences of two. Unknown keys
are errors. `--set section.key=value` overrides a key where a program takes `--set`; words need no quotes there.

Each key has its type, its range, its default (`configs/base.toml`) and Minigo's value where it published one
(`configs/minigo/base.toml`). Editors with Taplo (Even Better TOML) complete and check keys by `docs/config.schema.json`.
";

/// The page, as Markdown; `tengen` is the command line of this program.
pub fn page(tengen: clap::Command) -> String {
    let examples = [Preset::Base, Preset::Minigo].map(Preset::config);
    let mut page = HEAD.to_owned();
    for section in sections() {
        page += &of_section(&section, &examples);
    }
    page += "\n## The programs\n";
    for program in &programs(tengen) {
        page += &of_command(program, program.get_name());
    }
    page
}

fn programs(tengen: clap::Command) -> [clap::Command; 5] {
    [
        tengen.name("tengen"),
        selfplay::command::Args::command().name("selfplay"),
        shuffler::command::Args::command().name("shuffler"),
        trainer::command::Args::command().name("trainer"),
        evaluator::command::Args::command().name("evaluator"),
    ]
}

fn of_section(section: &Section, examples: &[RunConfig; 2]) -> String {
    let name = if section.name.is_empty() { "Above all sections".to_owned() } else { format!("[{}]", section.name) };
    let about = if section.name.is_empty() { "" } else { &section.about };
    let keys: String = section.keys.iter().map(|key| of_key(key, examples)).collect();
    format!("\n### {name}\n\n{about}{}{keys}", if about.is_empty() { "" } else { "\n\n" })
}

fn of_key(key: &Key, examples: &[RunConfig; 2]) -> String {
    let range: String = key.range.iter().map(|range| format!("; {range}")).collect();
    let [base, minigo] = examples.each_ref().map(|config| key.value(config));
    let words: String = key.words.iter().map(|(word, about)| format!("  - `\"{word}\"`: {}\n", plain(about))).collect();
    let (name, kind, about) = (&key.name, &key.kind, plain(&key.about));
    format!("- **`{name}`** ({}{range}): default `{base}`, Minigo `{minigo}`<br>{about}\n{words}", plain(kind))
}

/// On one line.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A program or one of its commands, and what is below it.
fn of_command(command: &clap::Command, name: &str) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!("\n### {name}\n\n{}\n\n", about.trim());
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        text += &of_argument(argument);
    }
    for inner in command.get_subcommands() {
        text += &of_command(inner, &format!("{name} {}", inner.get_name()));
    }
    text
}

fn of_argument(argument: &Arg) -> String {
    let values: Vec<String> =
        argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let takes_values = argument.get_action().takes_values();
    let named = match argument.get_long() {
        Some(long) if takes_values && values.is_empty() => format!("--{long} <{}>", long.to_uppercase()),
        Some(long) if takes_values => format!("--{long} {}", values.join(" ")),
        Some(long) => format!("--{long}"),
        None => format!("<{}>", argument.get_id().as_str().to_uppercase()),
    };
    let mut text = format!("- **`{named}`**");
    if let Some(variable) = argument.get_env() {
        // A string takes all text.
        let _ = write!(text, " or `{}`", variable.to_string_lossy());
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() {
        let _ = write!(text, " (default `{}`)", defaults.join(" "));
    }
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let possible =
        if takes_values && !possible.is_empty() { format!(": {}", possible.join(", ")) } else { String::new() };
    format!("{text}<br>{}{possible}\n", help.trim().replace('\n', " "))
}

#[cfg(test)]
mod numbers;

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        super::page(crate::command::Args::command())
    }

    /// After a change of an option: `cargo run --release -p tengen -- options > docs/OPTIONS.md`, or this test with
    /// UPDATE_EXPECT=1.
    #[test]
    fn the_reference_is_what_the_programs_say() {
        expect_test::expect_file!["../../docs/OPTIONS.md"].assert_eq(&format!("{}\n", page()));
    }

    #[test]
    fn every_argument_is_explained() {
        for line in page().lines().filter(|line| line.starts_with("- **`")) {
            let (_, help) = line.split_once("<br>").unwrap_or((line, ""));
            assert!(help.len() > 5, "{line}");
        }
    }

    #[test]
    fn all_programs_and_their_commands_are_there() {
        let page = page();
        for name in ["tengen", "tengen bench search", "selfplay", "shuffler", "trainer", "evaluator"] {
            assert!(page.contains(&format!("\n### {name}\n")), "{name}");
        }
        for option in ["`search.q_init`", "`loop.models`", "`--set <KEY=VALUE>`", "`TENGEN_STORE`"] {
            assert!(page.contains(option), "{option}");
        }
    }
}
