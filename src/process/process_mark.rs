//! The mark that every child carries, in its environment and, if it is sandboxed, as the path of a mount.

/// The environment variable that every child carries, so that it can be found later.
pub const MARK_VARIABLE: &str = "AGENT_COLLAB_MARK";

/// The path prefix of the mount that carries a sandboxed child's mark.
pub(super) const MARK_MOUNT_PREFIX: &str = "/dev/agent-collab.";

/// The owner of a child: a run, and inside it a session, git or the tests.
///
/// In the environment it has the form `<run>:<owner>:<unique>`. The unique part identifies this program's
/// process and the child, so that cleaning up after one child never affects another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMark {
    run: String,
    owner: String,
}

impl ProcessMark {
    /// Creates a mark; a colon, which separates the parts, and a NUL byte become `_`.
    pub fn new(run: impl AsRef<str>, owner: impl AsRef<str>) -> Self {
        let clean = |word: &str| word.replace([':', '\0'], "_");
        Self {
            run: clean(run.as_ref()),
            owner: clean(owner.as_ref()),
        }
    }

    /// Returns the run's name.
    pub fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn to_env_value(&self, unique: &str) -> String {
        format!("{}:{}:{unique}", self.run, self.owner)
    }
}

/// Returns the path at which a sandboxed child's mark is mounted; characters that paths or the mount table
/// would escape become `_`.
pub(super) fn mark_mount_path(mark: &str) -> String {
    let plain = |c: char| match c {
        ':' | '.' | '-' | '_' => c,
        _ if c.is_ascii_alphanumeric() => c,
        _ => '_',
    };
    let mark: String = mark.chars().map(plain).collect();
    format!("{MARK_MOUNT_PREFIX}{mark}")
}
