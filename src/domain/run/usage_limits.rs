//! Pauses the run at a usage limit until the limit ends, or moves the role to the other CLI.
//!
//! Does not read the clock: the end of the wait arrives as an event.

use super::{ProgramOperation, RunState, approval_validity, open_questions, turn_start};
use crate::domain::effect::Effect;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{Question, QuestionAnswer, QuestionKind, WaitSource};
use crate::domain::turn::{Role, TurnFailureKind, TurnPurpose, TurnRetryReason, UsageLimit};

/// The waits for a limit whose end is not known, from the first in a row on, in minutes; the last one repeats.
const BACKOFF_MINUTES: [i64; 4] = [5, 10, 20, 30];

/// Extra wait after the reported end, in milliseconds: services count in whole seconds.
const RESET_MARGIN_MS: i64 = 1_000;

/// How old a reported end may be, in milliseconds: the report arrives later than it was made.
const MAX_RESET_AGE_MS: i64 = 10_000;

/// Waits for the end of a usage limit that a turn met, or for another choice of the user.
pub(super) fn wait_for_limit(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    message: &str,
    limit: UsageLimit,
    other: Option<String>,
) -> Vec<Effect> {
    let session = state.session(purpose.role());
    let adapter = session.map_or_else(String::new, |session| session.adapter.clone());
    // A limit whose reported end passed some time ago but still applies gives no useful time.
    let told = limit.resets_at.map(|resets_at| resets_at.0);
    let told = told.filter(|resets_at| resets_at.saturating_add(MAX_RESET_AGE_MS) > at.0);
    let (until, from) = match told {
        Some(resets_at) => (
            resets_at.max(at.0).saturating_add(RESET_MARGIN_MS),
            WaitSource::Cli,
        ),
        None => (at.0.saturating_add(next_backoff_ms(state)), WaitSource::Us),
    };
    open_questions::ask_user(
        state,
        QuestionKind::UsageLimit {
            purpose,
            adapter,
            message: message.to_owned(),
            until: UnixMillis(until),
            from,
            then: Gate::Auto,
            other,
        },
    )
}

/// Returns the next wait for a limit without a known end, in milliseconds.
fn next_backoff_ms(state: &mut RunState) -> i64 {
    let n = usize::try_from(state.blind_waits).unwrap_or(usize::MAX);
    state.blind_waits = state.blind_waits.saturating_add(1);
    let minutes = BACKOFF_MINUTES.get(n).or(BACKOFF_MINUTES.last());
    minutes.copied().unwrap_or_default() * 60_000
}

/// Keeps waiting; `gate` says who releases the turn after the wait.
pub(super) fn keep_waiting(
    state: &mut RunState,
    mut kind: QuestionKind,
    gate: Gate,
) -> Vec<Effect> {
    if let QuestionKind::UsageLimit { then, .. } = &mut kind {
        *then = gate;
    }
    open_questions::ask_user(state, kind)
}

pub(super) fn on_usage_limit_answered(
    state: &mut RunState,
    at: UnixMillis,
    kind: QuestionKind,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match (answer, kind) {
        (QuestionAnswer::Wait, kind) => keep_waiting(state, kind, Gate::Auto),
        (
            QuestionAnswer::SwitchAdapter,
            QuestionKind::UsageLimit {
                purpose,
                other: Some(other),
                ..
            },
        ) => move_role(state, purpose, other),
        // A user who wants the turn now has released it with that answer.
        (_, QuestionKind::UsageLimit { purpose, .. }) => retry_turn(state, at, purpose, Gate::Auto),
        _ => Vec::new(),
    }
}

/// Applies a gate change to a turn that waits for a limit: the manual gate keeps it, the auto gate lets it go.
pub(super) fn on_gate_changed(state: &mut RunState, gate: Gate) {
    if let Some(Question {
        kind: QuestionKind::UsageLimit { then, .. },
        ..
    }) = &mut state.awaiting
    {
        *then = gate;
    }
}

pub(super) fn on_limit_passed(state: &mut RunState, at: UnixMillis, id: u32) -> Vec<Effect> {
    let is_it = |question: &mut Question| {
        question.id == id && matches!(question.kind, QuestionKind::UsageLimit { .. })
    };
    let Some(QuestionKind::UsageLimit { purpose, then, .. }) =
        state.awaiting.take_if(is_it).map(|question| question.kind)
    else {
        return Vec::new();
    };
    retry_turn(state, at, purpose, then)
}

/// Sends the turn again; it is already released where `gate` is auto.
fn retry_turn(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    gate: Gate,
) -> Vec<Effect> {
    state.failures = 0;
    if purpose.phase() == Phase::Execute
        && let Some(stale) = approval_validity::check_approval_before_step(state)
    {
        return stale;
    }
    let order = turn_start::new_turn_order(state, purpose, Some(TurnRetryReason::Failed));
    match gate {
        Gate::Auto => turn_start::start_turn(state, at, order),
        Gate::Manual => open_questions::ask_user(state, QuestionKind::Gate { order }),
    }
}

/// Moves a turn's role to another adapter before the turn is sent again.
pub(super) fn move_role(
    state: &mut RunState,
    purpose: TurnPurpose,
    adapter: String,
) -> Vec<Effect> {
    let role = purpose.role();
    (state.failures, state.blind_waits) = (0, 0);
    state.busy = Some(ProgramOperation::Moving { purpose });
    vec![Effect::MoveRole { role, adapter }]
}

/// Removes and returns the purpose of the role's turn that waits for the move.
fn take_moving_turn(state: &mut RunState, role: Role) -> Option<TurnPurpose> {
    let moving = state.busy.take_if(
        |busy| matches!(busy, ProgramOperation::Moving { purpose } if purpose.role() == role),
    )?;
    match moving {
        ProgramOperation::Moving { purpose } => Some(purpose),
        _ => None,
    }
}

pub(super) fn on_session_moved(
    state: &mut RunState,
    at: UnixMillis,
    role: Role,
    session: &SessionId,
    adapter: &str,
) -> Vec<Effect> {
    let Some(purpose) = take_moving_turn(state, role) else {
        return Vec::new();
    };
    if let Some(current) = state.session_mut(role) {
        *current = current.successor_at_adapter(session.clone(), adapter.to_owned());
    }
    state.kept.redeliver(role);
    if purpose.phase() == Phase::Execute
        && let Some(stale) = approval_validity::check_approval_before_step(state)
    {
        return stale;
    }
    // Another CLI gets another prompt, so the manual gate shows it first.
    turn_start::propose_turn(state, at, purpose, Some(TurnRetryReason::Failed))
}

pub(super) fn on_session_move_failed(
    state: &mut RunState,
    role: Role,
    reason: &str,
) -> Vec<Effect> {
    let Some(purpose) = take_moving_turn(state, role) else {
        return Vec::new();
    };
    open_questions::ask_user(
        state,
        QuestionKind::AdapterFailed {
            purpose,
            kind: TurnFailureKind::Refused,
            message: reason.to_owned(),
            other: None,
        },
    )
}
