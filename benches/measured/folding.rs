//! Measures folding a log of 100,000 events into a run, compared with reading the same bytes into trees.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;

use agent_collab::domain::event::Event;
use agent_collab::domain::run::Run;
use agent_collab::store::event_log::EventLogReader;
use serde_json::Value;

use crate::limit::Limit;
use crate::{long_run, side_by_side, timed};

const ROUNDS: usize = 3;

pub fn run() -> anyhow::Result<()> {
    let (root, side) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let journal = long_run::make(root.path(), side.path(), 100_000, 1_000)?;
    let (log, state) = (journal.layout().events(), journal.state().clone());
    let mut ours = || {
        let (took, folded) = timed(|| fold(&log));
        anyhow::ensure!(
            folded?.as_ref().map(Run::state) == Some(&state),
            "the fold is another run"
        );
        Ok(took)
    };
    let mut beside = || {
        let (took, parsed) = timed(|| parse(&log));
        parsed?;
        Ok(took)
    };
    side_by_side(
        "fold 100,000 events (100 MB)",
        Limit::None,
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

fn fold(log: &Path) -> anyhow::Result<Option<Run>> {
    let mut run: Option<Run> = None;
    EventLogReader::<Event>::from_start(log).read_all(|record| {
        run = black_box(Run::replay_event(run.take(), record.at, &record.event));
    })?;
    Ok(run)
}

fn parse(log: &Path) -> anyhow::Result<()> {
    for line in BufReader::new(File::open(log)?).lines() {
        black_box(serde_json::from_str::<Value>(&line?)?);
    }
    Ok(())
}
