//! Describes questions for the user.

use super::{ArbitrationReason, DraftFile, FileOrigin, MergeConflict, QuestionAsker, QuestionKind};
use crate::domain::bound_parts::describe_binding_changes;
use crate::domain::findings::evidence::EvidenceCheck;
use crate::text::{clean_text, clean_to_one_line, describe_line_changes, pluralize};

impl QuestionKind {
    /// Describes the question in one or a few lines, cleaned.
    pub fn describe(&self) -> String {
        clean_text(&self.describe_uncleaned())
    }

    #[expect(clippy::too_many_lines, reason = "one arm a kind: a list to read")]
    fn describe_uncleaned(&self) -> String {
        match self {
            Self::Gate { order } => {
                format!(
                    "The next turn waits: the {} {}",
                    order.purpose.role().name(),
                    order.purpose.describe()
                )
            }
            Self::Arbitration { reason, open } => {
                let open = pluralize(*open, "finding");
                match reason {
                    ArbitrationReason::Cap => format!("Review limit reached, {open} open"),
                    ArbitrationReason::Stall => {
                        format!("The review makes no progress, {open} open")
                    }
                    ArbitrationReason::ApprovedBeside => {
                        format!("The reviewer approved the plan with {open} open")
                    }
                    ArbitrationReason::LeftOut => {
                        format!("The review leaves out findings that hold the plan up, {open} open")
                    }
                    ArbitrationReason::UnprovenFix => format!(
                        "The review calls findings fixed and quotes nothing that changed, {open} open"
                    ),
                    ArbitrationReason::NothingHolds => {
                        "The reviewer requires changes, but nothing holds the plan up".to_owned()
                    }
                    ArbitrationReason::Circle => {
                        format!("The review goes in a circle, {open} open")
                    }
                    ArbitrationReason::ResidualBlocker => {
                        "The plan is approved, but a blocking finding that came late is true"
                            .to_owned()
                    }
                }
            }
            Self::Dispute { n } => {
                format!("Reviewer and planner do not agree on finding {n}")
            }
            Self::ManualEdit => "The plan is being edited by hand".to_owned(),
            Self::StalePlan { fault, change, .. } => {
                let fault = fault.iter().map(|fault| format!(": {fault}"));
                let change = change
                    .iter()
                    .map(|change| format!(". {}", change.describe()));
                let more: String = fault.chain(change).collect();
                format!("The plan changed after its review{more}")
            }
            Self::Execute { terms } => terms.describe(),
            Self::NoDocument { reason, .. } => format!("The turn returned no document: {reason}"),
            Self::Agent {
                questions, asker, ..
            } => {
                let who = match asker {
                    QuestionAsker::Role { .. } => "The agent",
                    QuestionAsker::Child { path, .. } => path,
                };
                let texts: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
                format!("{who} asks: {}", texts.join(" / "))
            }
            Self::AdapterFailed { kind, message, .. } => {
                format!("The turn failed ({kind}): {message}")
            }
            Self::UsageLimit {
                purpose,
                adapter,
                message,
                until,
                ..
            } => format!(
                "The {} waits for the {adapter} usage limit until {}: {message}",
                purpose.role().name(),
                until.to_utc_hour_minute()
            ),
            Self::Conflict {
                document, clash, ..
            } => describe_conflict(document, clash.as_ref()),
            Self::Draft { files, .. } => {
                let files: Vec<String> = files.iter().map(DraftFile::describe).collect();
                format!(
                    "The interrupted turn left a draft of {}",
                    files.join(" and of ")
                )
            }
            Self::DirtyFiles {
                step,
                paths,
                origin,
            } => {
                let paths: Vec<String> = paths.iter().map(|path| clean_to_one_line(path)).collect();
                origin.describe_question(*step, &paths.join(", "))
            }
            Self::ApprovalChanged { step, changes, .. } => format!(
                "Before step {step}: what you approved has changed: {}",
                describe_binding_changes(changes)
            ),
            Self::EntryPoints { step, changes } => {
                let list: Vec<String> = changes
                    .iter()
                    .map(|c| {
                        format!(
                            "{} ({})",
                            clean_to_one_line(&c.path),
                            clean_to_one_line(&c.why)
                        )
                    })
                    .collect();
                format!(
                    "Step {step} changed files that decide what runs: {}",
                    list.join(", ")
                )
            }
            Self::HeldEdits { step, edits } => {
                let list: Vec<String> = edits
                    .iter()
                    .map(|edit| {
                        format!(
                            "{} ({})",
                            clean_to_one_line(&edit.path),
                            clean_to_one_line(&edit.why)
                        )
                    })
                    .collect();
                format!(
                    "Step {step} changed files that your rules protect: {}",
                    list.join(", ")
                )
            }
            Self::OutOfScope { step, changes } => {
                let list: Vec<String> = changes
                    .iter()
                    .map(|change| {
                        let mark = if change.is_deleted { " (deleted)" } else { "" };
                        format!("{}{mark}", clean_to_one_line(&change.path))
                    })
                    .collect();
                format!(
                    "Step {step} changed files that its plan does not name: {}",
                    list.join(", ")
                )
            }
            Self::NothingChanged { step, said, found } => {
                let said = clean_to_one_line(said);
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!(". Its agent says: {said}")
                };
                let found = clean_to_one_line(found);
                let found = match found.as_str() {
                    "" => found,
                    found => format!(". Not seen by the baseline: {found}"),
                };
                format!("Step {step} changed nothing{said}{found}")
            }
            Self::Blocked {
                step,
                said,
                check,
                n_changed,
            } => {
                let check = check.as_ref().and_then(EvidenceCheck::describe);
                let check = check.map_or(String::new(), |check| format!(" ({check})"));
                let left = match n_changed {
                    0 => String::new(),
                    n => format!(". It changed {} anyway", pluralize(*n, "file")),
                };
                format!(
                    "Step {step} is blocked, its agent says: {}{check}{left}",
                    clean_to_one_line(said)
                )
            }
            Self::TestsFailed { step, found } | Self::TestsInDoubt { step, found } => {
                format!("Step {step}: {found}")
            }
            Self::Unproven { step, found } => {
                format!("Step {step} is not proven: {}", clean_to_one_line(found))
            }
            Self::RunnerMissing { found } => format!("Before step 1: {found}"),
            Self::RedBaseline { found } => format!(
                "Before step 1: {found}. Continue with these known failures, which are no step's fault, or have them \
                fixed first?"
            ),
            Self::TestNetwork { step, line } => format!(
                "{} fail without the machine's network: {}",
                tests_label(*step),
                clean_to_one_line(line)
            ),
            Self::TestSocket { step, lacked } => format!(
                "{} fail without {}, which is hidden from them: {}",
                tests_label(*step),
                lacked.path,
                clean_to_one_line(&lacked.line)
            ),
            Self::CommitFailed { step, message } => {
                format!("The commit of step {step} failed: {message}")
            }
            Self::CannotExecute { reason } => format!("The plan cannot run: {reason}"),
            Self::StepRecovery { step, stage } => {
                format!("Step {step} was cut off ({})", stage.describe())
            }
        }
    }
}

