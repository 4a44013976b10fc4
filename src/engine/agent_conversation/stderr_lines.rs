//! Records a CLI's standard error in the raw stream, and forwards what its adapter understands of it.

use super::AgentConversation;

impl AgentConversation {
    pub(super) async fn on_stderr_line(&mut self, line: &str) {
        self.push_raw_frame("stderr", line).await;
        let outputs = self.adapter.on_stderr_line(line);
        self.perform_outputs(outputs).await;
    }
}
