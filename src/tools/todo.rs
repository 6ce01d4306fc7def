//! Todo: the plan of the work, shown to the person and kept with the session.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::{DisplayBlock, TodoItem, TodoStatus, ToolReturn};

pub(crate) struct Todo;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The whole new list. Leave it out to read the current list; give an empty list to clear it.
    #[serde(default)]
    todos: Option<Vec<Entry>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Entry {
    /// What is to be done, in a few words.
    #[serde(alias = "content", alias = "task")]
    title: String,
    /// Where it stands.
    status: TodoStatus,
}

impl TypedTool for Todo {
    type Params = Params;
    const NAME: &'static str = "Todo";
    const ALIASES: &'static [&'static str] = &["SetTodoList"];
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/todo.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        match params.todos {
            None => Ok(read(&context.services.todos())),
            Some(entries) => write(entries, context),
        }
    }
}

fn read(todos: &[TodoItem]) -> ToolReturn {
    if todos.is_empty() {
        return ToolReturn::ok("", "The todo list is empty.");
    }
    let lines: Vec<String> =
        todos.iter().map(|todo| format!("- [{}] {}", word(todo.status), todo.title)).collect();
    ToolReturn::ok(lines.join("\n"), "This is the current todo list.")
}

fn write(entries: Vec<Entry>, context: &ToolContext) -> Result<ToolReturn, Failure> {
    if let Some(index) = entries.iter().position(|entry| entry.title.trim().is_empty()) {
        return Err(Failure::new(
            format!("Todo number {} has no title. The list was not changed.", index + 1),
            "Todo without a title",
        ));
    }
    let items: Vec<TodoItem> = entries
        .into_iter()
        .map(|entry| TodoItem { title: entry.title, status: entry.status })
        .collect();
    context.services.set_todos(items.clone()).map_err(|reason| {
        Failure::new(format!("The todo list could not be stored: {reason}"), "Todo list not stored")
    })?;
    Ok(ToolReturn::ok("", "Todo list updated").with_display(DisplayBlock::Todo { items }))
}

fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Done => "done",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn a_list_is_stored_shown_read_and_cleared() {
        let bench = Bench::new();
        let result = bench
            .call(
                &Todo,
                json!({"todos": [{"title": "one", "status": "done"}, {"title": "two", "status": "in_progress"}]}),
            )
            .await;
        assert_eq!(result.message, "Todo list updated");
        assert_eq!(result.display, [DisplayBlock::Todo { items: bench.todos() }]);
        assert_eq!(bench.todos().len(), 2);
        let read = bench.call(&Todo, json!({})).await;
        assert_eq!(read.output.text(), "- [done] one\n- [in_progress] two");
        bench.call(&Todo, json!({"todos": []})).await;
        assert!(bench.todos().is_empty());
        assert_eq!(bench.call(&Todo, json!({})).await.message, "The todo list is empty.");
    }

    #[tokio::test]
    async fn a_list_that_cannot_be_stored_and_a_bad_one_are_errors() {
        let bench = Bench::new();
        let bad = bench.call(&Todo, json!({"todos": [{"title": "one", "status": "soon"}]})).await;
        assert!(bad.message.contains("todos[0].status"), "{}", bad.message);
        let blank = bench.call(&Todo, json!({"todos": [{"title": " ", "status": "done"}]})).await;
        assert!(blank.is_error);
        bench.fail_with("disk full");
        let result = bench.call(&Todo, json!({"todos": []})).await;
        assert!(result.is_error && result.message.contains("disk full"));
    }
}
