//! Parses the permission profiles of the command line, which say what commands may write.
//!
//! Of each profile only one thing is used: whether the workspace is writable.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ScriptedThread;

/// The sandbox policy of each profile, in the older format.
pub struct ScriptedSandboxProfiles(BTreeMap<String, Value>);

impl ScriptedSandboxProfiles {
    /// Finds `-c permissions.NAME.filesystem={…}` among the arguments.
    pub fn from_arguments(arguments: &[String]) -> Self {
        let named = arguments.iter().filter_map(|argument| {
            let rest = argument.strip_prefix("permissions.")?;
            let (name, files) = rest.split_once(".filesystem=")?;
            Some((name.to_owned(), sandbox_policy_from_filesystem(files)))
        });
        Self(named.collect())
    }
}

fn sandbox_policy_from_filesystem(files: &str) -> Value {
    if files.contains(r#""."="write""#) {
        return json!({
            "type": "workspaceWrite", "writableRoots": [], "networkAccess": false,
            "excludeTmpdirEnvVar": true, "excludeSlashTmp": true,
        });
    }
    json!({"type": "readOnly", "networkAccess": false})
}

impl ScriptedThread {
    /// Applies the profile that the parameters name.
    pub fn apply_profile(&mut self, profiles: &ScriptedSandboxProfiles, params: &Value) {
        let named = params["permissions"].as_str();
        let found = named.and_then(|name| profiles.0.get_key_value(name));
        if let Some((name, sandbox)) = found {
            self.sandbox = sandbox.clone();
            self.profile = Some(name.clone());
        }
    }
}
