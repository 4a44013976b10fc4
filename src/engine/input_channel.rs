//! The channels through which conversations and tasks send to their owner.

use tokio::sync::mpsc;

/// Limits how many messages of live conversations and of tasks can be queued.
pub(super) const INPUT_CHANNEL_CAPACITY: usize = 256;

/// Both ends of one.
pub(super) type ChannelPair<T> = (mpsc::Sender<T>, mpsc::Receiver<T>);
