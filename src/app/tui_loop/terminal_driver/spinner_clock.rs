//! The clock of the spinner: a timer of the system that repeats.
//!
//! A timer of the runtime has to be set for each frame. That wakes the thread that waits for timers three times per frame,
//! this one once.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::time::Duration;

#[cfg(target_os = "linux")]
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::net::unix::pipe::Receiver;

/// Ticks while the spinner turns.
#[derive(Default)]
pub struct SpinnerClock {
    timer: Option<RepeatingTimer>,
    is_running: bool,
}

impl SpinnerClock {
    /// Starts the ticks or lets them go on; returns whether they come. Must be called within the runtime.
    pub fn start(&mut self, step: Duration) -> bool {
        if self.is_running {
            return true;
        }
        let started = match &self.timer {
            Some(timer) => timer.set(Some(step)),
            None => RepeatingTimer::new().and_then(|timer| {
                timer.set(Some(step))?;
                self.timer = Some(timer);
                Ok(())
            }),
        };
        if let Err(error) = &started {
            tracing::debug!(%error, "the spinner uses the timers of the runtime");
        }
        self.is_running = started.is_ok();
        self.is_running
    }

    pub fn stop(&mut self) {
        if std::mem::take(&mut self.is_running)
            && let Some(timer) = &self.timer
            && let Err(error) = timer.set(None)
        {
            tracing::warn!(%error, "the spinner's clock does not stop");
        }
    }

    /// Waits for the next tick; for ever while there is none. Cancel safe.
    pub async fn tick(&self) {
        let ticked = match self.timer.as_ref().filter(|_| self.is_running) {
            Some(timer) => timer.tick().await,
            None => std::future::pending().await,
        };
        if let Err(error) = ticked {
            tracing::warn!(%error, "the spinner's clock is broken");
            std::future::pending().await
        }
    }
}

/// A timer of the system; there is one on Linux only.
struct RepeatingTimer {
    #[cfg(target_os = "linux")]
    timer: TimerFd,
    /// The same timer; it is read like a pipe.
    ticks: Receiver,
}

#[cfg(target_os = "linux")]
impl RepeatingTimer {
    fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let ticks = timer.as_fd().try_clone_to_owned()?;
        let ticks = Receiver::from_owned_fd_unchecked(ticks)?;
        Ok(Self { timer, ticks })
    }

    fn set(&self, step: Option<Duration>) -> io::Result<()> {
        let flags = TimerSetTimeFlags::empty();
        let set = match step {
            Some(step) => self.timer.set(Expiration::Interval(step.into()), flags),
            None => self.timer.unset(),
        };
        Ok(set?)
    }
}

#[cfg(not(target_os = "linux"))]
impl RepeatingTimer {
    fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set(&self, _step: Option<Duration>) -> io::Result<()> {
        Ok(())
    }
}

impl RepeatingTimer {
    async fn tick(&self) -> io::Result<()> {
        loop {
            self.ticks.readable().await?;
            match self.ticks.try_read(&mut [0; size_of::<u64>()]) {
                Ok(_) => return Ok(()),
                // The timer was stopped or restarted after it became ready.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
