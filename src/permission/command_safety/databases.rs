//! Judges commands that drop, empty or reset databases, by their own programs or by statements.

use crate::permission::program_table::{ProgramTrait, program_facts};
use crate::permission::shell::{CommandInput, SimpleCommand};

use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::file_operations::raw_option_values;

const DROPPED: RuleName = RuleName::new("databases.dropped");
const EMPTIED: RuleName = RuleName::new("databases.statement");
const CHANGED: RuleName = RuleName::new("databases.rows");

/// Judges database clients by the statements that they are given.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    if command.has_trait(ProgramTrait::HttpClient) {
        return check_search_store(command, scene);
    }
    if command.program == "redis-cli"
        && let CommandInput::KnownText(text) = &command.simple.input
        && text.lines().any(|line| {
            matches!(
                line.trim().to_uppercase().split(' ').next(),
                Some("FLUSHALL" | "FLUSHDB")
            )
        })
    {
        scene.record_rule(DROPPED, &command.simple.span);
    }
    let Some(client) = program_facts(&command.program).statements() else {
        return;
    };
    let mut statements = raw_option_values(command, &client.options);
    statements.extend(
        command
            .argument_words()
            .iter()
            .filter_map(|word| attached_option_value(&word.text, &client.options)),
    );
    statements.extend(cluster_option_values(command, &client.options));
    if let Some(from) = client.first_operand {
        statements.extend(command.arguments.operand_texts().skip(from));
    }
    let is_document = command.is_one_of(&["mongosh"]);
    for statement in statements {
        check_statement(statement, is_document, command.simple, scene);
    }
    if let CommandInput::KnownText(text) = &command.simple.input {
        check_statement(text, is_document, command.simple, scene);
    }
}

/// `-tAc DROP…`: the last letter of a cluster takes the next word.
fn cluster_option_values<'a>(command: &CommandInvocation<'a>, options: &[String]) -> Vec<&'a str> {
    let is_cluster = |text: &str| {
        let letters = text.strip_prefix('-').filter(|letters| {
            letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic())
        });
        let last = letters.and_then(|letters| letters.chars().last());
        last.is_some_and(|last| {
            options
                .iter()
                .any(|option| option.len() == 2 && option.ends_with(last))
        })
    };
    let pairs = command.argument_words().windows(2);
    pairs
        .filter_map(|pair| match pair {
            [cluster, statement] if is_cluster(&cluster.text) => Some(statement.text.as_str()),
            _ => None,
        })
        .collect()
}

/// `-eDROP…`, `-c'DROP…'`.
fn attached_option_value<'a>(word: &'a str, options: &[String]) -> Option<&'a str> {
    let short = options.iter().filter(|option| option.len() == 2);
    short
        .into_iter()
        .find_map(|option| word.strip_prefix(option.as_str()))
        .filter(|rest| rest.contains(' '))
}

fn check_statement(
    text: &str,
    is_document: bool,
    simple: &SimpleCommand,
    scene: &CommandScene<'_>,
) {
    if is_document {
        if removes_documents(text) {
            scene.record_rule(EMPTIED, &simple.span);
        }
        return;
    }
    for line in text.lines().map(str::trim_start) {
        let shell = ["\\!", ".shell", ".system", "!", "system "]
            .iter()
            .find_map(|escape| line.strip_prefix(escape));
        if let Some(shell) = shell {
            scene.classify_nested_script(shell, &simple.span);
        }
    }
    match statement_harm(text) {
        StatementHarm::None => {}
        StatementHarm::Rows => scene.record_rule(CHANGED, &simple.span),
        StatementHarm::All => scene.record_rule(EMPTIED, &simple.span),
    }
}

/// How much data statements remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementHarm {
    None,
    Rows,
    /// Tables, databases or all rows.
    All,
}

/// Returns the harm of statements; strings and comments are ignored.
pub fn statement_harm(text: &str) -> StatementHarm {
    let bare = strip_strings_and_comments(text).to_uppercase();
    bare.split(';')
        .map(single_statement_harm)
        .max()
        .unwrap_or(StatementHarm::None)
}

