//! Answers questions for the user, as the command-line flags say; a question that no flag answers stays open.

use std::collections::BTreeMap;

use crate::domain::event::Event;
use crate::domain::findings::DisputeSide;
use crate::domain::phase::Gate;
use crate::domain::plan_execution::DirtyPolicy;
use crate::domain::question::{ANSWER_CHOICES, ArbitrationReason, QuestionAnswer, QuestionKind};
use crate::domain::step_scope::ScopeChange;
use crate::engine::{Engine, EngineError};
use crate::permission::ScopePolicy;

/// Limit for flag answers that start a turn again, per kind of question.
const MAX_RETRIES: u32 = 2;
/// Limit for all other flag answers, per kind of question: enough for one per step of a long plan.
const MAX_ANSWERS_PER_KIND: u32 = 200;

/// The answers that the command-line flags give.
#[derive(Debug, Clone, Default)]
pub struct AutoAnswers {
    /// `--yes-execute`
    pub execute: Option<FlagConsent>,
    /// `--test-command plan`, or `--allow-plan-test` where only the plan names a test command: the approval to execute
    /// covers the plan's test command, too.
    pub plan_test: Option<FlagConsent>,
    /// `--on-cap`
    pub on_cap: Option<CapPolicy>,
    /// `--on-dispute`
    pub on_dispute: DisputePolicy,
    /// `--on-unproven waive`
    pub waives_proof: Option<FlagConsent>,
    /// `--on-scope`
    pub on_scope: ScopePolicy,
    /// `--on-dirty`
    pub on_dirty: Option<DirtyPolicy>,
    /// `--answer KIND=CHOICE`
    pub by_kind: BTreeMap<String, String>,
    /// Number of flag answers so far, by kind of question.
    pub used: BTreeMap<String, u32>,
}

/// The user's consent, given in advance by a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagConsent;

/// Who decides a dispute between reviewer and planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DisputePolicy {
    Reviewer,
    Planner,
    /// The result of a discussion about the finding; without one the user.
    Discuss,
    #[default]
    Ask,
}

/// What to do when the review cap is reached or the review stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapPolicy {
    /// Accept the plan as it is.
    Pass,
    /// Allow this many more iterations, once.
    More(u32),
    Cancel,
}

