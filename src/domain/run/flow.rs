//! How turns start and end, whatever they are for.

use super::late::Ended;
use super::{
    Busy, Counts, ResultForAgent, Running, State, Unanswered, approving, asking, children,
    executing, late, limits, outside, replanning, saying,
};
use crate::domain::effect::{Effect, Expiry};
use crate::domain::event::Process;
use crate::domain::ids::{At, SessionId, TurnId};
use crate::domain::phase::{Cause, Gate, Phase, TurnHold, next_phase};
use crate::domain::question::{Question, QuestionKind};
use crate::domain::session::{Message, PlanWindow, Usage};
use crate::domain::todo::Todos;
use crate::domain::turn::{Again, Purpose, Role, TurnOrder, TurnResult};

/// How often a turn that failed for a passing reason is tried again unasked.
const RETRIES: u32 = 1;

/// Changes the phase where the table allows it, and says whether it did.
pub(super) fn go(state: &mut State, cause: Cause) -> bool {
    match next_phase(state.phase, cause) {
        Some(phase) => {
            state.phase = phase;
            true
        }
        None => false,
    }
}

/// Makes a turn and starts it, or lets it wait for the user's release.
pub(super) fn propose(
    state: &mut State,
    at: At,
    purpose: Purpose,
    again: Option<Again>,
) -> Vec<Effect> {
    let order = make_order(state, purpose, again);
    match state.gate {
        Gate::Auto => start(state, at, order),
        Gate::Manual => ask(state, QuestionKind::Gate { order }),
    }
}

pub(super) fn make_order(state: &mut State, purpose: Purpose, again: Option<Again>) -> TurnOrder {
    let turn = TurnId::new(format!("trn_{}", state.next_turn));
    state.next_turn += 1;
    TurnOrder {
        turn,
        purpose,
        again,
    }
}

/// Starts a released turn; one that may write waits until the tree is stored.
pub(super) fn start(state: &mut State, at: At, order: TurnOrder) -> Vec<Effect> {
    let stored = match &order.purpose {
        Purpose::Step { n } => Some((*n, 0)),
        Purpose::Fix { n, attempt } => Some((*n, *attempt)),
        // The summary reads only; its tree is stored all the same, as before each turn in EXECUTE.
        Purpose::Summary => Some((0, 0)),
        Purpose::RefineGoal { .. } | Purpose::WritePlan | Purpose::Review | Purpose::Respond => {
            None
        }
    };
    match stored {
        Some((step, attempt)) => {
            state.busy = Some(Busy::Storing { order });
            vec![Effect::Snapshot { step, attempt }]
        }
        None => run_turn(state, at, order),
    }
}

/// Marks a turn as running, or lets it wait while the user is being asked whether to stop.
pub(super) fn run_turn(state: &mut State, at: At, order: TurnOrder) -> Vec<Effect> {
    if state.turn_hold == TurnHold::Held {
        let by = state.gate;
        state.busy = Some(Busy::Held { order, by });
        return Vec::new();
    }
    state.plan_stays = None;
    if order.purpose == Purpose::Review {
        state.reviewing = state.plan_hash().cloned();
        state.notes.on_review(&order.turn);
    }
    if order.purpose == Purpose::Respond {
        state.notes.on_respond(&order.turn);
    }
    saying::on_turn(state, &order.turn);
    state.running = Some(Running {
        order: order.clone(),
        started_at: at,
        result: Counts::Yes,
        process: None,
    });
    vec![Effect::StartTurn(order)]
}

/// Starts the turn that was held back, once turns may start. One that the auto gate released waits at the gate where
/// that is manual by now.
pub(super) fn on_hold_changed(state: &mut State, at: At, hold: TurnHold) -> Vec<Effect> {
    state.turn_hold = hold;
    if hold == TurnHold::Held {
        return Vec::new();
    }
    match state.busy.take() {
        Some(Busy::Held { order, by }) if by == Gate::Auto && state.gate == Gate::Manual => {
            ask(state, QuestionKind::Gate { order })
        }
        Some(Busy::Held { order, .. }) => {
            let is_step = order.purpose.phase() == Phase::Execute;
            let stale = is_step.then(|| approving::stale_before_step(state));
            stale
                .flatten()
                .unwrap_or_else(|| run_turn(state, at, order))
        }
        other => {
            state.busy = other;
            Vec::new()
        }
    }
}

