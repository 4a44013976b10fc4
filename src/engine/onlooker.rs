//! A run as its files tell it to somebody who only looks: no lock, no guard, nothing written.
//!
//! The log tells what happened and, folded, where the run stands; the snapshot stands in where the log
//! cannot be read that far, and the log for the snapshot. Refuses to repair anything.

use crate::domain::event::Event;
use crate::domain::run::{Run, State};
use crate::store::events::{Look, Tail};
use crate::store::{Layout, Record, StoreError, snapshot};

/// How many events are read at once, so that a long log neither fills the memory nor stops a screen.
const BATCH: usize = 500;

/// Reads one run, again and again where it goes on.
#[derive(Debug)]
pub struct Onlooker {
    layout: Layout,
    tail: Tail<Event>,
    run: Option<Run>,
}

/// What one look found.
#[derive(Debug, Default)]
pub struct Seen {
    /// Whether everything that was told before is void: another run lies there now.
    pub anew: bool,
    /// What happened since the last look, in order.
    pub records: Vec<Record<Event>>,
    /// Whether there is more to read at once.
    pub more: bool,
    /// Where the run stands, as far as it was read; `None` when there is none.
    pub state: Option<State>,
    /// What cannot be read, and what to do.
    pub problem: Option<String>,
}

impl Onlooker {
    /// Looks at the run whose files lie here.
    pub fn new(layout: Layout) -> Self {
        let tail = Tail::new(&layout.events());
        Self {
            layout,
            tail,
            run: None,
        }
    }

    /// The places that it looks at.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Reads on. Blocks.
    pub fn look(&mut self) -> Seen {
        self.look_at_each(&mut |_, _| {})
    }

    /// Reads on and shows each event with the state in which it came. Blocks.
    pub fn look_at_each(&mut self, each: &mut dyn FnMut(&State, &Event)) -> Seen {
        let mut seen = Seen::default();
        match self.tail.read_on(BATCH) {
            Ok(Look::More(records)) => self.fold(records, &mut seen, each),
            Ok(Look::Anew) => {
                self.run = None;
                seen.anew = true;
                seen.more = true;
            }
            Err(error) => seen.problem = Some(in_words(&error)),
        }
        seen.state = self.run.as_ref().map(|run| run.state().clone());
        if !seen.more {
            self.fill_in(&mut seen);
        }
        seen
    }

    fn fold(
        &mut self,
        records: Vec<Record<Event>>,
        seen: &mut Seen,
        each: &mut dyn FnMut(&State, &Event),
    ) {
        for record in &records {
            if let Some(run) = &self.run {
                each(run.state(), &record.event);
            }
            self.run = Run::after(self.run.take(), record.at, &record.event);
        }
        // After the last events comes a look that finds none, or the trouble behind them.
        seen.more = !records.is_empty();
        seen.records = records;
    }

    /// Takes the snapshot where the log is missing or ends before it.
    fn fill_in(&self, seen: &mut Seen) {
        if seen.state.is_some() && seen.problem.is_none() {
            return;
        }
        match snapshot::load::<Run>(&self.layout) {
            Ok(Some(found)) if found.last_seq > self.tail.last_seq() || self.run.is_none() => {
                seen.state = Some(found.state.state().clone());
            }
            Ok(_) => {}
            Err(error) if seen.problem.is_none() => seen.problem = Some(in_words(&error)),
            // The log's own trouble says enough.
            Err(_) => {}
        }
    }
}

pub(super) fn in_words(error: &StoreError) -> String {
    match error {
        // Archiving or repairing is not for somebody who only looks.
        StoreError::Damaged { .. } => error.to_string(),
        _ => format!("{error}; {}", error.hint()),
    }
}