impl FileOrigin {
    /// Describes the question about these files.
    fn describe_question(self, step: u32, paths: &str) -> String {
        match self {
            Self::UsersBefore => {
                format!("Step {step} edited files with uncommitted changes: {paths}")
            }
            Self::WrittenByTests => format!(
                "The tests of step {step} change files each time they run, so the present files are not what \
                was tested (leave-out commits what was tested, include what they wrote): {paths}"
            ),
            Self::OutsideOfCalls => format!(
                "Files changed during step {step}, apparently not by its agent (leave-out keeps them out of \
                the step and its undo): {paths}"
            ),
        }
    }
}

impl DraftFile {
    /// Describes the document and how much of it is new.
    pub fn describe(&self) -> String {
        format!(
            "{}, {}, differs by {}",
            self.name,
            pluralize(self.n_lines, "line"),
            describe_line_changes(self.n_added, self.n_removed)
        )
    }
}

fn describe_conflict(document: &str, clash: Option<&MergeConflict>) -> String {
    match clash {
        None => format!("{document} was edited while a turn was writing it"),
        Some(MergeConflict { file, why }) => format!(
            "{document} was edited while a turn was writing it, and the merge is not finished: {why}. Fix it \
            in {file} and merge again"
        ),
    }
}

/// Names the tests of a step; step 0 is the time before the first one.
pub fn tests_label(step: u32) -> String {
    match step {
        0 => "The tests before step 1".to_owned(),
        step => format!("The tests of step {step}"),
    }
}
