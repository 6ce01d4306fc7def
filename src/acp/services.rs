//! What the editor does in the engine's place: reading and writing files with what is not saved
//! yet, and commands in a terminal the person sees.

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol_schema::v1 as acp;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::client::{Can, Client};
use crate::message::ToolReturn;
use crate::rpc::RpcError;
use crate::wire::{Errands, ToolCallAnswer, ToolCallRequest};

/// Bytes of a command's output that are kept (`kimi-cli` `acp/tools.py`).
const OUTPUT_LIMIT: u64 = 50_000;

/// What the editor offers to do.
pub(super) fn offered(can: &Can) -> Errands {
    Errands {
        read_files: can.read_files,
        write_files: can.write_files,
        run_commands: can.run_commands,
    }
}

/// A call runs in a terminal.
pub(super) struct Seen {
    /// The call.
    pub(super) call: String,
    /// Where it runs.
    pub(super) terminal: acp::TerminalId,
    /// Done when the editor was told.
    pub(super) told: oneshot::Sender<()>,
}

/// The editor and the session it is asked for.
struct Desk<'a> {
    client: &'a Client,
    session: &'a str,
}

#[derive(Deserialize)]
struct Read {
    path: PathBuf,
}

#[derive(Deserialize)]
struct Write {
    path: PathBuf,
    text: String,
}

#[derive(Deserialize)]
struct Run {
    command: String,
    timeout: u64,
    work_dir: PathBuf,
    tool_call_id: String,
}

/// Does what `call` asks for.
pub(super) async fn serve(
    client: &Client,
    session: &str,
    call: &ToolCallRequest,
    seen: &UnboundedSender<Seen>,
) -> ToolCallAnswer {
    let desk = Desk { client, session };
    let arguments = call.arguments.as_deref().unwrap_or_default();
    let done = match call.name.as_str() {
        Errands::READ => desk.read(parse(arguments)).await,
        Errands::WRITE => desk.write(parse(arguments)).await,
        Errands::RUN => desk.run(parse(arguments), seen).await,
        name => Err(RpcError::new(0, format!("The editor has no tool {name}."))),
    };
    let return_value = done.unwrap_or_else(|error| {
        ToolReturn::error(format!("The editor says: {}", error.message), error.message)
    });
    ToolCallAnswer { tool_call_id: call.id.clone(), return_value }
}

fn parse<T: serde::de::DeserializeOwned>(arguments: &str) -> Result<T, RpcError> {
    serde_json::from_str(arguments).map_err(|error| RpcError::new(0, error.to_string()))
}

impl Desk<'_> {
    async fn read(&self, read: Result<Read, RpcError>) -> Result<ToolReturn, RpcError> {
        let request = acp::ReadTextFileRequest::new(self.session.to_owned(), read?.path);
        let file: acp::ReadTextFileResponse =
            self.client.call("fs/read_text_file", &request).await?;
        Ok(ToolReturn::ok(file.content, ""))
    }

    async fn write(&self, write: Result<Write, RpcError>) -> Result<ToolReturn, RpcError> {
        let Write { path, text } = write?;
        let request = acp::WriteTextFileRequest::new(self.session.to_owned(), path, text);
        self.client.call::<Value>("fs/write_text_file", &request).await?;
        Ok(ToolReturn::ok("", ""))
    }

    async fn run(
        &self,
        run: Result<Run, RpcError>,
        seen: &UnboundedSender<Seen>,
    ) -> Result<ToolReturn, RpcError> {
        let run = run?;
        let session = || self.session.to_owned();
        let request = acp::CreateTerminalRequest::new(session(), "bash")
            .args(vec!["-c".to_owned(), run.command])
            .cwd(run.work_dir)
            .output_byte_limit(OUTPUT_LIMIT);
        let made: acp::CreateTerminalResponse =
            self.client.call("terminal/create", &request).await?;
        let terminal = Terminal { desk: self, id: made.terminal_id };
        let (told, heard) = oneshot::channel();
        let _ = seen.send(Seen { call: run.tool_call_id, terminal: terminal.id.clone(), told });
        // The editor shows the terminal before it is released.
        let _ = heard.await;
        let wait = acp::WaitForTerminalExitRequest::new(session(), terminal.id.clone());
        let ended =
            self.client.call::<acp::WaitForTerminalExitResponse>("terminal/wait_for_exit", &wait);
        let ended = match timeout(Duration::from_secs(run.timeout), ended).await {
            Ok(ended) => Some(ended?.exit_status),
            Err(_) => {
                terminal.kill();
                None
            }
        };
        let ask = acp::TerminalOutputRequest::new(session(), terminal.id.clone());
        let output: acp::TerminalOutputResponse = self.client.call("terminal/output", &ask).await?;
        Ok(report(ended.as_ref(), run.timeout, output))
    }
}

/// The command's end as the model is told of it. None: it took too long.
fn report(
    ended: Option<&acp::TerminalExitStatus>,
    seconds: u64,
    output: acp::TerminalOutputResponse,
) -> ToolReturn {
    let cut = if output.truncated { " Output is truncated to fit in the message." } else { "" };
    let failed = |message: String, brief: String| {
        ToolReturn::error(format!("{message}{cut}"), brief).with_output(output.output.clone())
    };
    match ended {
        None => failed(
            format!("Command killed by timeout ({seconds}s)."),
            format!("Killed by timeout ({seconds}s)"),
        ),
        Some(status) => match (status.exit_code, &status.signal) {
            (Some(0), _) => {
                ToolReturn::ok(output.output, format!("Command executed successfully.{cut}"))
            }
            (Some(code), _) => failed(
                format!("Command failed with exit code: {code}."),
                format!("Failed with exit code: {code}"),
            ),
            (None, Some(signal)) => failed(
                format!("Command was killed by signal {signal}."),
                format!("Killed by signal {signal}"),
            ),
            (None, None) => failed("Command ended in an unknown way.".into(), "Ended".into()),
        },
    }
}

/// A terminal of the editor; it is given back, and what runs in it ends, when this is dropped.
struct Terminal<'a> {
    desk: &'a Desk<'a>,
    id: acp::TerminalId,
}

impl Terminal<'_> {
    fn kill(&self) {
        let kill = acp::KillTerminalRequest::new(self.desk.session.to_owned(), self.id.clone());
        self.desk.client.say("terminal/kill", &kill);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let session = self.desk.session.to_owned();
        // Releasing kills what still runs (protocol, "Terminals").
        let release = acp::ReleaseTerminalRequest::new(session, self.id.clone());
        self.desk.client.say("terminal/release", &release);
    }
}
