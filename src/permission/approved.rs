//! Answers that the user gave for more than one call.
//!
//! An approval turns an ask into an allow, for the profile that it was given under; it never touches a deny. What
//! was approved exactly is data and is compared, never matched. It refuses to know where approvals are kept.

use serde::{Deserialize, Serialize};

use super::wildcard;

/// What was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvable {
    /// This very text.
    Exact(String),
    /// Everything that the pattern matches.
    Pattern(String),
}

impl Approvable {
    /// Tells whether a target is approved.
    pub fn takes(&self, target: &str) -> bool {
        match self {
            Self::Exact(text) => text == target,
            Self::Pattern(pattern) => wildcard::matches(pattern, target),
        }
    }

    /// The text or pattern.
    pub fn text(&self) -> &str {
        match self {
            Self::Exact(text) | Self::Pattern(text) => text,
        }
    }
}

/// How long an approval serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until the run ends.
    Run,
    /// Until it is revoked.
    Project,
}

impl Scope {
    /// Names the scope in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "this run",
            Self::Project => "this project",
        }
    }
}

/// How far a call's ask may be kept as an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeping {
    /// For the run or the project.
    Project,
    /// For the run, and only what is named exactly: the command is one to be confirmed.
    Run,
    /// Not at all.
    Never,
}

/// One stored approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// The profile that it was given under and serves.
    pub profile: String,
    /// The permission: `bash`, `edit`, a tool's name.
    pub permission: String,
    /// What was approved.
    pub what: Approvable,
    /// How long it serves.
    pub scope: Scope,
}

impl Approved {
    /// Tells whether the approval lets a target go ahead that may be kept as far as this.
    pub fn serves(&self, profile: &str, permission: &str, target: &str, keeping: Keeping) -> bool {
        let is_far_enough = match keeping {
            Keeping::Project => true,
            Keeping::Run => self.scope == Scope::Run && matches!(self.what, Approvable::Exact(_)),
            Keeping::Never => false,
        };
        is_far_enough
            && self.profile == profile
            && self.permission == permission
            && self.what.takes(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(what: Approvable, target: &str, keeping: Keeping, expected: bool) {
        for (profile, permission) in [("build", "bash"), ("plan", "bash"), ("build", "edit")] {
            let approved = Approved {
                profile: "build".to_owned(),
                permission: "bash".to_owned(),
                what: what.clone(),
                scope: Scope::Run,
            };
            let is_its_own = (profile, permission) == ("build", "bash");
            let serves = approved.serves(profile, permission, target, keeping);
            assert_eq!(serves, expected && is_its_own, "{what:?} {target}");
        }
    }

    fn exact(text: &str) -> Approvable {
        Approvable::Exact(text.to_owned())
    }

    fn pattern(text: &str) -> Approvable {
        Approvable::Pattern(text.to_owned())
    }

    #[test]
    fn an_exact_approval_is_no_pattern() {
        check(exact("rm build/*"), "rm build/*", Keeping::Project, true);
        check(exact("rm build/*"), "rm build/x", Keeping::Project, false);
        check(exact("a/[id]/b"), "a/i/b", Keeping::Project, false);
        check(pattern("ls *"), "ls -la", Keeping::Project, true);
        check(pattern("ls *"), "lsof", Keeping::Project, false);
    }

    #[test]
    fn what_is_to_be_confirmed_is_served_by_exact_approvals_of_the_run() {
        check(exact("git push"), "git push", Keeping::Run, true);
        check(pattern("git push *"), "git push", Keeping::Run, false);
        check(exact("git push"), "git push", Keeping::Never, false);
    }

    #[test]
    fn an_approval_is_stored_as_what_it_is() {
        let approved = Approved {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: exact("ls"),
            scope: Scope::Project,
        };
        let json = serde_json::to_string(&approved).unwrap();
        assert_eq!(
            json,
            r#"{"profile":"build","permission":"bash","what":{"exact":"ls"},"scope":"project"}"#
        );
        assert_eq!(serde_json::from_str::<Approved>(&json).unwrap(), approved);
    }
}
