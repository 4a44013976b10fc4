//! Keeps the record of a run: every event in the log, the run folded from them, and its snapshot.
//!
//! The order is guaranteed: the event is appended, the run is stepped, the log is made durable, the snapshot is
//! replaced; only then is an effect performed.

use crate::domain::effect::Effect;
use crate::domain::event::{Event, RunParameters};
use crate::domain::ids::{SessionId, TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::run::{Run, RunState};
use crate::domain::session::Message;
use crate::domain::turn::Role;
use crate::store::event_log::EventLogReader;
use crate::store::{
    EventLog, EventLogRecord, EventOrigin, RunLog, SessionFiles, StoreError, TamperGuard,
    TamperedFile, TornTail, WorkdirLayout, state_snapshot, utc_time,
};
use crate::text::pluralize;

use super::stored_run;

/// The record of one run, open for writing.
#[derive(Debug)]
pub struct RunJournal {
    guard: TamperGuard,
    log: EventLog<Event>,
    run: Run,
    /// Describes what had to be repaired on opening.
    repair_notices: Vec<String>,
}

impl RunJournal {
    /// Creates the record of a new run and returns it with its first event.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn create(
        guard: TamperGuard,
        created: RunParameters,
    ) -> Result<(Self, EventLogRecord<Event>), StoreError> {
        let at = utc_time::now();
        let run = Run::new(at, &created);
        let id = created.run.clone();
        let mut log = EventLog::create(&guard, &id, at)?;
        let origin = EventOrigin::default();
        let event = Event::RunCreated(Box::new(created));
        let seq = log.append(at, &origin, &event)?;
        state_snapshot::commit_snapshot(&mut log, &run)?;
        let first = EventLogRecord {
            seq,
            at,
            run: id,
            origin,
            event,
        };
        let journal = Self {
            guard,
            log,
            run,
            repair_notices: Vec::new(),
        };
        Ok((journal, first))
    }

    /// Opens the record of a run without a lock, for a reader that records nothing.
    ///
    /// # Errors
    /// The files cannot be read, or have a newer schema.
    pub(super) fn open_for_reading(layout: &WorkdirLayout) -> Result<Option<Self>, StoreError> {
        let Some(run) = stored_run::load_run(layout)? else {
            return Ok(None);
        };
        let guard = TamperGuard::open_for_reading(layout);
        Ok(Some(Self {
            log: EventLog::open_for_reading(&guard, &run.state().run),
            guard,
            run,
            repair_notices: Vec::new(),
        }))
    }

    /// Reopens the record of a run that the program left: the snapshot, and the events after it.
    ///
    /// A missing or damaged snapshot is rebuilt from the log, and an incomplete last line of the log is cut off; a
    /// copy of either is kept. A newer schema is an error, and then nothing is changed.
    ///
    /// # Errors
    /// The files cannot be read, or have a newer schema.
    pub fn reopen(guard: TamperGuard) -> Result<Option<Self>, StoreError> {
        // What cannot be read, or has a newer schema, must be found before anything is repaired.
        let (run, damage) = stored_run::load_run_and_damage(guard.layout())?;
        let Some(opened) = EventLog::<Event>::open(&guard)? else {
            return Ok(None);
        };
        let mut repair_notices: Vec<String> = opened.torn.iter().map(describe_torn_tail).collect();
        if let Some(damage) = damage {
            repair_notices.push(save_damaged_snapshot(guard.layout(), &damage)?);
        }
        let Some(run) = run else {
            return Ok(None);
        };
        let mut journal = Self {
            guard,
            log: opened.log,
            run,
            repair_notices,
        };
        state_snapshot::commit_snapshot(&mut journal.log, &journal.run)?;
        Ok(Some(journal))
    }

    /// Returns the descriptions of the repairs made on opening; each names the saved copy.
    pub fn take_repair_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.repair_notices)
    }

    /// Reads the event that was recorded last. Blocks.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn load_last_record(&self) -> Result<Option<EventLogRecord<Event>>, StoreError> {
        let mut log = EventLogReader::from_end(&self.layout().events());
        Ok(log.read_before(1)?.pop())
    }

    /// Returns the phase that the last recorded change led to; `None` if the end of the log names none. Blocks.
    ///
    /// An event that changes the phase is followed by that record before anything else happens, so the end is enough.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn load_last_phase_change(&self) -> Result<Option<Phase>, StoreError> {
        const END_BYTES: u64 = 256 * 1024;
        let mut log = EventLogReader::from_end(&self.layout().events());
        let records: Vec<EventLogRecord<Event>> = log.read_before(END_BYTES)?;
        let mut later = records.iter().rev();
        let last = later.find_map(|record| match &record.event {
            Event::PhaseChanged { to, .. } => Some(*to),
            _ => None,
        });
        Ok(last.or_else(|| log.is_at_start().then_some(Phase::Init)))
    }

    /// Returns the current state of the run.
    pub fn state(&self) -> &RunState {
        self.run.state()
    }

    /// Returns the tamper guard, which writes all guarded files.
    pub fn guard(&self) -> &TamperGuard {
        &self.guard
    }

    /// Returns the paths of the run's files.
    pub fn layout(&self) -> &WorkdirLayout {
        self.guard.layout()
    }

    /// Records an event and steps the run.
    ///
    /// # Errors
    /// The files cannot be written; the effects are lost with the error, so the caller must stop.
    pub fn record(
        &mut self,
        event: Event,
    ) -> Result<(EventLogRecord<Event>, Vec<Effect>), StoreError> {
        let passes = matches!(event, Event::Agent { .. } | Event::TaskActivity { .. });
        let recorded = self.record_unsynced(event)?;
        if !passes {
            state_snapshot::commit_snapshot(&mut self.log, &self.run)?;
        }
        Ok(recorded)
    }

    /// Records an event that needs the next one, which follows at once; it becomes durable with that one.
    ///
    /// # Errors
    /// Same as [`RunJournal::record`].
    pub fn record_unsynced(
        &mut self,
        event: Event,
    ) -> Result<(EventLogRecord<Event>, Vec<Effect>), StoreError> {
        let at = utc_time::now();
        let origin = self.event_origin(&event);
        let seq = self.log.append(at, &origin, &event)?;
        let effects = self.run.step(at, &event);
        self.log_event_kind(seq, &origin, &event);
        let run = self.run.state().run.clone();
        Ok((
            EventLogRecord {
                seq,
                at,
                run,
                origin,
                event,
            },
            effects,
        ))
    }

    /// Writes the event's kind to debug.log; its text is in the event log.
    fn log_event_kind(&self, seq: u64, origin: &EventOrigin, event: &Event) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let value = serde_json::to_value(event).unwrap_or_default();
        let kind = value["kind"].as_str().unwrap_or("unknown");
        let turn = origin.turn.as_ref().map_or("-", TurnId::as_str);
        tracing::info!(seq, kind, turn, phase = %self.state().phase, "event");
    }

    /// Returns the session and turn that an event belongs to.
    fn event_origin(&self, event: &Event) -> EventOrigin {
        if let Some(origin) = child_origin(event) {
            return origin;
        }
        let (role, turn): (Option<Role>, Option<TurnId>) = match event {
            Event::Agent { role, turn, .. } => (Some(*role), Some(turn.clone())),
            Event::SessionOpened { role, .. }
            | Event::SessionVersion { role, .. }
            | Event::SessionLost { role, .. }
            | Event::UsageReported { role, .. }
            | Event::PlanUseReported { role, .. }
            | Event::MessageAppended { role, .. } => (Some(*role), self.running_turn()),
            Event::TurnStarted { turn, .. }
            | Event::TurnEnded { turn, .. }
            | Event::FilesOpened { turn, .. }
            | Event::PlanCommitted { turn, .. }
            | Event::ReviewCommitted { turn, .. }
            | Event::ResponseCommitted { turn, .. }
            | Event::DocumentMissing { turn, .. }
            | Event::DocumentIncomplete { turn, .. }
            | Event::DocumentConflict { turn, .. }
            | Event::DraftFound { turn, .. }
            | Event::AgentAsked { turn, .. } => (self.running_role(), Some(turn.clone())),
            Event::ApprovalRequested(approval) | Event::ApprovalExpired { approval, .. } => {
                (self.running_role(), Some(approval.turn.clone()))
            }
            _ => (None, None),
        };
        let session = role.and_then(|role| self.role_session_id(role));
        EventOrigin { session, turn }
    }

    fn running_turn(&self) -> Option<TurnId> {
        self.state()
            .running
            .as_ref()
            .map(|running| running.order.turn.clone())
    }

    fn running_role(&self) -> Option<Role> {
        self.state()
            .running
            .as_ref()
            .map(|running| running.order.purpose.role())
    }

    fn role_session_id(&self, role: Role) -> Option<SessionId> {
        self.state().session(role).map(|session| session.id.clone())
    }

    /// Returns the files of a role's session.
    pub fn session_files(&self, id: &SessionId) -> SessionFiles {
        SessionFiles::new(&self.guard, id)
    }

    /// Appends a message to its session's file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_message(&self, id: &SessionId, message: &Message) -> Result<(), StoreError> {
        self.session_files(id).append_message(message)
    }

    /// Appends an entry to log.md.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_log_entry(&self, text: &str) -> Result<(), StoreError> {
        RunLog::new(&self.guard).append_entry(text)
    }

    /// Appends what is missing in log.md of an entry that a crash may have cut off. `log` is the file's content.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn complete_log_entry(&self, log: &[u8], text: &str) -> Result<(), StoreError> {
        RunLog::new(&self.guard).complete_entry(log, text)
    }

    /// Compares the program's own files with what it wrote, and restores them. Reads them all, so never on the main
    /// loop.
    ///
    /// # Errors
    /// A file cannot be read or restored.
    pub async fn check_tampering(guard: TamperGuard) -> Result<Vec<TamperedFile>, StoreError> {
        let checked = tokio::task::spawn_blocking(move || guard.check_and_restore()).await;
        checked.unwrap_or_else(|panicked| {
            let source = std::io::Error::other(panicked.to_string());
            let path = std::path::Path::new(".agent-collab");
            Err(StoreError::from_io(
                "compare with what was written",
                path,
                source,
            ))
        })
    }

    /// Returns the current time.
    pub fn now(&self) -> UnixMillis {
        utc_time::now()
    }
}

