//! Formats one log entry as a line of text or as one JSON object.
//!
//! Does not redact: that happens to the formatted entry afterwards.

use std::fmt;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::{LogMetadata, PROMPT_TARGET};

/// The field of an event that contains its message.
const MESSAGE_FIELD: &str = "message";

/// Formats lines of text.
pub(super) struct TextEntryFormat {
    full: Format<Full>,
    metadata: LogMetadata,
}

impl TextEntryFormat {
    pub(super) fn new(metadata: LogMetadata) -> Self {
        Self {
            full: Format::default().with_ansi(false),
            metadata,
        }
    }
}

impl<S, N> FormatEvent<S, N> for TextEntryFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if includes_metadata(self.metadata, event) {
            return self.full.format_event(context, out, event);
        }
        SystemTime.format_time(&mut out)?;
        let told = EventFields::from_event(event);
        writeln!(out, " {:>5} {}", event.metadata().level(), told.message)
    }
}

/// Formats lines of JSON: `time`, `level` and `message`, and with them `target`, `fields` and `spans`.
pub(super) struct JsonEntryFormat {
    pub(super) metadata: LogMetadata,
}

impl<S, N> FormatEvent<S, N> for JsonEntryFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let told = EventFields::from_event(event);
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let level = event.metadata().level().as_str();
        let mut entry = json!({ "time": time, "level": level, "message": told.message });
        if includes_metadata(self.metadata, event) {
            entry["target"] = json!(event.metadata().target());
            if !told.fields.is_empty() {
                entry["fields"] = Value::Object(told.fields);
            }
            let spans: Vec<Value> = spans_to_json(context);
            if !spans.is_empty() {
                entry["spans"] = json!(spans);
            }
        }
        writeln!(out, "{entry}")
    }
}

/// Returns the spans around an event, the outermost first.
fn spans_to_json<S, N>(context: &FmtContext<'_, S, N>) -> Vec<Value>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    let scope = context.event_scope().into_iter();
    let spans = scope.flat_map(|scope| scope.from_root());
    spans
        .map(|span| {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>();
            let fields = fields.map_or("", |fields| fields.fields.as_str());
            json!({ "name": span.name(), "fields": fields })
        })
        .collect()
}

/// A prompt is a field of its event, so it is included for users who asked for prompts.
fn includes_metadata(metadata: LogMetadata, event: &Event<'_>) -> bool {
    metadata == LogMetadata::Kept || event.metadata().target() == PROMPT_TARGET
}

/// An event's message, and its other fields.
#[derive(Default)]
struct EventFields {
    message: String,
    fields: Map<String, Value>,
}

impl EventFields {
    fn from_event(event: &Event<'_>) -> Self {
        let mut told = Self::default();
        event.record(&mut told);
        told
    }

    fn insert_field(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            (MESSAGE_FIELD, Value::String(message)) => self.message = message,
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert_field(field, json!(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert_field(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert_field(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert_field(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert_field(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert_field(field, json!(value));
    }
}
