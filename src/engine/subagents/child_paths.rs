//! Names a child by its path: `planner ▸ explore#2`.

use crate::domain::child_path::ChildPath;
use crate::domain::ids::SessionId;
use crate::domain::task::MAX_CHILD_DEPTH;
use crate::domain::turn::Role;
use crate::engine::agent_activity;
use crate::engine::run_context::RunContext;

/// Returns the names from the parent down to the child, cleaned: `planner ▸ explore#2`.
pub(in crate::engine) fn session_display_path(run: &RunContext, session: &SessionId) -> ChildPath {
    let mut names = Vec::new();
    let mut at = session.clone();
    loop {
        let Some(child) = run
            .child_session(&at)
            .filter(|_| names.len() <= MAX_CHILD_DEPTH)
        else {
            names.reverse();
            return ChildPath::below(session_role_label(run, &at), names);
        };
        names.push(agent_activity::clean_line(&child.order.short_name()));
        match &child.order.parent {
            Some(parent) => at = parent.clone(),
            None => {
                names.reverse();
                return ChildPath::below_user(names);
            }
        }
    }
}

fn session_role_label(run: &RunContext, session: &SessionId) -> &'static str {
    let role = run.state().role_of_session(session);
    role.map_or("an earlier session", Role::name)
}
