//! Notices that the terminal is gone.
//!
//! A program that another one started, in the terminal of that one, gets no SIGHUP when the window closes, and the reader
//! of keys reads the end of the input again and again without ever saying so.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::sync::oneshot;

/// Waits for the end of the terminal without waking up for anything else.
#[derive(Default)]
pub struct HangupWatch {
    gone: Option<oneshot::Receiver<()>>,
}

impl HangupWatch {
    /// Watches the terminal that is the standard input, if it is not watched yet. The thread ends with the terminal, or
    /// with the program.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(&mut self) -> io::Result<()> {
        if self.gone.is_some() {
            return Ok(());
        }
        let terminal = io::stdin().as_fd().try_clone_to_owned()?;
        let (tell, gone) = oneshot::channel();
        let watch = move || {
            loop {
                // The end is reported whatever is asked for.
                let mut waited = [PollFd::new(terminal.as_fd(), PollFlags::empty())];
                match poll(&mut waited, PollTimeout::NONE) {
                    Err(Errno::EINTR) => {}
                    Ok(_) => break,
                    Err(error) => {
                        tracing::warn!(%error, "the end of the terminal is not noticed");
                        return;
                    }
                }
            }
            let _nobody_waits = tell.send(());
        };
        std::thread::Builder::new()
            .name("hangup watch".to_owned())
            .spawn(watch)?;
        self.gone = Some(gone);
        Ok(())
    }

    /// Waits until the terminal is gone. Cancel safe.
    pub async fn wait(&mut self) {
        let is_gone = match &mut self.gone {
            Some(gone) => gone.await.is_ok(),
            None => false,
        };
        self.gone = None;
        if !is_gone {
            std::future::pending().await
        }
    }
}
