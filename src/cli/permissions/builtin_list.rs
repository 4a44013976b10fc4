//! `agent-collab permissions list --builtin`: lists the built-in rules about commands, with the configuration's
//! changes.
//!
//! Does not change a rule: `[safety.builtin]` does.

use serde_json::json;

use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::cli_context::CliContext;
use crate::config::config_model::{AppConfig, BuiltinRuleOverride};
use crate::config::diagnostic::escape_control_chars;
use crate::permission::command_safety::{BuiltinRule, all_builtin_rules};

/// Lists every rule with its class, what it catches and an example.
///
/// # Errors
/// The configuration has problems.
pub async fn list_builtin_rules(
    choices: &ConfigFlagArguments,
    as_json: bool,
) -> Result<String, StartError> {
    let CliContext { loaded, .. } = CliContext::load(choices).await?;
    Ok(if as_json {
        format!("{}\n", rules_to_json(&loaded.config))
    } else {
        format_rules(&loaded.config)
    })
}

/// Returns the configured change of a rule and its resulting class; `off` if it has none.
fn rule_state<'a>(
    rule: &BuiltinRule,
    config: &'a AppConfig,
) -> (Option<&'a BuiltinRuleOverride>, &'static str) {
    let made = config.safety.builtin.get(&rule.name);
    let class = rule.class_at_level(made.map(|made| made.change));
    (made, class.map_or("off", |class| class.as_str()))
}

fn rules_to_json(config: &AppConfig) -> serde_json::Value {
    let rules = all_builtin_rules().map(|rule| {
        let (made, class) = rule_state(rule, config);
        let mut fields = json!({
            "name": rule.name,
            "class": class,
            "catches": rule.reason,
            "example": rule.example,
            "harmless": rule.harmless,
            "commands": rule.patterns,
        });
        if let (Some(made), Some(fields)) = (made, fields.as_object_mut()) {
            fields.insert("builtin_class".to_owned(), json!(rule.class.as_str()));
            fields.insert("changed_at".to_owned(), json!(made.place.to_string()));
        }
        fields
    });
    rules.collect()
}

fn format_rules(config: &AppConfig) -> String {
    let mut out = "\
Built-in rules that stop a command, in addition to safety.blocked_commands
and safety.require_confirm_for, with their current class and an example.
To change one, add to config.toml (undecided.* cannot be \"off\"):

  [safety.builtin]
  git.stash = \"confirm\"   # or \"dangerous\", or \"off\"
"
    .to_owned();
    for rule in all_builtin_rules() {
        let (made, class) = rule_state(rule, config);
        out.push_str(&format!("\n{:<28}{class}\n", rule.name));
        out.push_str(&format!("    {}\n    $ {}\n", rule.reason, rule.example));
        if let Some(made) = made {
            let place = escape_control_chars(&made.place.to_string());
            let before = rule.class.as_str();
            out.push_str(&format!("    built in as {before}, changed in {place}\n"));
        }
    }
    out
}
