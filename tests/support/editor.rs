//! An editor: the official client library over the program's standard streams.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Agent, Lines};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::LIMIT;
use super::world::World;

/// What the person answers to permission requests, and every request there was.
#[derive(Clone)]
pub struct Person {
    answer: Arc<Mutex<Option<&'static str>>>,
    asked: Arc<Mutex<Vec<acp::RequestPermissionRequest>>>,
}

impl Person {
    /// Answers by the id of an option; none for "cancelled".
    pub fn answers(&self, answer: Option<&'static str>) {
        *self.answer.lock().expect("answer") = answer;
    }

    pub fn asked(&self) -> Vec<acp::RequestPermissionRequest> {
        self.asked.lock().expect("asked").clone()
    }

    fn outcome(&self, request: acp::RequestPermissionRequest) -> acp::RequestPermissionOutcome {
        self.asked.lock().expect("asked").push(request);
        match *self.answer.lock().expect("answer") {
            Some(option) => {
                acp::RequestPermissionOutcome::Selected(acp::SelectedPermissionOutcome::new(option))
            }
            None => acp::RequestPermissionOutcome::Cancelled,
        }
    }
}

/// A connected editor.
pub struct Editor {
    pub connection: ConnectionTo<Agent>,
    pub person: Person,
    updates: UnboundedReceiver<acp::SessionUpdate>,
}

impl Editor {
    /// Updates up to the first `is_last`, with it.
    pub async fn until(
        &mut self,
        is_last: impl Fn(&acp::SessionUpdate) -> bool,
    ) -> Vec<acp::SessionUpdate> {
        let mut seen = Vec::new();
        loop {
            let next = tokio::time::timeout(LIMIT, self.updates.recv()).await;
            let Ok(Some(update)) = next else { panic!("no such update in {seen:#?}") };
            let is_over = is_last(&update);
            seen.push(update);
            if is_over {
                return seen;
            }
        }
    }

    /// Every update that came until now, as JSON.
    pub fn told(&mut self) -> Vec<Value> {
        let mut told = Vec::new();
        while let Ok(update) = self.updates.try_recv() {
            told.push(serde_json::to_value(update).expect("JSON"));
        }
        told
    }

    pub async fn new_session(&self, world: &World) -> acp::SessionId {
        let request = acp::NewSessionRequest::new(world.work());
        self.connection.send_request(request).block_task().await.expect("a session").session_id
    }

    pub async fn prompt(
        &self,
        session: &acp::SessionId,
        text: &str,
    ) -> Result<acp::StopReason, agent_client_protocol::Error> {
        let blocks = vec![text.to_owned().into()];
        let request = acp::PromptRequest::new(session.clone(), blocks);
        let sent = self.connection.send_request(request).block_task();
        let answer = tokio::time::timeout(LIMIT, sent).await.expect("an answer in time");
        answer.map(|answer| answer.stop_reason)
    }
}

/// Runs `work` with an editor connected to the program with `args`.
pub async fn edit<R>(
    world: &World,
    args: &[&str],
    work: impl AsyncFnOnce(&mut Editor, acp::InitializeResponse) -> R,
) -> R {
    let mut command = tokio::process::Command::from(world.command(args));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().expect("the program");
    let stdin = child.stdin.take().expect("its input");
    let stdout = BufReader::new(child.stdout.take().expect("its output")).lines();
    let outgoing = futures::sink::unfold(stdin, async |mut stdin, line: String| {
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        stdin.flush().await?;
        Ok::<_, std::io::Error>(stdin)
    });
    let incoming = futures::stream::unfold(stdout, async |mut stdout| {
        stdout.next_line().await.transpose().map(|line| (line, stdout))
    });
    let (sender, updates) = unbounded_channel();
    let answer = Arc::new(Mutex::new(Some("approve")));
    let person = Person { answer, asked: Arc::default() };
    let asked = person.clone();
    let done = agent_client_protocol::Client
        .v1()
        .on_receive_notification(
            async move |notification: acp::SessionNotification, _| {
                let _ = sender.send(notification.update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: acp::RequestPermissionRequest, responder, _| {
                responder.respond(acp::RequestPermissionResponse::new(asked.outcome(request)))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(Lines::new(outgoing, incoming), async |connection: ConnectionTo<Agent>| {
            let initialize = acp::InitializeRequest::new(ProtocolVersion::V1);
            let hello = connection.send_request(initialize).block_task().await?;
            let mut editor = Editor { connection, person, updates };
            Ok(work(&mut editor, hello).await)
        })
        .await
        .expect("a connection");
    let ended = tokio::time::timeout(LIMIT, child.wait()).await.expect("it ends with its input");
    assert!(ended.expect("its status").success());
    done
}
