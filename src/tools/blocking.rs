//! Work that blocks (walking folders, reading files), off the async threads and stoppable.

use tokio_util::sync::CancellationToken;

use super::tool::ToolContext;
use super::typed::Failure;

/// Runs `work` on a thread for blocking work. The token it gets is cancelled with the turn and when
/// the future is dropped; `work` looks at it often and ends early then.
pub(crate) async fn run<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(CancellationToken) -> T + Send + 'static,
) -> Result<T, Failure> {
    let stop = context.cancelled.child_token();
    let _stop_when_dropped = stop.clone().drop_guard();
    tokio::task::spawn_blocking(move || work(stop)).await.map_err(|error| {
        tracing::error!(%error, tool = context.called_as, "a tool's work broke off");
        Failure::new(
            format!("Error running tool: {} failed inside. Try another way.", context.called_as),
            "Tool runtime error",
        )
    })
}

/// The result of work that was cancelled.
pub(crate) fn cancelled() -> Failure {
    Failure::new("The call was cancelled before it was done.", "Cancelled")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn work_whose_call_is_dropped_is_told_to_end() {
        let bench = Bench::new();
        let (began, has_begun) = oneshot::channel();
        let (ended, has_ended) = oneshot::channel();
        let work = run(&bench.context, move |stop| {
            began.send(()).expect("listener");
            while !stop.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            ended.send(()).expect("listener");
        });
        tokio::select! {
            _ = work => panic!("it ends only when it is told to"),
            begun = has_begun => begun.expect("begun"),
        }
        let end = tokio::time::timeout(Duration::from_secs(20), has_ended).await;
        end.expect("it works on").expect("ended");
    }
}
