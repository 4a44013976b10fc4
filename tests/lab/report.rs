//! Reports the results of the scenarios: one line per scenario, and the capability table of `docs/cli-support.md`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::model_server::script::Vendor;

/// The committed table.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli-support.md");

/// What one scenario proved and counted.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// The version that each running CLI reported of itself.
    pub versions: BTreeMap<Vendor, String>,
    /// Model requests that the server counted, per CLI.
    pub n_requests: BTreeMap<Vendor, usize>,
    /// Capability, CLI and what was seen.
    proofs: Vec<(&'static str, Vendor, String)>,
}

impl Notes {
    /// Records a fact of the capability table; call it after the assertion that proves it.
    pub fn prove(&mut self, capability: &'static str, vendor: Vendor, seen: impl Into<String>) {
        self.proofs.push((capability, vendor, seen.into()));
    }

    /// One line for people: versions, requests, time.
    pub fn line(&self, scenario: &str, took: Duration) -> String {
        let mut parts = Vec::new();
        for vendor in Vendor::ALL {
            let version = self
                .versions
                .get(&vendor)
                .map_or("did not run", String::as_str);
            let n_requests = self.n_requests.get(&vendor).copied().unwrap_or_default();
            parts.push(format!(
                "{} {version}, {n_requests} model requests",
                vendor.cli()
            ));
        }
        format!(
            "scenario {scenario}: {} ({:.1} s)",
            parts.join("; "),
            took.as_secs_f64()
        )
    }
}

/// The results of all scenarios of this run.
#[derive(Default)]
pub struct Results {
    finished: Mutex<BTreeMap<&'static str, Option<Notes>>>,
    changed: Condvar,
}

impl Results {
    /// Stores a scenario's notes; `None` if it failed.
    pub fn keep(&self, scenario: &'static str, notes: Option<Notes>) {
        self.finished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(scenario, notes);
        self.changed.notify_all();
    }

    /// Waits for all scenarios and compares the table of their results with the committed one.
    ///
    /// # Errors
    /// A scenario failed or did not run, or the committed table is different.
    pub fn check_document(&self, scenarios: &[&'static str]) -> Result<(), String> {
        let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        let waited =
            self.changed
                .wait_timeout_while(finished, Duration::from_secs(600), |finished| {
                    scenarios
                        .iter()
                        .any(|scenario| !finished.contains_key(scenario))
                });
        let (finished, _) = waited.unwrap_or_else(PoisonError::into_inner);
        for scenario in scenarios {
            if !matches!(finished.get(scenario), Some(Some(_))) {
                return Err(format!(
                    "no table: scenario {scenario} failed or did not run"
                ));
            }
        }
        let table = render(
            scenarios
                .iter()
                .filter_map(|scenario| finished.get(scenario)?.as_ref()),
        );
        if std::env::var_os("UPDATE_DOCS").is_some() {
            return fs::write(DOCUMENT, table)
                .map_err(|error| format!("write {DOCUMENT}: {error}"));
        }
        let committed = fs::read_to_string(DOCUMENT).unwrap_or_default();
        if committed == table {
            return Ok(());
        }
        let difference = similar::TextDiff::from_lines(&committed, &table)
            .unified_diff()
            .to_string();
        Err(format!(
            "{DOCUMENT} differs from what the CLIs did:\n{difference}\nread the difference, then accept it: UPDATE_DOCS=1 cargo test --test lab"
        ))
    }
}

/// Writes the table; the rows have the order in which the scenarios are listed.
fn render<'a>(finished: impl Iterator<Item = &'a Notes>) -> String {
    let mut versions: BTreeMap<Vendor, String> = BTreeMap::new();
    let mut rows: Vec<(&str, BTreeMap<Vendor, &str>)> = Vec::new();
    for notes in finished {
        versions.extend(
            notes
                .versions
                .iter()
                .map(|(&vendor, report)| (vendor, number_of(report))),
        );
        for (capability, vendor, seen) in &notes.proofs {
            match rows.iter_mut().find(|(row, _)| row == capability) {
                Some((_, row)) => drop(row.insert(*vendor, seen)),
                None => rows.push((capability, BTreeMap::from([(*vendor, seen.as_str())]))),
            }
        }
    }
    let version = |vendor| versions.get(&vendor).cloned().unwrap_or_default();
    let mut text = format!(
        "# What the CLIs do\n\n\
         The tests in `tests/lab` write this table from their results, and every run of `tests/run` compares it with them.\n\
         The CLIs are the real ones from npm; the model behind them is a fake server on loopback.\n\
         Do not edit the table: change a scenario, then run `UPDATE_DOCS=1 cargo test --test lab`.\n\n\
         | what was run | codex {} | claude {} |\n|---|---|---|\n",
        version(Vendor::Openai),
        version(Vendor::Anthropic)
    );
    for (capability, seen) in rows {
        let cell = |vendor| seen.get(&vendor).copied().unwrap_or("not run");
        text.push_str(&format!(
            "| {capability} | {} | {} |\n",
            cell(Vendor::Openai),
            cell(Vendor::Anthropic)
        ));
    }
    text
}

/// Returns the version number in what a CLI reported: `lab/0.169.0 (Debian …)` contains `0.169.0`.
pub fn number_of(report: &str) -> String {
    let words = report.split(|character: char| !character.is_ascii_digit() && character != '.');
    words
        .into_iter()
        .find(|word| word.matches('.').count() == 2)
        .unwrap_or(report)
        .to_owned()
}
