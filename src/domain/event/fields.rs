//! An event as names and values, for people who want to see all of it.
//!
//! Refuses to leave anything out; whoever shows it cuts.

use serde_json::Value;

use super::Event;

/// The kind of an event, as it stands in the log.
pub fn kind(event: &Event) -> String {
    match serde_json::to_value(event) {
        Ok(Value::Object(fields)) => match fields.get("kind") {
            Some(Value::String(kind)) => kind.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// All that an event holds, a line each: names, indented by how deep they lie, and values.
pub fn fields(event: &Event) -> Vec<String> {
    let mut lines = Vec::new();
    match serde_json::to_value(event) {
        Ok(Value::Object(mut of)) => {
            if let Some(data) = of.remove("data") {
                add(&mut lines, "", &data, 0);
            }
        }
        Ok(_) => {}
        Err(error) => lines.push(format!("it cannot be shown: {error}")),
    }
    lines
}

fn add(lines: &mut Vec<String>, name: &str, value: &Value, depth: usize) {
    let lead = "  ".repeat(depth);
    let mut put = |text: &str| match name {
        "" => lines.push(format!("{lead}{text}")),
        name => lines.push(format!("{lead}{name}: {text}")),
    };
    match value {
        Value::Null => put("none"),
        Value::Bool(_) | Value::Number(_) => put(&value.to_string()),
        Value::String(text) if text.contains('\n') => {
            put("");
            let below = "  ".repeat(depth + 1);
            lines.extend(text.lines().map(|line| format!("{below}{line}")));
        }
        Value::String(text) => put(text),
        Value::Array(values) if values.is_empty() => put("none"),
        Value::Array(values) => {
            put("");
            for (n, value) in values.iter().enumerate() {
                add(lines, &format!("{}", n + 1), value, depth + 1);
            }
        }
        Value::Object(fields) => {
            let below = match name {
                "" => depth,
                _ => {
                    put("");
                    depth + 1
                }
            };
            for (name, value) in fields {
                add(lines, name, value, below);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::News;
    use crate::domain::ids::TurnId;
    use crate::domain::turn::Role;

    #[test]
    fn an_event_is_told_with_all_its_names_and_values() {
        let event = Event::Agent {
            turn: TurnId::new("trn_7"),
            role: Role::Planner,
            news: News::ToolEnded {
                item: "t".to_owned(),
                status: "completed".to_owned(),
                exit_code: None,
                output: "a\nb".to_owned(),
            },
        };
        assert_eq!(kind(&event), "agent");
        assert_eq!(
            fields(&event).join("\n"),
            "turn: trn_7\nrole: planner\nnews: \n  news: tool_ended\n  item: t\n  status: completed\n  exit_code: none\n  output: \n    a\n    b"
        );
        assert_eq!(fields(&Event::Released), Vec::<String>::new());
    }
}
