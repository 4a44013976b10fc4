//! Lists the program's own tools that agents can use, and says in which turns a session has each of them.
//!
//! Rules decide who may use a tool; this module only says where a tool makes sense at all.

use super::turn::TurnPurpose;
use crate::permission::RuleSet;
use crate::permission::tool_names::permission_for_tool;

/// The properties of a session on which its tools depend.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    /// What its turn is for; `None` between turns.
    pub purpose: Option<&'a TurnPurpose>,
    /// How many parents it has: 0 for a role's session.
    pub depth: u32,
    /// The rules of its current profile.
    pub rules: &'a RuleSet,
}

/// Returns whether a tool makes sense in a turn.
type PurposePredicate = fn(&TurnPurpose) -> bool;

/// Tools that belong to certain turns, with a description of those turns; all others belong to every turn.
const TURN_BOUND_TOOLS: &[(&str, PurposePredicate, &str)] = &[
    (
        "plan_submit",
        is_planning,
        "while the plan is written or the review answered",
    ),
    (
        "plan_exit",
        is_planning,
        "while the plan is written or the review answered",
    ),
    ("review_submit", is_reviewing, "while the plan is reviewed"),
    ("plan_enter", is_executing, "while a step is executed"),
    ("step_result", is_executing, "while a step is executed"),
];

fn is_planning(purpose: &TurnPurpose) -> bool {
    matches!(purpose, TurnPurpose::WritePlan | TurnPurpose::Respond)
}

fn is_reviewing(purpose: &TurnPurpose) -> bool {
    matches!(purpose, TurnPurpose::Review)
}

fn is_executing(purpose: &TurnPurpose) -> bool {
    purpose.may_write()
}

/// Describes the turns in which a tool is available; `None` where it is in all.
pub fn describe_tool_turns(tool: &str) -> Option<&'static str> {
    let (_, _, when) = TURN_BOUND_TOOLS.iter().find(|(name, ..)| *name == tool)?;
    Some(when)
}

/// Returns why a tool is not available in a session; `None` where it is.
pub fn hidden_reason(tool: &str, standing: &ToolContext<'_>) -> Option<String> {
    let permission = permission_for_tool(tool);
    if standing.depth > 0 {
        return Some(format!("a child session has no tool {tool}"));
    }
    if standing.purpose.is_some_and(TurnPurpose::is_isolated) {
        return Some(format!(
            "a session that judges a dispute has no tool {tool}"
        ));
    }
    if let Some(rule) = standing.rules.find_hiding_rule(permission) {
        return Some(format!("{rule} ({})", rule.origin));
    }
    let (_, is_its_turn, when) = TURN_BOUND_TOOLS.iter().find(|(name, ..)| *name == tool)?;
    let is_there = standing.purpose.is_some_and(is_its_turn);
    (!is_there).then(|| format!("{tool} is there only {when}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::ProfileDefinition;
    use proptest::prelude::*;

    const TOOLS: [&str; 12] = [
        "todoread",
        "todowrite",
        "plan_submit",
        "plan_exit",
        "plan_enter",
        "review_submit",
        "step_result",
        "ask_user",
        "task",
        "group_discuss",
        "group_discuss_context",
        "session_manage",
    ];

    fn rules(profile: &str) -> RuleSet {
        let profile = ProfileDefinition::built_in(profile).unwrap();
        RuleSet::from_layers(&profile, &[], &[])
    }

    fn check(profile: &str, purpose: &TurnPurpose, depth: u32, expected: &str) {
        let rules = rules(profile);
        let standing = ToolContext {
            purpose: Some(purpose),
            depth,
            rules: &rules,
        };
        let offered: Vec<&str> = TOOLS
            .into_iter()
            .filter(|tool| hidden_reason(tool, &standing).is_none())
            .collect();
        assert_eq!(offered.join(" "), expected, "{profile}");
    }

    #[test]
    fn each_profile_has_its_tools_in_its_turns() {
        let step = TurnPurpose::Step { n: 1 };
        let talk = TurnPurpose::RefineGoal {
            said: String::new(),
            by: crate::domain::turn::Role::Planner,
        };
        let all = "todoread todowrite plan_submit plan_exit ask_user task group_discuss group_discuss_context session_manage";
        check("plan", &TurnPurpose::WritePlan, 0, all);
        check("plan", &TurnPurpose::Respond, 0, all);
        check(
            "plan",
            &talk,
            0,
            "todoread todowrite ask_user task group_discuss group_discuss_context session_manage",
        );
        check(
            "build",
            &step,
            0,
            "todoread todowrite plan_enter step_result ask_user task group_discuss group_discuss_context session_manage",
        );
        check(
            "review",
            &TurnPurpose::Review,
            0,
            "todoread review_submit ask_user task group_discuss group_discuss_context",
        );
        check("review", &TurnPurpose::Judge, 0, "");
        check("explore", &step, 1, "");
        check("general", &step, 1, "");
    }

    proptest! {
        #[test]
        fn a_child_has_none_of_them_whatever_its_rules_say(depth in 1_u32..4, at in 0..TOOLS.len(), name in "plan|build|review|explore|general") {
            let rules = rules(&name);
            let purpose = TurnPurpose::Step { n: 1 };
            let standing = ToolContext { purpose: Some(&purpose), depth, rules: &rules };
            prop_assert!(hidden_reason(TOOLS[at], &standing).is_some());
        }
    }
}