fn single_statement_harm(statement: &str) -> StatementHarm {
    let words: Vec<&str> = statement
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '$'))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    // Statements may follow `EXPLAIN ANALYZE`, `WITH … AS (…)`, `BEGIN` and a client's own words.
    let Some(first) = words.iter().position(|word| {
        !matches!(
            *word,
            "BEGIN" | "EXPLAIN" | "ANALYZE" | "START" | "TRANSACTION" | "IF" | "DO"
        )
    }) else {
        return StatementHarm::None;
    };
    let behind = words.get(first..).unwrap_or_default();
    if behind.len() < 2 && !matches!(behind, ["FLUSHALL" | "FLUSHDB"]) {
        return StatementHarm::None;
    }
    match behind {
        [
            "DROP",
            "DATABASE" | "SCHEMA" | "TABLE" | "TABLESPACE" | "KEYSPACE" | "OWNED" | "ROLE" | "USER"
            | "COLUMN" | "EXTENSION" | "MATERIALIZED" | "TYPE" | "COLLECTION" | "BUCKET"
            | "MEASUREMENT" | "SERIES" | "SERVER" | "PUBLICATION" | "FOREIGN" | "SEQUENCE",
            ..,
        ] => StatementHarm::All,
        ["DROP", "TEMPORARY" | "TEMP", ..] => StatementHarm::Rows,
        ["DROP", ..] => StatementHarm::Rows,
        ["TRUNCATE", ..]
        | ["SHUTDOWN", ..]
        | ["RESET", "MASTER", ..]
        | ["PURGE", "BINARY" | "MASTER", ..] => StatementHarm::All,
        ["ALTER", ..] if has("DROP") => StatementHarm::All,
        ["DELETE" | "UPDATE" | "WITH", _, _, ..] | ["DETACH", "DELETE", ..] => {
            row_statement_harm(behind, statement)
        }
        ["MATCH", ..] if has("DELETE") => row_statement_harm(behind, statement),
        ["FLUSHALL" | "FLUSHDB", ..] => StatementHarm::All,
        ["REVOKE", ..] => StatementHarm::Rows,
        _ => StatementHarm::None,
    }
}

fn row_statement_harm(words: &[&str], statement: &str) -> StatementHarm {
    let has = |word: &str| words.contains(&word);
    let deletes = has("DELETE");
    let is_everywhere = !has("WHERE")
        || statement.contains("WHERE 1=1")
        || statement.contains("WHERE TRUE")
        || statement.contains("WHERE 1 = 1")
        || statement.trim_end().ends_with("WHERE 1");
    match (deletes, words.first().copied()) {
        (true, Some("UPDATE")) => StatementHarm::None,
        (true, _) if is_everywhere => StatementHarm::All,
        (true, _) => StatementHarm::Rows,
        (false, Some("UPDATE")) if is_everywhere => StatementHarm::All,
        (false, _) => StatementHarm::None,
    }
}

/// Replaces strings by `''` and comments by a space.
fn strip_strings_and_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                for inner in chars.by_ref() {
                    if inner == '\'' {
                        break;
                    }
                }
                bare.push_str("''");
            }
            '-' if chars.peek() == Some(&'-') => {
                for inner in chars.by_ref() {
                    if inner == '\n' {
                        break;
                    }
                }
                bare.push(' ');
            }
            '/' if chars.peek() == Some(&'*') => {
                let mut before = ' ';
                for inner in chars.by_ref() {
                    if before == '*' && inner == '/' {
                        break;
                    }
                    before = inner;
                }
                bare.push(' ');
            }
            c => bare.push(c),
        }
    }
    bare
}

fn removes_documents(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let calls = [
        ".dropDatabase(",
        ".drop(",
        ".deleteMany({})",
        ".remove({})",
        ".dropUser(",
        ".dropIndexes(",
        ".dropCollection(",
        ".deleteMany()",
        "dropDatabase:",
        "shutdownServer(",
    ];
    calls.iter().any(|call| bare.contains(call))
}

/// Judges HTTP requests that empty Elasticsearch and similar stores.
fn check_search_store(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let deletes = command.argument_words().windows(2).any(|pair| matches!(pair, [flag, method] if matches!(flag.text.as_str(), "-X" | "--request" | "-sX" | "-sSX" | "-XDELETE") && method.text.eq_ignore_ascii_case("delete")))
        || command.argument_words().iter().any(|word| matches!(word.text.as_str(), "-XDELETE" | "--request=DELETE" | "DELETE" | "-sXDELETE"));
    let of_store = |text: &str| {
        text.contains(":9200")
            || text.contains("_all")
            || text.contains(":8983")
            || text.contains(":5984")
            || text.contains(":8086")
            || text.contains("/*")
    };
    let by_query = command
        .argument_words()
        .iter()
        .any(|word| word.text.contains("_delete_by_query"));
    if by_query
        || (deletes
            && command
                .argument_words()
                .iter()
                .any(|word| of_store(&word.text)))
    {
        scene.record_rule(DROPPED, &command.simple.span);
    }
}
