//! Tools that do what a test tells them to.

use super::*;

/// Tools of these tests. `Run` asks for approval as Bash does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fake {
    /// Prints `live` if there is some, sleeps `ms`, then gives back `say`.
    Sleep,
    /// Asks whether it may, then gives back `say`.
    Run,
    /// Panics.
    Panic,
}

impl Tool for Fake {
    fn name(&self) -> &'static str {
        match self {
            Self::Sleep => "Sleep",
            Self::Run => "Run",
            Self::Panic => "Panic",
        }
    }

    fn description(&self) -> String {
        String::new()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn> {
        Box::pin(async move {
            let say = arguments["say"].as_str().unwrap_or("done").to_owned();
            match self {
                Self::Sleep => {
                    if let Some(text) = arguments["live"].as_str() {
                        let output = LiveOutput { stream: OutputStream::Stdout, text };
                        context.services.live_output(context, output);
                    }
                    let ms = arguments["ms"].as_u64().unwrap_or(0);
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                }
                Self::Run => {
                    let ask = ApprovalAsk {
                        action: arguments["action"].as_str().unwrap_or("run command").to_owned(),
                        description: format!("Run `{say}`"),
                        display: vec![DisplayBlock::Shell {
                            language: "bash".to_owned(),
                            command: say.clone(),
                        }],
                    };
                    if let Approval::Rejected { feedback } =
                        context.services.approve(context, ask).await
                    {
                        return Approval::rejection(&feedback);
                    }
                }
                Self::Panic => panic!("a tool's defect"),
            }
            ToolReturn::ok(say, "")
        })
    }
}

/// The tools of these tests and the real ones called `real`.
pub(super) fn tools(real: &[&str]) -> Toolset {
    let names: Vec<String> = real.iter().map(|&name| name.to_owned()).collect();
    let known = Toolset::select(&names, &[]).expect("tools");
    let fakes = [Fake::Sleep, Fake::Run, Fake::Panic].map(|fake| Arc::new(fake) as Arc<dyn Tool>);
    Toolset::of(fakes.into_iter().chain(real.iter().filter_map(|name| known.get(name))))
}
