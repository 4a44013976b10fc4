//! Turns an event into names and values, to show all of it to the user.

use serde_json::Value;

use super::Event;

/// Returns the kind of an event, as written in the log.
pub fn event_kind(event: &Event) -> String {
    match serde_json::to_value(event) {
        Ok(Value::Object(fields)) => match fields.get("kind") {
            Some(Value::String(kind)) => kind.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// One value inside an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventField {
    /// Its nesting depth, from 0.
    pub depth: usize,
    /// Its name; for a list entry, its number from 1.
    pub name: String,
    /// Its value, maybe several lines; empty where the value is nested.
    pub text: String,
}

/// Returns all values of an event, in their order.
pub fn event_fields(event: &Event) -> Vec<EventField> {
    let mut all = Vec::new();
    match serde_json::to_value(event) {
        Ok(Value::Object(mut of)) => match of.remove("data") {
            Some(Value::Object(data)) => push_fields(&mut all, data.iter(), 0),
            Some(data) => push_field(&mut all, "", &data, 0),
            None => {}
        },
        Ok(_) => {}
        Err(error) => all.push(EventField {
            depth: 0,
            name: String::new(),
            text: format!("it cannot be shown: {error}"),
        }),
    }
    all
}

fn push_fields<'a>(
    all: &mut Vec<EventField>,
    of: impl Iterator<Item = (&'a String, &'a Value)>,
    depth: usize,
) {
    for (name, value) in of {
        push_field(all, name, value, depth);
    }
}

fn push_field(all: &mut Vec<EventField>, name: &str, value: &Value, depth: usize) {
    let mut put = |text: &str| {
        all.push(EventField {
            depth,
            name: name.to_owned(),
            text: text.to_owned(),
        });
    };
    match value {
        Value::Null => put("none"),
        Value::Bool(_) | Value::Number(_) => put(&value.to_string()),
        Value::String(text) => put(text),
        Value::Array(values) if values.is_empty() => put("none"),
        Value::Array(values) => {
            put("");
            for (n, value) in values.iter().enumerate() {
                push_field(all, &(n + 1).to_string(), value, depth + 1);
            }
        }
        Value::Object(fields) => {
            put("");
            push_fields(all, fields.iter(), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{AgentActivity, ToolStatus};
    use crate::domain::ids::TurnId;
    use crate::domain::turn::Role;

    #[test]
    fn an_event_is_told_with_all_its_names_and_values() {
        let event = Event::Agent {
            turn: TurnId::new("trn_7"),
            role: Role::Planner,
            news: AgentActivity::ToolEnded {
                item: "t".to_owned(),
                status: ToolStatus::Completed,
                exit_code: None,
                output: "a\nb".to_owned(),
            },
        };
        assert_eq!(event_kind(&event), "agent");
        let told: Vec<String> = event_fields(&event)
            .into_iter()
            .map(|field| format!("{} {}: {:?}", field.depth, field.name, field.text))
            .collect();
        assert_eq!(
            told,
            [
                "0 turn: \"trn_7\"",
                "0 role: \"planner\"",
                "0 news: \"\"",
                "1 news: \"tool_ended\"",
                "1 item: \"t\"",
                "1 status: \"completed\"",
                "1 exit_code: \"none\"",
                "1 output: \"a\\nb\"",
            ]
        );
        assert_eq!(event_fields(&Event::TurnSendConfirmed), []);
    }
}
