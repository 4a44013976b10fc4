//! Makes the table of redaction rules: the rows in TOML become a Rust array, which `redaction_rules.rs` includes.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// The files with rows; their order is the order of the rules.
const RULE_FILES: [&str; 2] = [
    "src/text/redactor/data/vendor_rules.toml",
    "src/text/redactor/data/context_rules.toml",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<RuleRow>,
}

/// A rule as its row says it; `src/text/redactor/redaction_rules.rs` says what the fields mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleRow {
    kind: String,
    start_words: Vec<String>,
    letters: Option<String>,
    least: Option<usize>,
    pattern: Option<String>,
    query_least: Option<usize>,
    finder: Option<String>,
    condition: Option<String>,
    edge: Option<String>,
    #[serde(default)]
    nearby_words: Vec<String>,
    example: String,
}

/// Writes the table into cargo's folder for generated files.
pub fn write_redaction_table() -> Result<(), Box<dyn Error>> {
    let root = env::var("CARGO_MANIFEST_DIR")?;
    println!("cargo:rerun-if-changed=build/redaction_table.rs");
    let mut table = "[\n".to_owned();
    for file in RULE_FILES {
        println!("cargo:rerun-if-changed={file}");
        let text = fs::read_to_string(Path::new(&root).join(file))?;
        let rows: RuleFile = toml::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        for row in rows.rule {
            let rule = row.to_rust().map_err(|error| format!("{file}: {error}"))?;
            writeln!(table, "{rule},")?;
        }
    }
    table.push(']');
    let path = Path::new(&env::var("OUT_DIR")?).join("redaction_rules.rs");
    Ok(fs::write(path, table)?)
}

impl RuleRow {
    /// Returns the rule as a Rust expression. What it names and does not exist does not compile.
    fn to_rust(&self) -> Result<String, String> {
        let Self {
            kind,
            start_words,
            letters,
            least,
            pattern,
            query_least,
            finder,
            condition,
            edge,
            nearby_words,
            example,
        } = self;
        let shape = match (letters, least, pattern, query_least, finder) {
            (Some(letters), Some(least), None, None, None) => {
                format!("Run(TokenAlphabet::{}, {least})", to_variant(letters))
            }
            (None, None, Some(pattern), None, None) => format!("Pattern({pattern:?})"),
            (None, None, None, Some(least), None) => format!("QueryValue({least})"),
            (None, None, None, None, Some(finder)) => format!("Finder({finder})"),
            _ => return Err(format!("this row does not have one shape: {self:?}")),
        };
        let (usual_condition, usual_edge) = match letters {
            Some(_) => ("is_not_example", "word-start"),
            None => ("accept_any", "anywhere"),
        };
        let condition = condition.as_deref().unwrap_or(usual_condition);
        let edge = to_variant(edge.as_deref().unwrap_or(usual_edge));
        Ok(format!(
            "RedactionRule {{ kind: {kind:?}, start_words: &{start_words:?}, shape: SecretShape::{shape}, \
             is_secret: secret_heuristics::{condition}, edge: WordEdge::{edge}, nearby_words: &{nearby_words:?}, \
             #[cfg(test)] example: {example:?} }}"
        ))
    }
}

/// Returns the name of an enum's variant: `WordStart` for `word-start`.
fn to_variant(name: &str) -> String {
    let words = name.split('-');
    let capitalised = words.map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + rest
    });
    capitalised.collect()
}
