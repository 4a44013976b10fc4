//! Writes the tests of a receipt as a sorted list of `[file, name, status]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// The form of a report in a receipt.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompactReport {
    tests: Vec<(String, String, TestStatus)>,
    failed_to_load: bool,
    doubts: Vec<String>,
}

pub(super) fn serialize<S: Serializer>(
    report: &Option<TestReport>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let compact = report.as_ref().map(|report| CompactReport {
        tests: report
            .tests
            .iter()
            .map(|(test, status)| (test.file.clone(), test.name.clone(), *status))
            .collect(),
        failed_to_load: report.failed_to_load,
        doubts: report.doubts.clone(),
    });
    compact.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<TestReport>, D::Error> {
    let compact = Option::<CompactReport>::deserialize(deserializer)?;
    Ok(compact.map(|compact| TestReport {
        tests: compact
            .tests
            .into_iter()
            .map(|(file, name, status)| (TestIdentity { file, name }, status))
            .collect(),
        failed_to_load: compact.failed_to_load,
        doubts: compact.doubts,
    }))
}
