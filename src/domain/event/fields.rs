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

/// One thing that an event holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// How deep it lies, from 0.
    pub depth: usize,
    /// Its name; of an entry of a list its number, from 1.
    pub name: String,
    /// What it is, maybe several lines; empty where that lies deeper.
    pub text: String,
}

/// All that an event holds, in its order.
pub fn fields(event: &Event) -> Vec<Field> {
    let mut all = Vec::new();
    match serde_json::to_value(event) {
        Ok(Value::Object(mut of)) => match of.remove("data") {
            Some(Value::Object(data)) => add_all(&mut all, data.iter(), 0),
            Some(data) => add(&mut all, "", &data, 0),
            None => {}
        },
        Ok(_) => {}
        Err(error) => all.push(Field {
            depth: 0,
            name: String::new(),
            text: format!("it cannot be shown: {error}"),
        }),
    }
    all
}

fn add_all<'a>(
    all: &mut Vec<Field>,
    of: impl Iterator<Item = (&'a String, &'a Value)>,
    depth: usize,
) {
    for (name, value) in of {
        add(all, name, value, depth);
    }
}

fn add(all: &mut Vec<Field>, name: &str, value: &Value, depth: usize) {
    let mut put = |text: &str| {
        all.push(Field {
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
                add(all, &(n + 1).to_string(), value, depth + 1);
            }
        }
        Value::Object(fields) => {
            put("");
            add_all(all, fields.iter(), depth + 1);
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
        let told: Vec<String> = fields(&event)
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
        assert_eq!(fields(&Event::Released), []);
    }
}
