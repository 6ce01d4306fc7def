//! A bench to try tools on: a folder and a session that answers as told.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::BackgroundTasks;
use super::files_seen::FilesSeen;
use super::tool::{
    Answers, Approval, ApprovalAsk, DMail, LiveOutput, Tool, ToolContext, ToolServices,
};
use crate::message::{TodoItem, ToolReturn};
use crate::wire::Question;

type BeforeAnswer = Box<dyn Fn() + Send + Sync>;

/// A session for tests: remembers what was asked of it.
pub(crate) struct FakeServices {
    answer: Mutex<Approval>,
    before_answer: Mutex<Option<BeforeAnswer>>,
    asked: Mutex<Vec<ApprovalAsk>>,
    live: Mutex<String>,
    todos: Mutex<Vec<TodoItem>>,
    mails: Mutex<Vec<DMail>>,
    failure: Mutex<Option<String>>,
    answers: Mutex<Answers>,
    questions: Mutex<Vec<Question>>,
    plan: Mutex<Option<PathBuf>>,
    shown_plans: Mutex<Vec<String>>,
    stopped: Mutex<bool>,
    seen: FilesSeen,
    background: Mutex<Option<BackgroundTasks>>,
    root: PathBuf,
}

fn get<T: Clone>(value: &Mutex<T>) -> T {
    value.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl ToolServices for FakeServices {
    fn approve<'a>(&'a self, _: &'a ToolContext, ask: ApprovalAsk) -> BoxFuture<'a, Approval> {
        self.asked.lock().expect("asked").push(ask);
        async {
            if let Some(act) = self.before_answer.lock().expect("act").as_ref() {
                act();
            }
            get(&self.answer)
        }
        .boxed()
    }

    fn live_output(&self, _: &ToolContext, output: LiveOutput<'_>) {
        self.live.lock().expect("live").push_str(output.text);
    }

    fn todos(&self) -> Vec<TodoItem> {
        get(&self.todos)
    }

    fn set_todos(&self, todos: Vec<TodoItem>) -> Result<(), String> {
        get(&self.failure).map_or(Ok(()), Err)?;
        *self.todos.lock().expect("todos") = todos;
        Ok(())
    }

    fn send_dmail(&self, mail: DMail) -> Result<(), String> {
        get(&self.failure).map_or(Ok(()), Err)?;
        self.mails.lock().expect("mails").push(mail);
        Ok(())
    }

    fn ask<'a>(&'a self, _: &'a ToolContext, questions: Vec<Question>) -> BoxFuture<'a, Answers> {
        self.questions.lock().expect("questions").extend(questions);
        async { get(&self.answers) }.boxed()
    }

    fn plan_file(&self) -> Option<PathBuf> {
        get(&self.plan)
    }

    fn set_plan_mode(&self, on: bool) -> Result<PathBuf, String> {
        let file = self.root.join("plan.md");
        *self.plan.lock().expect("plan") = on.then(|| file.clone());
        Ok(file)
    }

    fn show_plan(&self, content: &str, _: &Path) {
        self.shown_plans.lock().expect("plans").push(content.to_owned());
    }

    fn files_seen(&self) -> Option<&FilesSeen> {
        Some(&self.seen)
    }

    fn background(&self) -> Option<BackgroundTasks> {
        get(&self.background)
    }

    fn stop_after_step(&self) {
        *self.stopped.lock().expect("stopped") = true;
    }
}

/// A work folder in a folder of its own, so that there is an outside, and a context for calls.
pub(crate) struct Bench {
    /// Holds `work` and whatever a test puts outside of it.
    pub root: PathBuf,
    pub context: ToolContext,
    services: Arc<FakeServices>,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// A bench whose person approves everything.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let root = folder.path().canonicalize().expect("root");
        let work_dir = root.join("work");
        std::fs::create_dir(&work_dir).expect("work");
        let services = Arc::new(FakeServices {
            answer: Mutex::new(Approval::Approved),
            before_answer: Mutex::new(None),
            asked: Mutex::default(),
            live: Mutex::default(),
            todos: Mutex::default(),
            mails: Mutex::default(),
            failure: Mutex::default(),
            answers: Mutex::new(Answers::Away),
            questions: Mutex::default(),
            plan: Mutex::default(),
            shown_plans: Mutex::default(),
            stopped: Mutex::default(),
            seen: FilesSeen::default(),
            background: Mutex::default(),
            root: root.clone(),
        });
        let context = ToolContext {
            work_dir,
            added_dirs: Vec::new(),
            call_id: "call".into(),
            called_as: "Tool".into(),
            cancelled: CancellationToken::new(),
            services: services.clone(),
        };
        Self { root, context, services, _folder: folder }
    }

    /// A path in the work folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.context.work_dir.join(name)
    }

    /// Puts a file into the work folder, with the folders above it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folders");
        std::fs::write(&path, content).expect("file");
        path
    }

    pub fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.context.work_dir.join(path)).expect("file")
    }

    /// From now on the person says no.
    pub fn reject(&self, feedback: &str) {
        *self.services.answer.lock().expect("answer") =
            Approval::Rejected { feedback: feedback.into() };
    }

    /// Does this while the person thinks.
    pub fn before_answer(&self, act: impl Fn() + Send + Sync + 'static) {
        *self.services.before_answer.lock().expect("act") = Some(Box::new(act));
    }

    /// From now on storing todos and sending D-Mails fails.
    pub fn fail_with(&self, reason: &str) {
        *self.services.failure.lock().expect("failure") = Some(reason.into());
    }

    pub fn asked(&self) -> Vec<ApprovalAsk> {
        get(&self.services.asked)
    }

    pub fn live(&self) -> String {
        get(&self.services.live)
    }

    pub fn todos(&self) -> Vec<TodoItem> {
        get(&self.services.todos)
    }

    pub fn mails(&self) -> Vec<DMail> {
        get(&self.services.mails)
    }

    /// From now on questions are answered so.
    pub fn answer(&self, answers: Answers) {
        *self.services.answers.lock().expect("answers") = answers;
    }

    /// From now on this is the plan of a plan mode that is on.
    pub fn plan(&self, file: Option<&Path>) {
        *self.services.plan.lock().expect("plan") = file.map(Path::to_owned);
    }

    /// From now on there are background tasks.
    pub fn background(&self, tasks: &BackgroundTasks) {
        *self.services.background.lock().expect("tasks") = Some(tasks.clone());
    }

    pub fn planned(&self) -> Option<PathBuf> {
        get(&self.services.plan)
    }

    pub fn questions(&self) -> Vec<Question> {
        get(&self.services.questions)
    }

    pub fn shown_plans(&self) -> Vec<String> {
        get(&self.services.shown_plans)
    }

    pub fn was_stopped(&self) -> bool {
        get(&self.services.stopped)
    }

    pub async fn call(&self, tool: &dyn Tool, arguments: Value) -> ToolReturn {
        tool.call(arguments, &self.context).await
    }
}