impl std::str::FromStr for CapPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` must be pass, more:N (N from 1) or cancel");
        match text {
            "pass" => Ok(Self::Pass),
            "cancel" => Ok(Self::Cancel),
            _ => {
                let n = text
                    .strip_prefix("more:")
                    .and_then(|n| n.parse().ok())
                    .filter(|n| *n >= 1);
                n.map(Self::More).ok_or_else(wrong)
            }
        }
    }
}

/// Lets agents decide their questions themselves when no user is present; does nothing if there are no questions.
///
/// # Errors
/// The record of the run cannot be written.
pub fn dismiss_questions(engine: &mut Engine) -> Result<(), EngineError> {
    while let Some(id) = engine.state().asked.first().map(|question| question.id) {
        let answer = QuestionAnswer::Dismiss;
        engine.apply_event(Event::QuestionAnswered { id, answer })?;
    }
    Ok(())
}

impl AutoAnswers {
    /// Returns the answer that a flag gives to a question; `None` if there is none or its limit is used up.
    pub fn answer_by_flags(&mut self, kind: &QuestionKind) -> Option<QuestionAnswer> {
        let answer = self.answer_by_own_flag(kind).or_else(|| {
            match (self.by_kind.get(kind.name()), kind) {
                (Some(word), _) => kind.parse_answer(word).filter(|answer| {
                    !is_already_waiting(kind, answer) && self.allows_plan_test(kind, answer)
                }),
                // A turn that was cut off is run again; accepting half a document needs the user's consent.
                (None, QuestionKind::Draft { .. }) => Some(QuestionAnswer::Discard),
                (None, _) => None,
            }
        })?;
        // Questions of child agents do not count against the answers for the roles.
        let counted = if kind.is_from_child() {
            "question of a child"
        } else {
            kind.name()
        };
        let used = self.used.entry(counted.to_owned()).or_default();
        *used += 1;
        // An answer that starts a turn again, or asks the same question again, must not loop forever.
        let asks_again = matches!(kind, QuestionKind::StalePlan { .. });
        let repeats = (asks_again && answer == QuestionAnswer::AcceptAsIs)
            || matches!(
                answer,
                QuestionAnswer::Retry
                    | QuestionAnswer::NewSession
                    | QuestionAnswer::SwitchAdapter
                    | QuestionAnswer::ReviewAgain
                    | QuestionAnswer::Dismiss
                    | QuestionAnswer::SwitchTest
                    | QuestionAnswer::Texts { .. }
            );
        // A merge with conflicts needs the user.
        let needs_a_hand = matches!(kind, QuestionKind::Conflict { clash: Some(_), .. });
        if needs_a_hand && answer == QuestionAnswer::Merge {
            return None;
        }
        // The same words a second time would change nothing.
        let once = matches!(
            answer,
            QuestionAnswer::RequestChanges { .. }
                | QuestionAnswer::SendNotes
                | QuestionAnswer::AmendStep { .. }
                | QuestionAnswer::ReplanStep { .. }
                | QuestionAnswer::FixFirst
        );
        let bound = match (once, repeats) {
            (true, _) => 1,
            (false, true) => MAX_RETRIES,
            (false, false) => MAX_ANSWERS_PER_KIND,
        };
        let answer = match answer {
            QuestionAnswer::Execute => QuestionAnswer::ExecuteByFlag,
            other => other,
        };
        (*used <= bound).then_some(answer)
    }

    /// Like [`AutoAnswers::answer_by_flags`], but dismisses a child agent's question that no flag answers: there is no
    /// user to ask, so the agent decides itself.
    pub fn answer_or_default(&mut self, kind: &QuestionKind) -> Option<QuestionAnswer> {
        let default = kind.is_from_child().then_some(QuestionAnswer::Dismiss);
        self.answer_by_flags(kind).or(default)
    }

    /// Returns whether to wait while no flag answers the question: a usage limit ends by itself.
    pub fn may_wait(&self, kind: &QuestionKind) -> bool {
        let asked_for = self.by_kind.get(kind.name()).map(String::as_str);
        matches!(kind, QuestionKind::UsageLimit { .. }) && matches!(asked_for, None | Some("wait"))
    }

    /// Returns whether the flags permit this answer to approve the test command, which an agent may have chosen.
    fn allows_plan_test(&self, kind: &QuestionKind, answer: &QuestionAnswer) -> bool {
        match kind {
            QuestionKind::Execute { terms } if *answer == QuestionAnswer::Execute => {
                self.plan_test.is_some() || !terms.runs_plan_test()
            }
            _ => true,
        }
    }

    fn answer_by_own_flag(&mut self, kind: &QuestionKind) -> Option<QuestionAnswer> {
        match kind {
            QuestionKind::Execute { .. } => self
                .execute
                .map(|FlagConsent| QuestionAnswer::Execute)
                .filter(|answer| self.allows_plan_test(kind, answer)),
            QuestionKind::Arbitration { reason, .. } => self.answer_at_cap(*reason),
            QuestionKind::Dispute { .. } => match self.on_dispute {
                DisputePolicy::Reviewer => Some(DisputeSide::Reviewer),
                DisputePolicy::Planner => Some(DisputeSide::Planner),
                DisputePolicy::Discuss | DisputePolicy::Ask => None,
            }
            .map(|side| QuestionAnswer::DecideDispute { side }),
            QuestionKind::Unproven { .. } => {
                self.waives_proof
                    .map(|FlagConsent| QuestionAnswer::WaiveProof {
                        reason: "--on-unproven waive".to_owned(),
                    })
            }
            QuestionKind::OutOfScope { changes, .. } => match self.on_scope {
                ScopePolicy::Deny => Some(QuestionAnswer::PutBack),
                ScopePolicy::Allow if !has_deletion(changes) => Some(QuestionAnswer::Allow),
                ScopePolicy::Allow | ScopePolicy::Ask => None,
            },
            QuestionKind::DirtyFiles { .. } => self.on_dirty.map(|policy| match policy {
                DirtyPolicy::Include => QuestionAnswer::Include,
                DirtyPolicy::LeaveOut => QuestionAnswer::LeaveOut,
            }),
            _ => None,
        }
    }

    fn answer_at_cap(&mut self, reason: ArbitrationReason) -> Option<QuestionAnswer> {
        match self.on_cap? {
            // That a blocking finding is true is news: the flag was not given for it.
            CapPolicy::Pass if reason == ArbitrationReason::ResidualBlocker => None,
            CapPolicy::Pass => Some(QuestionAnswer::ForcePass),
            CapPolicy::Cancel => Some(QuestionAnswer::CancelRun),
            CapPolicy::More(n) => {
                // Once only: the next cap is a question again.
                self.on_cap = None;
                Some(QuestionAnswer::MoreIterations { n })
            }
        }
    }
}

fn has_deletion(changes: &[ScopeChange]) -> bool {
    changes.iter().any(|change| change.is_deleted)
}

/// Returns whether the run already does what the answer says.
fn is_already_waiting(kind: &QuestionKind, answer: &QuestionAnswer) -> bool {
    let waits = matches!(
        kind,
        QuestionKind::UsageLimit {
            then: Gate::Auto,
            ..
        }
    );
    waits && *answer == QuestionAnswer::Wait
}

/// Checks a value of `--answer`.
///
/// # Errors
/// The kind of question is unknown, or it has no such choice; the text lists the valid ones.
pub fn check_answer_flag(kind: &str, choice: &str) -> Result<(), String> {
    let Some((_, choices)) = ANSWER_CHOICES.iter().find(|(known, _)| *known == kind) else {
        let known: Vec<&str> = ANSWER_CHOICES.iter().map(|(kind, _)| *kind).collect();
        return Err(format!(
            "no question `{kind}`; known questions: {}",
            known.join(", ")
        ));
    };
    let fits = |offered: &str| match offered.split_once(':') {
        Some((word, "N")) => {
            let n = choice
                .strip_prefix(word)
                .and_then(|rest| rest.strip_prefix(':'));
            n.and_then(|n| n.parse::<u32>().ok())
                .is_some_and(|n| n >= 1)
        }
        Some((word, _)) => choice
            .strip_prefix(word)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with(':')),
        None => offered == "TEXT" && !choice.is_empty() || offered == choice,
    };
    if choices.iter().any(|offered| fits(offered)) {
        Ok(())
    } else {
        Err(format!(
            "`{choice}` is not an answer to {kind}; choices: {}",
            choices.join(", ")
        ))
    }
}

/// Returns the flag that would have answered a question.
pub fn flag_for(kind: &QuestionKind) -> String {
    match kind {
        QuestionKind::Gate { .. } => "--auto".to_owned(),
        QuestionKind::Execute { terms } if terms.runs_plan_test() => {
            "--yes-execute --test-command plan (an agent chose the test command in the plan)"
                .to_owned()
        }
        QuestionKind::Execute { .. } => "--yes-execute".to_owned(),
        QuestionKind::Arbitration {
            reason: ArbitrationReason::ResidualBlocker,
            ..
        } => "--on-cap more:N|cancel or --answer arbitration=pass|more:N|edit|cancel".to_owned(),
        QuestionKind::Dispute { .. } => "--on-dispute reviewer|planner|discuss".to_owned(),
        QuestionKind::Arbitration { .. } => "--on-cap pass|more:N|cancel".to_owned(),
        QuestionKind::Unproven { .. } => {
            "--on-unproven waive or --answer unproven=retry|waive:TEXT|replan|stop|cancel"
                .to_owned()
        }
        QuestionKind::OutOfScope { changes, .. } if has_deletion(changes) => {
            "--on-scope deny or --answer out_of_scope=allow|put-back|stop|cancel".to_owned()
        }
        QuestionKind::OutOfScope { .. } => "--on-scope allow|deny".to_owned(),
        QuestionKind::DirtyFiles { .. } => "--on-dirty include|leave-out".to_owned(),
        QuestionKind::StepRecovery { .. } => "--on-step continue|done|redo|stop".to_owned(),
        // A merge was tried and has conflicts, so `merge` is not offered.
        QuestionKind::Conflict { clash: Some(_), .. } => {
            "--answer conflict=overwrite|discard|cancel".to_owned()
        }
        other => format!("--answer {}={}", other.name(), other.choices().join("|")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Sha256;
    use crate::domain::question::{CommitTarget, ExecutionTerms};
    use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};

    fn cap() -> QuestionKind {
        QuestionKind::Arbitration {
            reason: ArbitrationReason::Cap,
            open: 1,
        }
    }

    #[test]
    fn more_iterations_are_granted_once() {
        let mut answers = AutoAnswers {
            on_cap: "more:2".parse().ok(),
            ..AutoAnswers::default()
        };
        assert_eq!(
            answers.answer_by_flags(&cap()),
            Some(QuestionAnswer::MoreIterations { n: 2 })
        );
        assert_eq!(answers.answer_by_flags(&cap()), None);
        assert!("more:0".parse::<CapPolicy>().is_err());
    }

    #[test]
    fn a_true_blocking_finding_is_not_passed_by_the_flag_for_the_limit() {
        let kind = QuestionKind::Arbitration {
            reason: ArbitrationReason::ResidualBlocker,
            open: 0,
        };
        let answer = |on_cap: &str| {
            let mut answers = AutoAnswers {
                on_cap: on_cap.parse().ok(),
                ..AutoAnswers::default()
            };
            answers.answer_by_flags(&kind)
        };
        assert_eq!(answer("pass"), None);
        let more = QuestionAnswer::MoreIterations { n: 1 };
        assert_eq!(answer("more:1"), Some(more));
        assert!(flag_for(&kind).contains("arbitration=pass"));
    }

    #[test]
    fn a_deletion_outside_of_a_step_is_not_allowed_by_the_flag_for_its_scope() {
        let answered = |on_scope, is_deleted| {
            let change = ScopeChange {
                path: "a".to_owned(),
                is_deleted,
            };
            let kind = QuestionKind::OutOfScope {
                step: 1,
                changes: vec![change],
            };
            let mut answers = AutoAnswers {
                on_scope,
                ..AutoAnswers::default()
            };
            answers.answer_by_flags(&kind)
        };
        assert_eq!(answered(ScopePolicy::Ask, false), None);
        let allowed = Some(QuestionAnswer::Allow);
        assert_eq!(answered(ScopePolicy::Allow, false), allowed);
        assert_eq!(answered(ScopePolicy::Allow, true), None);
        for is_deleted in [false, true] {
            let put_back = Some(QuestionAnswer::PutBack);
            assert_eq!(answered(ScopePolicy::Deny, is_deleted), put_back);
        }
    }

    #[test]
    fn a_dispute_is_decided_only_by_its_own_flag() {
        let kind = QuestionKind::Dispute { n: 2 };
        let answer = |on_dispute| {
            let mut answers = AutoAnswers {
                on_cap: "pass".parse().ok(),
                on_dispute,
                ..AutoAnswers::default()
            };
            answers.answer_by_flags(&kind)
        };
        let decided = |side| Some(QuestionAnswer::DecideDispute { side });
        assert_eq!(answer(DisputePolicy::Ask), None);
        assert_eq!(answer(DisputePolicy::Discuss), None);
        assert_eq!(
            answer(DisputePolicy::Reviewer),
            decided(DisputeSide::Reviewer)
        );
        assert_eq!(
            answer(DisputePolicy::Planner),
            decided(DisputeSide::Planner)
        );
    }

    #[test]
    fn a_test_command_of_the_plan_needs_a_flag_of_its_own() {
        let kind = |source| {
            let command = "make check".to_owned();
            let place = None;
            let origin = TestCommandOrigin { source, place };
            QuestionKind::Execute {
                terms: ExecutionTerms {
                    plan: Sha256::new("x"),
                    test: Some(TestCommand {
                        command,
                        parts: Vec::new(),
                        origin,
                    }),
                    other_test: None,
                    commits: CommitTarget::Off {
                        reason: String::new(),
                    },
                    dirty: Vec::new(),
                    left: None,
                    binding: None,
                    change: None,
                },
            }
        };
        let answered = |plan_test, source| {
            let mut answers = AutoAnswers {
                execute: Some(FlagConsent),
                plan_test,
                ..AutoAnswers::default()
            };
            answers.answer_by_flags(&kind(source))
        };
        let yes = Some(QuestionAnswer::ExecuteByFlag);
        assert_eq!(answered(None, TestCommandSource::Detected), yes);
        assert_eq!(answered(None, TestCommandSource::Configured), yes);
        assert_eq!(answered(None, TestCommandSource::Proposed), None);
        assert_eq!(
            answered(Some(FlagConsent), TestCommandSource::Proposed),
            yes
        );
        assert!(flag_for(&kind(TestCommandSource::Proposed)).contains("--test-command plan"));
        // The same if `--answer execute=yes` gives the consent.
        let by_kind = |plan_test| {
            let by_kind = BTreeMap::from([("execute".to_owned(), "yes".to_owned())]);
            let mut answers = AutoAnswers {
                by_kind,
                plan_test,
                ..AutoAnswers::default()
            };
            answers.answer_by_flags(&kind(TestCommandSource::Proposed))
        };
        assert_eq!(by_kind(None), None);
        assert_eq!(by_kind(Some(FlagConsent)), yes);
    }

    #[test]
    fn a_retry_by_flag_comes_to_an_end() {
        let kind = QuestionKind::CommitFailed {
            step: 1,
            message: String::new(),
        };
        let by_kind = BTreeMap::from([("commit_failed".to_owned(), "retry".to_owned())]);
        let mut answers = AutoAnswers {
            by_kind,
            ..AutoAnswers::default()
        };
        let given: Vec<bool> = (0..4)
            .map(|_| answers.answer_by_flags(&kind).is_some())
            .collect();
        assert_eq!(given, [true, true, false, false]);
        let flag = "--answer commit_failed=retry|go-on|stop|cancel";
        assert_eq!(flag_for(&kind), flag);
    }

    #[test]
    fn failing_tests_are_accepted_by_flag_in_each_step_of_a_long_plan() {
        let answered = |kind: &QuestionKind, name: &str| {
            let by_kind = BTreeMap::from([(name.to_owned(), "accept".to_owned())]);
            let mut answers = AutoAnswers {
                by_kind,
                ..AutoAnswers::default()
            };
            (0..10)
                .filter(|_| answers.answer_by_flags(kind).is_some())
                .count()
        };
        let failed = QuestionKind::TestsFailed {
            step: 1,
            found: String::new(),
        };
        assert_eq!(answered(&failed, "tests_failed"), 10);
        // A plan that keeps changing is not.
        let stale = QuestionKind::StalePlan {
            reviewed: Sha256::new("x"),
            now: Sha256::new("y"),
            fault: None,
            change: None,
        };
        assert_eq!(answered(&stale, "stale_plan"), 2);
    }

    #[test]
    fn only_known_kinds_and_choices_are_taken() {
        for (kind, choice) in [
            ("tests_failed", "accept"),
            ("arbitration", "more:2"),
            ("question", "use sqlite"),
        ] {
            assert_eq!(check_answer_flag(kind, choice), Ok(()));
        }
        for (kind, choice) in [
            ("test_failed", "accept"),
            ("arbitration", "more:0"),
            ("execute", "changes:"),
        ] {
            assert!(check_answer_flag(kind, choice).is_err(), "{kind}={choice}");
        }
    }
}
