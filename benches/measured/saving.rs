//! Measures one change of state on disk: an event, the log synced, the snapshot replaced; compared with a plain file
//! of the snapshot's size that is written, synced and renamed.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use agent_collab::domain::event::Event;
use agent_collab::domain::ids::{RunId, UnixMillis};
use agent_collab::store::{
    EventLog, EventOrigin, TamperGuard, WorkdirLayout, WorkdirNames, state_snapshot,
};

use crate::limit::{Limit, verdict};
use crate::{long_run, say, side_by_side, timed};

const ROUNDS: usize = 200;
/// As large as a snapshot may be, however long the run is, in bytes.
const SNAPSHOT: u64 = 16 * 1024;

/// Prints how large the snapshot is after this many events.
pub fn say_snapshot(size: u64, after: &str) -> anyhow::Result<()> {
    let name = format!("the snapshot after {after}");
    let word = verdict(&name, size as f64, SNAPSHOT as f64);
    say(format_args!("{name}: {size} bytes  <= {SNAPSHOT}{word}"))
}

pub fn run() -> anyhow::Result<()> {
    let (root, side) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let journal = long_run::make(root.path(), side.path(), 2_000, 1_000)?;
    let state = journal.state().clone();
    let size = std::fs::metadata(journal.layout().state())?.len();
    say_snapshot(size, "2,000 events")?;

    let place = tempfile::tempdir()?;
    let layout = WorkdirLayout::new(place.path(), WorkdirNames::default())?;
    let _privacy = layout.create()?;
    let guard = TamperGuard::open(&layout, side.path())?;
    let mut log = EventLog::<Event>::create(&guard, &RunId::new("run_1"), UnixMillis(0))?;
    let mut ours = || save(&mut log, &state);
    let bytes = vec![b' '; usize::try_from(size)?];
    let dir = tempfile::tempdir()?;
    let mut beside = || replace(dir.path(), &bytes);
    side_by_side(
        "save the state, nothing new in the log",
        Limit::TimesAnd(1.2, Duration::from_micros(20)),
        ROUNDS,
        &mut ours,
        &mut beside,
    )?;

    let mut log_and_save = || {
        let (took, appended) = timed(|| {
            log.append(
                UnixMillis(1),
                &EventOrigin::default(),
                &Event::TurnSendConfirmed,
            )
        });
        appended?;
        Ok(took + save(&mut log, &state)?)
    };
    let mut file = File::create(dir.path().join("log"))?;
    let mut both = || {
        let (took, done) = timed(|| {
            file.write_all(&[b'x'; 200])?;
            file.sync_data()
        });
        done?;
        Ok(took + replace(dir.path(), &bytes)?)
    };
    side_by_side(
        "an event and its snapshot",
        Limit::None,
        ROUNDS,
        &mut log_and_save,
        &mut both,
    )
}

fn save(
    log: &mut EventLog<Event>,
    state: &agent_collab::domain::run::RunState,
) -> anyhow::Result<Duration> {
    let (took, saved) = timed(|| state_snapshot::commit_snapshot(log, state));
    saved?;
    Ok(took)
}

/// What every atomic replacement needs: written, synced, renamed, the directory synced.
fn replace(dir: &Path, bytes: &[u8]) -> anyhow::Result<Duration> {
    let (took, done) = timed(|| {
        let (new, name) = (dir.join("new"), dir.join("state"));
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(new, name)?;
        File::open(dir)?.sync_all()
    });
    done?;
    Ok(took)
}
