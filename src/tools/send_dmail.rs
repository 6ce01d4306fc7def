//! SendDMail: a message to an earlier self. It is only stored here; the loop sends it when the step
//! is over.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{DMail, ToolContext};
use super::typed::{Failure, TypedTool};
use crate::message::{CheckpointId, DisplayBlock, ToolReturn};

pub(crate) struct SendDMail;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// What your past self should know. It must stand on its own: everything after the checkpoint
    /// will be forgotten.
    message: String,
    /// The checkpoint to send it to: the n of a `CHECKPOINT n` message in this conversation.
    checkpoint_id: u64,
}

impl TypedTool for SendDMail {
    type Params = Params;
    const NAME: &'static str = "SendDMail";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/send_dmail.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let mail =
            DMail { message: params.message, checkpoint: CheckpointId(params.checkpoint_id) };
        context.services.send_dmail(mail).map_err(|reason| {
            Failure::new(format!("Failed to send D-Mail. Error: {reason}"), "Failed to send D-Mail")
        })?;
        // Whoever sends one forgets this step, so this text is only ever seen when it went wrong.
        Ok(ToolReturn::ok(
            "",
            "If you see this message, the D-Mail was NOT sent successfully. \
             This may be because some other tool that needs approval was rejected.",
        )
        .with_display(DisplayBlock::brief("El Psy Kongroo")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn a_mail_is_left_with_the_session() {
        let bench = Bench::new();
        let result =
            bench.call(&SendDMail, json!({"message": "skip the log", "checkpoint_id": 3})).await;
        assert!(!result.is_error && result.message.contains("NOT sent"));
        assert_eq!(result.brief(), Some("El Psy Kongroo"));
        let mail = DMail { message: "skip the log".into(), checkpoint: CheckpointId(3) };
        assert_eq!(bench.mails(), [mail]);
    }

    #[tokio::test]
    async fn a_refused_mail_and_a_negative_checkpoint_are_errors() {
        let bench = Bench::new();
        let result = bench.call(&SendDMail, json!({"message": "x", "checkpoint_id": -1})).await;
        assert!(
            result.message.contains("`checkpoint_id` must be at least 0"),
            "{}",
            result.message
        );
        bench.fail_with("there is no checkpoint 9");
        let result = bench.call(&SendDMail, json!({"message": "x", "checkpoint_id": 9})).await;
        assert_eq!(result.message, "Failed to send D-Mail. Error: there is no checkpoint 9");
        assert!(bench.mails().is_empty());
    }
}
