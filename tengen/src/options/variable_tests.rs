//! Who knows a flag knows its variable.

use clap::{Command, CommandFactory};

use super::programs;

/// Flags with variables of other names.
const EXCEPTIONS: [(&str, &str); 1] = [
    // Kubernetes sets it in the pods of an indexed Job.
    ("worker", "JOB_COMPLETION_INDEX"),
];

/// The flags that have variables, with these.
fn variables(command: &Command, found: &mut Vec<(String, String)>) {
    for argument in command.get_arguments() {
        if let Some(variable) = argument.get_env() {
            let flag = argument.get_long().expect("only flags have variables");
            found.push((flag.to_owned(), variable.to_string_lossy().into_owned()));
        }
    }
    command.get_subcommands().for_each(|inner| variables(inner, found));
}

fn by_rule(flag: &str) -> String {
    format!("TENGEN_{}", flag.to_uppercase().replace('-', "_"))
}

#[test]
fn variables_have_the_names_of_their_flags() {
    let mut found = Vec::new();
    programs(crate::command::Args::command()).iter().for_each(|program| variables(program, &mut found));
    let count = found.len();
    found.retain(|(flag, variable)| *variable != by_rule(flag));
    assert!(count - found.len() > 50, "{count} flags have variables");
    found.sort();
    found.dedup();
    assert_eq!(found, EXCEPTIONS.map(|(flag, variable)| (flag.to_owned(), variable.to_owned())));
}