/// Returns the child session that an event belongs to, if there is one.
fn child_origin(event: &Event) -> Option<EventOrigin> {
    let session = match event {
        Event::TaskStarted(order) => &order.session,
        Event::TaskEnded(result) => &result.task_id,
        Event::TaskDispatched { session }
        | Event::TaskOpened { session, .. }
        | Event::TaskActivity { session, .. }
        | Event::TaskPatched { session, .. }
        | Event::TaskMovedToBackground { session }
        | Event::TaskReported { session }
        | Event::ChildDeleted { session } => session,
        _ => return None,
    };
    Some(EventOrigin {
        session: Some(session.clone()),
        turn: None,
    })
}

fn describe_torn_tail(torn: &TornTail) -> String {
    format!(
        "the last line of events.jsonl was cut off by a crash; its {} are kept as {}",
        pluralize(usize::try_from(torn.bytes).unwrap_or(usize::MAX), "byte"),
        torn.kept_copy.display()
    )
}

/// Saves a copy of a damaged snapshot before it is replaced, and describes that.
fn save_damaged_snapshot(
    layout: &WorkdirLayout,
    damage: &StoreError,
) -> Result<String, StoreError> {
    let kept = state_snapshot::save_damaged_copy(layout)?;
    let kept = kept.map_or_else(String::new, |path| {
        format!("; it is kept as {}", path.display())
    });
    Ok(format!(
        "the snapshot is damaged ({damage}) and is rebuilt from events.jsonl{kept}"
    ))
}
