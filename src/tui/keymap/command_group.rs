//! The groups of commands: the headings of the help and the palette.
//!
//! Every command is in one group; a test checks that.

use super::KeyBinding;

/// A group of related commands.
#[derive(Debug)]
pub struct CommandGroup {
    pub name: &'static str,
    /// The slash commands, in the order of the list.
    commands: &'static [&'static str],
}

/// All groups, in the order of the list.
pub const COMMAND_GROUPS: &[CommandGroup] = &[
    CommandGroup {
        name: "The run",
        commands: &[
            "/go",
            "/auto",
            "/pause",
            "/interrupt",
            "/stop",
            "/steer",
            "/mode",
            "/goal",
            "/refiner",
            "/undo",
            "/redo",
            "/skip",
            "/replan",
            "/cancel",
            "/resume",
        ],
    },
    CommandGroup {
        name: "What waits for you",
        commands: &[
            "/needs-me",
            "/view",
            "/answer",
            "/allow",
            "/reject",
            "/permissions",
            "/approve",
            "/changes",
        ],
    },
    CommandGroup {
        name: "Plan, review and changes",
        commands: &[
            "/edit", "/diff", "/note", "/unnote", "/rewrite", "/filter", "/jump", "/settle",
        ],
    },
    CommandGroup {
        name: "Tasks and discussions",
        commands: &[
            "/task",
            "/agent",
            "/sessions",
            "/todos",
            "/discuss",
            "/budget",
            "/board",
            "/discuss-finding",
            "/discuss-stop",
            "/discuss-on",
            "/quote",
            "/minutes",
        ],
    },
    CommandGroup {
        name: "Moving",
        commands: &[
            "/next-block",
            "/previous-block",
            "/next-turn",
            "/previous-turn",
            "/find",
            "/up",
            "/down",
            "/line-up",
            "/line-down",
            "/top",
            "/end",
        ],
    },
    CommandGroup {
        name: "The view",
        commands: &[
            "/chat",
            "/tab",
            "/comments",
            "/log",
            "/status",
            "/next",
            "/previous",
            "/open",
            "/thinking",
            "/voices",
            "/side",
            "/other-pane",
            "/theme",
            "/mouse",
            "/redraw",
        ],
    },
    CommandGroup {
        name: "Writing and copying",
        commands: &[
            "/write",
            "/leave",
            "/copy",
            "/copy-code",
            "/editor",
            "/pager",
        ],
    },
    CommandGroup {
        name: "The program",
        commands: &[
            "/help",
            "/palette",
            "/history",
            "/export",
            "/diagnose",
            "/suspend",
            "/quit",
        ],
    },
];

impl CommandGroup {
    /// Returns the position of a binding in the group; `None` if it belongs to another one.
    pub fn position_of(&self, binding: &KeyBinding) -> Option<usize> {
        let name = binding.slash.name;
        self.commands.iter().position(|command| *command == name)
    }

    /// Removes the group's members from a list and returns them in the group's order.
    pub fn select_members<T>(
        &self,
        all: &mut Vec<T>,
        binding: impl Fn(&T) -> Option<&'static KeyBinding>,
    ) -> Vec<T> {
        let mut own: Vec<T> = Vec::new();
        let mut at = 0;
        while let Some(one) = all.get(at) {
            match binding(one).and_then(|binding| self.position_of(binding)) {
                Some(_) => own.push(all.remove(at)),
                None => at += 1,
            }
        }
        own.sort_by_key(|one| binding(one).and_then(|binding| self.position_of(binding)));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::super::BINDINGS;
    use super::*;

    #[test]
    fn every_line_of_the_table_is_about_one_thing() {
        for binding in BINDINGS {
            let groups = COMMAND_GROUPS.iter();
            let n = groups
                .filter(|group| group.position_of(binding).is_some())
                .count();
            assert_eq!(n, 1, "{}", binding.slash);
        }
    }
}