/// Puts a question to the user; nothing starts until it is answered.
pub(super) fn ask(state: &mut State, kind: QuestionKind) -> Vec<Effect> {
    let question = number(state, kind);
    state.awaiting = Some(question.clone());
    vec![Effect::Ask(question)]
}

/// Puts a question to the user that holds nothing up but the agent that asks it.
pub(super) fn ask_beside(state: &mut State, kind: QuestionKind) -> Vec<Effect> {
    let question = number(state, kind);
    state.asked.push(question.clone());
    vec![Effect::Ask(question)]
}

fn number(state: &mut State, kind: QuestionKind) -> Question {
    let id = state.next_question;
    state.next_question += 1;
    Question { id, kind }
}

/// Tells whether nothing runs, nothing waits and the program itself is at rest.
pub(in crate::domain) fn is_idle(state: &State) -> bool {
    let waits = state.awaiting.is_some() || state.held_end.is_some();
    state.running.is_none() && state.busy.is_none() && !waits
}

pub(super) fn on_turn_started(
    state: &mut State,
    turn: &TurnId,
    process: Option<&Process>,
) -> Vec<Effect> {
    if let Some(running) = state
        .running
        .as_mut()
        .filter(|running| running.order.turn == *turn)
    {
        running.process = process.cloned();
        // Its prompt went out, and this with it.
        let role = running.order.purpose.role();
        state
            .unanswered
            .retain(|unanswered| unanswered.role != role);
        state.refused.retain(|refused| refused.role != role);
        state.results.retain(|result| result.role != role);
        saying::on_told(state, turn, role);
    }
    Vec::new()
}

pub(super) fn on_turn_ended(
    state: &mut State,
    at: At,
    turn: &TurnId,
    result: &TurnResult,
) -> Vec<Effect> {
    let Some(running) = state.running.take_if(|running| running.order.turn == *turn) else {
        return Vec::new();
    };
    outside::on_turn_ended(state, at);
    let role = running.order.purpose.role();
    let asked = asking::take_of_turn(state);
    let mut effects = expire(state, role, Expiry::TurnEnded);
    if let Some(session) = state.session(role) {
        effects.extend(children::stop_awaited(state, &session.id));
    }
    if running.result == Counts::No {
        late::forget(state);
        effects.extend(replanning::go_on(state, at));
        return effects;
    }
    let (running, asked) = match late::end(state, running, result, asked) {
        Ended::GoesOn(running, asked) => (running, asking::in_words(&asked)),
        Ended::Waits => return effects,
        Ended::Again(order, again) => {
            effects.extend(late::again(state, at, order, again));
            return effects;
        }
    };
    effects.extend(match (result, asked) {
        // Its agent was told to end the turn without the answer.
        (
            TurnResult::Completed {
                question: None,
                summary,
            },
            asked @ Some(_),
        ) => {
            let result = TurnResult::Completed {
                question: asked,
                summary: summary.clone(),
            };
            go_on_after(state, at, running, &result)
        }
        (result, _) => go_on_after(state, at, running, result),
    });
    effects
}

/// Whose turn runs; without one nobody waits for anything.
pub(super) fn running_role(state: &State) -> Role {
    let running = state.running.as_ref();
    running.map_or(Role::Planner, |running| running.order.purpose.role())
}

/// Takes back every call that waits. What the program's end cut off is told to its agent.
pub(super) fn expire(state: &mut State, role: Role, why: Expiry) -> Vec<Effect> {
    // What children asked for expires with their own tasks.
    let all = std::mem::take(&mut state.approvals).into_iter();
    let (children, approvals): (Vec<_>, Vec<_>) =
        all.partition(|approval| children::is_at(state, &approval.turn));
    state.approvals = children;
    if why == Expiry::ProgramEnded {
        let unanswered = approvals.iter().map(|approval| Unanswered {
            role,
            what: approval.in_words(),
        });
        state.unanswered.extend(unanswered);
    }
    match approvals.is_empty() {
        true => Vec::new(),
        false => vec![Effect::ExpireApprovals { approvals, why }],
    }
}

