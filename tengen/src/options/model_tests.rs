//! Options that take a model are explained in the same words.

use clap::{Command, CommandFactory};

use super::programs;

/// What a model or a file can be.
const FORMS: &str = "v15-330, v15 for the newest of run v15, 9x9-demo (built in)";

/// The explanations of options that take a model or a file.
fn explanations(command: &Command, found: &mut Vec<String>) {
    for argument in command.get_arguments() {
        if argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == "MODEL|FILE")) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            found.push(format!("{} {}: {help}", command.get_name(), argument.get_id()));
        }
    }
    command.get_subcommands().for_each(|inner| explanations(inner, found));
}

#[test]
fn options_that_take_a_model_or_a_file_name_all_forms() {
    let mut found = Vec::new();
    programs(crate::command::Args::command()).iter().for_each(|program| explanations(program, &mut found));
    assert!(found.len() > 10, "{found:#?}");
    for help in found.iter().filter(|help| !help.contains("in the same form")) {
        assert!(
            help.contains(FORMS) && (help.contains("a file of weights") || help.contains("files of weights")),
            "{help}"
        );
    }
}
