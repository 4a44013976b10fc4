//! What a CLI says on standard error while it runs: kept in the raw stream, and told where its adapter reads something in it.

use super::Live;

impl Live {
    pub(super) async fn on_error_line(&mut self, line: &str) {
        self.keep_raw("stderr", line).await;
        let outputs = self.adapter.on_stderr_line(line);
        self.perform(outputs).await;
    }
}
