//! The run that lies in a directory, as of the last event of its log: no lock, no guard, nothing written.
//!
//! The snapshot is the short way: what it covers is not read again, so that a long log costs no more than its end.
//! Refuses to repair anything, and to say whether the run goes on.

use crate::domain::event::Event;
use crate::domain::run::Run;
use crate::store::events::Backwards;
use crate::store::{Layout, Record, StoreError, events, snapshot};

/// How much of the log's end is read at first, in bytes; mostly the snapshot covers all of it.
const END: u64 = 32 * 1024;

/// Reads the run that lies here; `None` where there is none. Blocks.
///
/// A snapshot that is damaged, or of another log than the one that lies here, counts for nothing: then the log is read
/// from its beginning.
///
/// # Errors
/// The files cannot be read, are of a newer version, or the log is damaged.
pub fn lying(layout: &Layout) -> Result<Option<Run>, StoreError> {
    let known = match snapshot::load::<Run>(layout) {
        Ok(found) => found,
        Err(StoreError::Damaged { .. }) => None,
        Err(error) => return Err(error),
    };
    if let Some(found) = known
        && let Some(later) = since(layout, found.last_seq)?
    {
        return Ok(later.into_iter().fold(Some(found.state), after));
    }
    let mut run = None;
    for record in events::read::<Event>(&layout.events(), 1)? {
        run = after(run, record?);
    }
    Ok(run)
}

/// The run after one more event; its effects are nobody's here.
fn after(run: Option<Run>, record: Record<Event>) -> Option<Run> {
    match (run, &record.event) {
        (None, Event::Created(created)) => Some(Run::new(record.at, created)),
        (None, _) => None,
        (Some(mut run), event) => {
            drop(run.step(record.at, event));
            Some(run)
        }
    }
}

/// The events behind that of a number, in order; `None` where the log does not reach it.
fn since(layout: &Layout, last_seq: u64) -> Result<Option<Vec<Record<Event>>>, StoreError> {
    let mut log = Backwards::<Event>::new(&layout.events());
    let mut later: Vec<Record<Event>> = Vec::new();
    let mut n_bytes = END;
    loop {
        let mut records = log.read_before(n_bytes)?;
        let reaches = records.last().is_some_and(|record| record.seq >= last_seq);
        if later.is_empty() && !reaches {
            return Ok(None);
        }
        let is_all = records.first().is_none_or(|record| record.seq <= last_seq);
        records.retain(|record| record.seq > last_seq);
        records.append(&mut later);
        later = records;
        if is_all || log.is_at_the_beginning() {
            return Ok(Some(later));
        }
        // A turn's words come without a snapshot: what is behind it may be long.
        n_bytes *= 4;
    }
}

#[cfg(test)]
mod tests;
