//! Approvals that the user gave for more than one call.
//!
//! An approval turns an ask into an allow, for the profile that it was given under; it never changes a deny. An exact
//! approval is data: it is compared, never matched as a pattern. Where approvals are stored is not known here.

use serde::{Deserialize, Serialize};

use super::wildcard;

/// What an approval covers: one exact text, or a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMatcher {
    Exact(String),
    /// Everything that the pattern matches.
    Pattern(String),
}

impl ApprovalMatcher {
    /// Returns whether a target is approved.
    pub fn matches(&self, target: &str) -> bool {
        match self {
            Self::Exact(text) => text == target,
            Self::Pattern(pattern) => wildcard::matches(pattern, target),
        }
    }

    /// Returns the text or the pattern.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(text) | Self::Pattern(text) => text,
        }
    }
}

/// How long an approval is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    Run,
    /// Until the user revokes it.
    Project,
}

impl ApprovalScope {
    /// Returns the scope's name for the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Run => "this run",
            Self::Project => "this project",
        }
    }
}

/// How long an approval of an ask may be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxApprovalScope {
    /// For the run or the project.
    Project,
    /// For the run, and only for the exact text: the command is one to confirm.
    Run,
    Never,
}

/// An approval that the user gave: what it allows, for which profile and how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredApproval {
    /// The profile that it was given under and is valid for.
    pub profile: String,
    /// The permission: `bash`, `edit`, a tool's name.
    pub permission: String,
    pub what: ApprovalMatcher,
    pub scope: ApprovalScope,
}

impl StoredApproval {
    /// Returns whether the approval allows a target whose approvals may be stored up to this scope.
    pub fn covers(
        &self,
        profile: &str,
        permission: &str,
        target: &str,
        keeping: MaxApprovalScope,
    ) -> bool {
        let is_far_enough = match keeping {
            MaxApprovalScope::Project => true,
            MaxApprovalScope::Run => {
                self.scope == ApprovalScope::Run && matches!(self.what, ApprovalMatcher::Exact(_))
            }
            MaxApprovalScope::Never => false,
        };
        is_far_enough
            && self.profile == profile
            && self.permission == permission
            && self.what.matches(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(what: ApprovalMatcher, target: &str, keeping: MaxApprovalScope, expected: bool) {
        for (profile, permission) in [("build", "bash"), ("plan", "bash"), ("build", "edit")] {
            let approved = StoredApproval {
                profile: "build".to_owned(),
                permission: "bash".to_owned(),
                what: what.clone(),
                scope: ApprovalScope::Run,
            };
            let is_its_own = (profile, permission) == ("build", "bash");
            let serves = approved.covers(profile, permission, target, keeping);
            assert_eq!(serves, expected && is_its_own, "{what:?} {target}");
        }
    }

    fn exact(text: &str) -> ApprovalMatcher {
        ApprovalMatcher::Exact(text.to_owned())
    }

    fn pattern(text: &str) -> ApprovalMatcher {
        ApprovalMatcher::Pattern(text.to_owned())
    }

    #[test]
    fn an_exact_approval_is_no_pattern() {
        check(
            exact("rm build/*"),
            "rm build/*",
            MaxApprovalScope::Project,
            true,
        );
        check(
            exact("rm build/*"),
            "rm build/x",
            MaxApprovalScope::Project,
            false,
        );
        check(exact("a/[id]/b"), "a/i/b", MaxApprovalScope::Project, false);
        check(pattern("ls *"), "ls -la", MaxApprovalScope::Project, true);
        check(pattern("ls *"), "lsof", MaxApprovalScope::Project, false);
    }

    #[test]
    fn what_is_to_be_confirmed_is_served_by_exact_approvals_of_the_run() {
        check(exact("git push"), "git push", MaxApprovalScope::Run, true);
        check(
            pattern("git push *"),
            "git push",
            MaxApprovalScope::Run,
            false,
        );
        check(
            exact("git push"),
            "git push",
            MaxApprovalScope::Never,
            false,
        );
    }

    #[test]
    fn an_approval_is_stored_as_what_it_is() {
        let approved = StoredApproval {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: exact("ls"),
            scope: ApprovalScope::Project,
        };
        let json = serde_json::to_string(&approved).unwrap();
        assert_eq!(
            json,
            r#"{"profile":"build","permission":"bash","what":{"exact":"ls"},"scope":"project"}"#
        );
        assert_eq!(
            serde_json::from_str::<StoredApproval>(&json).unwrap(),
            approved
        );
    }
}
