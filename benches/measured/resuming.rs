//! Measures resuming a run of 100,000 events, showing the last page of it, and paging back to the start; compared with
//! a program that reads, parses and stores all of it. Measures the memory of each too.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use agent_collab::domain::event::{Event, EventRecord};
use agent_collab::engine::run_journal::RunJournal;
use agent_collab::store::event_log::EventLogReader;
use agent_collab::store::{TamperGuard, WorkdirLayout, WorkdirNames};
use agent_collab::tui::{Screen, ScreenSettings, ScrollbackChunk};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::Value;

use crate::limit::{Limit, verdict};
use crate::saving::say_snapshot;
use crate::{long_run, say, side_by_side, timed};

const ROUNDS: usize = 3;
/// The memory limit of the whole program with a run of this length, in KiB.
const MEMORY: u64 = 32 * 1024;
/// As much of the log as the screen reads before it shows anything of it.
const PAGE: u64 = 96 * 1024;
/// The limit of what it reads at a time on the way to the start.
const ON_THE_WAY: u64 = 8 * 1024 * 1024;

pub fn run() -> anyhow::Result<()> {
    let (root, side) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let layout = WorkdirLayout::new(root.path(), WorkdirNames::default())?;
    let state = long_run::make(root.path(), side.path(), 100_000, 1_000)?
        .state()
        .clone();
    let size = std::fs::metadata(layout.state())?.len();
    say_snapshot(size, "100,000 events")?;
    let before = anonymous();
    let mut ours = || {
        let (took, reopened) =
            timed(|| RunJournal::reopen(TamperGuard::open(&layout, side.path())?));
        let same = reopened?.is_some_and(|journal| journal.state() == &state);
        anyhow::ensure!(same, "another run was taken up");
        Ok(took)
    };
    let mut page = || {
        let (took, shown) = timed(|| last_page(&layout));
        shown?;
        Ok(took)
    };
    let mut beside = || keep_all(&layout);
    // The simple way leaves its memory in the allocator, so the program's memory is measured before it runs.
    ours()?;
    page()?;
    let (name, taken) = (
        "memory taken by both of ours",
        anonymous().saturating_sub(before),
    );
    say(format_args!(
        "{name}: {taken} KiB  <= {MEMORY} KiB{}",
        verdict(name, taken as f64, MEMORY as f64)
    ))?;
    side_by_side(
        "take up a run of 100,000 events",
        Limit::Times(1.5),
        ROUNDS,
        &mut ours,
        &mut beside,
    )?;
    side_by_side(
        "the last page of it, ready to be drawn",
        Limit::Within(Duration::from_millis(20)),
        ROUNDS,
        &mut page,
        &mut beside,
    )?;
    let mut all = || {
        let (took, shown) = timed(|| all_pages(&layout));
        anyhow::ensure!(shown?.wanted_scrollback().is_none(), "something is missing");
        Ok(took)
    };
    side_by_side(
        "its whole transcript, on the screen",
        Limit::Times(1.5),
        ROUNDS,
        &mut all,
        &mut beside,
    )
}

/// Scrolls back to the start, like a user who presses Home.
fn all_pages(layout: &WorkdirLayout) -> anyhow::Result<Screen> {
    let mut screen = Screen::new(ScreenSettings::default());
    let mut log = EventLogReader::<Event>::from_end(&layout.events());
    screen.on_scrollback(page(&mut log, PAGE)?);
    let home = KeyEvent::new(KeyCode::Home, KeyModifiers::NONE);
    let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    for key in [escape, home] {
        let _no_action = screen.on_key(key, None);
    }
    while screen.wanted_scrollback().is_some() {
        screen.on_scrollback(page(&mut log, ON_THE_WAY)?);
    }
    Ok(screen)
}

fn last_page(layout: &WorkdirLayout) -> anyhow::Result<ScrollbackChunk> {
    page(&mut EventLogReader::from_end(&layout.events()), PAGE)
}

fn page(log: &mut EventLogReader<Event>, n_bytes: u64) -> anyhow::Result<ScrollbackChunk> {
    let records = log.read_before(n_bytes)?;
    let before = records.first().map_or(0, |record| record.seq - 1);
    let recorded: Vec<EventRecord> = records
        .into_iter()
        .map(|record| EventRecord {
            at: record.at,
            event: record.event,
        })
        .collect();
    Ok(ScrollbackChunk::from_events(before, &recorded))
}

fn keep_all(layout: &WorkdirLayout) -> anyhow::Result<Duration> {
    let (took, kept) = timed(|| -> anyhow::Result<Vec<(String, Value)>> {
        let lines = BufReader::new(File::open(layout.events())?).lines();
        lines
            .map(|line| {
                let line = line?;
                let value = serde_json::from_str(&line)?;
                Ok((line, value))
            })
            .collect()
    });
    kept?;
    Ok(took)
}

/// Returns how much private memory this process has, in KiB; 0 if the system does not report it.
fn anonymous() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok())
        .unwrap_or(0)
}
