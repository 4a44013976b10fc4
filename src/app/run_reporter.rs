//! Reports a headless run as it proceeds: lines of text for people, or the events themselves for programs.
//!
//! Prints without cleaning: text is cleaned when it becomes an event.

use std::io::{self, Write};

use crate::domain::event::Event;
use crate::domain::event_wording::{CallDescriptions, EventSpeaker, EventTone, EventWording};
use crate::domain::phase::Phase;
use crate::domain::proof_progress::ProofProgress;
use crate::engine::ViewUpdate;
use crate::store::EventLogRecord;

/// The output format of a headless run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One or a few lines of text for each important event.
    Lines,
    /// The envelope of each event, one JSON object per line, as in `events.jsonl`.
    Json,
}

/// Prints records; remembers requests, to print a request and its decision in one line.
pub struct RunReporter<'a> {
    out: &'a mut dyn Write,
    pub format: ReportFormat,
    calls: CallDescriptions,
    /// The number of the current review, from 1.
    review_number: u32,
}

impl<'a> RunReporter<'a> {
    /// Creates a reporter that prints to `out`.
    pub fn new(out: &'a mut dyn Write, form: ReportFormat) -> Self {
        Self {
            out,
            format: form,
            calls: CallDescriptions::default(),
            review_number: 0,
        }
    }

    /// Prints a line that is not an event.
    ///
    /// # Errors
    /// The output is closed.
    pub fn print_line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Prints records, and how test runs of proofs ended, in order.
    ///
    /// # Errors
    /// The output is closed.
    pub fn print_updates(&mut self, updates: &[ViewUpdate]) -> io::Result<()> {
        for update in updates {
            match update {
                ViewUpdate::EventRecord(record) => self.print_record(record)?,
                ViewUpdate::ProofProgress(_, progress) => self.print_proof_progress(progress)?,
                // Only screens show a text before it is finished.
                ViewUpdate::TextDelta(_) => {}
            }
        }
        self.out.flush()
    }

    /// Prints how a test run of a proof ended. Programs get the whole proof as an event.
    fn print_proof_progress(&mut self, progress: &ProofProgress) -> io::Result<()> {
        match progress.describe_end() {
            Some(line) if self.format == ReportFormat::Lines => writeln!(self.out, "  {line}"),
            Some(_) | None => Ok(()),
        }
    }

    fn print_record(&mut self, record: &EventLogRecord<Event>) -> io::Result<()> {
        if self.format == ReportFormat::Json {
            let line = record.to_line().map_err(io::Error::other)?;
            return writeln!(self.out, "{line}");
        }
        let Some(wording) = self.calls.word_event(&record.event) else {
            return Ok(());
        };
        let text = match &record.event {
            // The caller says why it ends, after what was printed last.
            Event::ProgramExited { .. } => None,
            Event::ApprovalDecided { .. } => Some(format!("  {}", wording.text)),
            Event::PhaseChanged {
                to: Phase::Review, ..
            } => {
                self.review_number += 1;
                Some(format!("── {} {}", wording.text, self.review_number))
            }
            Event::PhaseChanged {
                to: Phase::Respond, ..
            } => Some(format!("── Answers to review {}", self.review_number)),
            _ => format_wording(&wording),
        };
        text.map_or(Ok(()), |text| writeln!(self.out, "{text}"))
    }
}

/// Formats the words for an event in one or a few lines; `None` if there is nothing to print.
pub fn format_wording(wording: &EventWording) -> Option<String> {
    // What an agent did is indented, below what it said.
    let lead = match (wording.speaker, wording.tone) {
        // The user knows what they said.
        (EventSpeaker::User, EventTone::Message) | (_, EventTone::Minor) => return None,
        (EventSpeaker::Agent(Some(role)), EventTone::Message) => {
            let lead = format!("{} │ ", role.name());
            let text = wording.text.trim_end().replace('\n', &format!("\n{lead}"));
            return Some(lead + &text);
        }
        (_, EventTone::Heading) => "── ",
        (_, EventTone::Question) => "? ",
        (EventSpeaker::Agent(_), EventTone::Quiet | EventTone::Warning | EventTone::Bad) => "  ",
        (EventSpeaker::User | EventSpeaker::Agent(_) | EventSpeaker::Program, _) => "",
    };
    let details = wording.detail.iter().map(|line| format!("\n   {line}"));
    Some(format!(
        "{lead}{}{}",
        wording.text,
        details.collect::<String>()
    ))
}
