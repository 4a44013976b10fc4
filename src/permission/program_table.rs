//! What is known of each program, one row each: `data/programs.toml`.
//!
//! The code that judges asks the row of a program. A program without a row has none of these facts.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::embedded_table::parse_embedded_table;

mod program_facts;

pub use program_facts::{
    ArchiveExtractor, CodeInterpreter, CodeLanguage, CommandForm, OperandKind, PrintedOutput,
    ProgramFacts, ProgramTrait, ReaderProgram, ValueOptions, WrapperKind, WrapperSpec,
    WrittenOperands,
};

struct ProgramTable {
    rows: HashMap<String, ProgramFacts>,
    /// Each alias, and the name of the row that has it.
    other_names: HashMap<String, String>,
    /// The programs with each trait, in the order of the alphabet.
    by_trait: HashMap<ProgramTrait, Vec<String>>,
    /// The facts of a program without a row.
    nothing: ProgramFacts,
}

static PROGRAM_TABLE: LazyLock<ProgramTable> = LazyLock::new(|| {
    let rows: BTreeMap<String, ProgramFacts> =
        parse_embedded_table(include_str!("data/programs.toml"));
    let mut other_names = HashMap::new();
    let mut by_trait: HashMap<ProgramTrait, Vec<String>> = HashMap::new();
    for (name, facts) in &rows {
        let aliases = facts.aliases.iter();
        other_names.extend(aliases.map(|alias| (alias.clone(), name.clone())));
        for known in &facts.traits {
            by_trait.entry(*known).or_default().push(name.clone());
        }
    }
    ProgramTable {
        rows: rows.into_iter().collect(),
        other_names,
        by_trait,
        nothing: ProgramFacts::default(),
    }
});

/// Returns what is known of a program by exactly this name.
pub fn program_facts(name: &str) -> &'static ProgramFacts {
    let table = &*PROGRAM_TABLE;
    table.rows.get(name).unwrap_or(&table.nothing)
}

/// Returns whether a program of exactly this name has a trait.
pub fn has_trait(name: &str, wanted: ProgramTrait) -> bool {
    program_facts(name).traits.contains(&wanted)
}

/// Lists the programs with a trait, in the order of the alphabet.
pub fn programs_with_trait(wanted: ProgramTrait) -> impl Iterator<Item = &'static str> {
    let names = PROGRAM_TABLE.by_trait.get(&wanted);
    names.into_iter().flatten().map(String::as_str)
}

/// Returns the name of the program that another name stands for: `rm` for `grm`.
pub fn resolve_alias(name: &str) -> &str {
    let plain = PROGRAM_TABLE.other_names.get(name);
    plain.map_or(name, String::as_str)
}

#[cfg(test)]
mod tests;
