//! Reads the tests of a junit report, which is XML.

use std::path::Path;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event as XmlEvent};
use quick_xml::reader::Reader;

use super::MAX_REPORT_BYTES;
use super::report_builder::ReportBuilder;
use crate::domain::test_report::TestStatus;
use crate::store::scoped_read::{ScopedReadError, ScopedReader};

/// Reads a runner's report file; `None` if there is none.
///
/// # Errors
/// It cannot be read; the text says why.
pub(super) fn read(folder: &Path, name: &str, runner: &str) -> Result<Option<String>, String> {
    let reader = ScopedReader::open(folder)
        .map_err(|error| format!("the folder of {runner}'s report cannot be read: {error}"))?;
    match reader.read_file(name, MAX_REPORT_BYTES) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(ScopedReadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(format!("the report of {runner} cannot be read: {error}")),
    }
}

/// Reads the tests of a report, and calls `add` with each.
pub(super) fn read_cases(
    text: &str,
    runner: &'static str,
    report: &mut ReportBuilder,
    add: impl FnMut(JunitCase, &mut ReportBuilder),
) {
    let mut reader = JunitReader {
        runner,
        n_open: 0,
        has_root: false,
        case: None,
        report,
        add,
    };
    reader.read(text);
}

/// A test of the report while it is read.
#[derive(Debug, Default)]
pub(super) struct JunitCase {
    pub(super) class: String,
    pub(super) name: Option<String>,
    pub(super) file: Option<String>,
    is_failed: bool,
    is_skipped: bool,
}

impl JunitCase {
    pub(super) fn status(&self) -> TestStatus {
        match (self.is_failed, self.is_skipped) {
            (true, _) => TestStatus::Failed,
            (false, true) => TestStatus::Skipped,
            (false, false) => TestStatus::Passed,
        }
    }
}

/// Folds a junit report, element by element.
struct JunitReader<'a, F> {
    runner: &'static str,
    /// How many elements are open.
    n_open: usize,
    has_root: bool,
    case: Option<JunitCase>,
    report: &'a mut ReportBuilder,
    add: F,
}

impl<F: FnMut(JunitCase, &mut ReportBuilder)> JunitReader<'_, F> {
    fn read(&mut self, text: &str) {
        let mut reader = Reader::from_str(text);
        loop {
            match reader.read_event() {
                Ok(XmlEvent::Start(element)) => {
                    self.n_open += 1;
                    self.open_element(&element);
                }
                Ok(XmlEvent::Empty(element)) => {
                    self.open_element(&element);
                    self.close_element(element.name().as_ref());
                }
                Ok(XmlEvent::End(element)) => {
                    self.n_open = self.n_open.saturating_sub(1);
                    self.close_element(element.name().as_ref());
                }
                // Only a document type can define entities.
                Ok(XmlEvent::DocType(_)) => {
                    let runner = self.runner;
                    self.doubt(&format!("has a document type, so it is not {runner}'s"));
                    return;
                }
                Ok(XmlEvent::Eof) => break,
                Ok(_) => {}
                Err(_) => {
                    self.doubt("is not well-formed; what follows is left out");
                    return;
                }
            }
        }
        if self.n_open > 0 || !self.has_root {
            self.doubt("is cut");
        }
    }

    fn doubt(&mut self, text: &str) {
        self.report
            .doubt(format!("the report of {} {text}", self.runner));
    }

    fn open_element(&mut self, element: &BytesStart<'_>) {
        match element.name().as_ref() {
            "testsuites" | "testsuite" => self.has_root = true,
            "testcase" => self.case = Some(self.read_case(element)),
            name => {
                if let Some(case) = &mut self.case {
                    case.is_failed |= name == "failure" || name == "error";
                    case.is_skipped |= name == "skipped";
                }
            }
        }
    }

    fn read_case(&mut self, element: &BytesStart<'_>) -> JunitCase {
        let mut case = JunitCase::default();
        for attribute in element.attributes() {
            let value = attribute
                .as_ref()
                .ok()
                .and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok());
            let (Ok(attribute), Some(value)) = (attribute, value) else {
                self.report.doubt(format!(
                    "a test in the report of {} has an attribute that cannot be read",
                    self.runner
                ));
                continue;
            };
            match attribute.key.as_ref() {
                "classname" => case.class = value.into_owned(),
                "name" => case.name = Some(value.into_owned()),
                "file" => case.file = Some(value.into_owned()),
                _ => {}
            }
        }
        case
    }

    fn close_element(&mut self, name: &str) {
        if name == "testcase"
            && let Some(case) = self.case.take()
        {
            (self.add)(case, self.report);
        }
    }
}