/// Goes on with a turn that is over.
pub(super) fn go_on_after(
    state: &mut State,
    at: At,
    running: Running,
    result: &TurnResult,
) -> Vec<Effect> {
    match result {
        TurnResult::Completed { question, summary } => {
            (state.failures, state.blind_waits) = (0, 0);
            saying::on_done(state, running.order.purpose.role());
            on_completed(state, at, running.order, question.clone(), summary)
        }
        TurnResult::Interrupted if running.order.purpose == Purpose::Summary => {
            approving::finish(state, at)
        }
        TurnResult::Interrupted => on_turn_interrupted(state, running.order),
        TurnResult::Failed { .. } if running.order.purpose == Purpose::Summary => {
            on_summary_failed(state, at, result)
        }
        TurnResult::Failed {
            message,
            limit: Some(limit),
            other,
            ..
        } => limits::wait(
            state,
            at,
            running.order.purpose,
            (message, *limit, other.clone()),
        ),
        TurnResult::Failed { .. } => on_failed(state, at, running.order, result),
    }
}

pub(super) fn on_result_came(state: &mut State, role: Role, text: &str) -> Vec<Effect> {
    let text = text.to_owned();
    state.results.push(ResultForAgent { role, text });
    Vec::new()
}

fn on_completed(
    state: &mut State,
    at: At,
    order: TurnOrder,
    question: Option<String>,
    summary: &str,
) -> Vec<Effect> {
    match order.purpose {
        Purpose::RefineGoal { .. } => Vec::new(),
        Purpose::WritePlan | Purpose::Review | Purpose::Respond => {
            state.busy = Some(Busy::Collecting {
                order: order.clone(),
                question,
            });
            vec![Effect::CollectDocument(order)]
        }
        Purpose::Step { n } | Purpose::Fix { n, .. } => {
            executing::audit(state, n, question, summary)
        }
        Purpose::Summary => approving::finish(state, at),
    }
}

/// An interrupted turn waits for the user, whatever the gate was.
fn on_turn_interrupted(state: &mut State, order: TurnOrder) -> Vec<Effect> {
    state.gate = Gate::Manual;
    let order = make_order(state, order.purpose, Some(Again::Failed));
    ask(state, QuestionKind::Gate { order })
}

fn on_summary_failed(state: &mut State, at: At, result: &TurnResult) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let TurnResult::Failed { kind, message, .. } = result {
        effects.push(Effect::Log(format!(
            "The summary failed ({kind}): {message}"
        )));
    }
    effects.extend(approving::finish(state, at));
    effects
}

fn on_failed(state: &mut State, at: At, order: TurnOrder, result: &TurnResult) -> Vec<Effect> {
    let TurnResult::Failed {
        kind,
        message,
        transient,
        other,
        ..
    } = result
    else {
        return Vec::new();
    };
    let retry = *transient && state.failures < RETRIES;
    state.failures += 1;
    if retry {
        return propose(state, at, order.purpose, Some(Again::Failed));
    }
    let (kind, message, other) = (kind.clone(), message.clone(), other.clone());
    ask(
        state,
        QuestionKind::AdapterFailed {
            purpose: order.purpose,
            kind,
            message,
            other,
        },
    )
}

pub(super) fn on_session_opened(state: &mut State, role: Role, external_id: &str) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.external_id = Some(external_id.to_owned());
    }
    Vec::new()
}

pub(super) fn on_session_version(state: &mut State, role: Role, version: &str) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.version = Some(version.to_owned());
    }
    Vec::new()
}

pub(super) fn on_session_lost(state: &mut State, role: Role) -> Vec<Effect> {
    // A turn that runs begins anew, with all of its prompt.
    if state.running.is_none() {
        saying::tell_again(state, role);
    }
    if let Some(session) = state.session_mut(role) {
        session.external_id = None;
        session.degraded = true;
    }
    Vec::new()
}

pub(super) fn on_usage(state: &mut State, role: Role, usage: Usage) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.usage = usage;
    }
    Vec::new()
}

pub(super) fn on_plan_use(state: &mut State, role: Role, windows: &[PlanWindow]) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.plan = windows.to_vec();
    }
    Vec::new()
}

pub(super) fn on_todos_written(
    state: &mut State,
    session: &SessionId,
    todos: &Todos,
) -> Vec<Effect> {
    let sessions = [Some(&mut state.planner), state.reviewer.as_mut()];
    let mut sessions = sessions.into_iter().flatten();
    if let Some(session) = sessions.find(|known| known.id == *session) {
        session.todos = todos.clone();
    }
    Vec::new()
}

pub(super) fn on_message(state: &mut State, role: Role, message: &Message) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.take_message(message.role, message.agent);
    }
    Vec::new()
}
