//! How much the first request of a session sends before the person has said a word: it is paid for
//! with every step.

use serde_json::{Value, json};

use super::*;
use crate::agent::{self, AgentChoice, PromptVars};
use crate::config::{ServiceConfig, WebConfig};
use crate::paths::Paths;
use crate::skill::{Places, Skills};
use crate::tools::{Equipment, Toolset};

/// Bytes of JSON, system prompt and tool schemas together.
const MOST: usize = 24 * 1024;

/// The prompt and tools of the default agent with all equipment, as chat completions take them.
fn request() -> (String, Vec<Value>) {
    let house = House::demo();
    let work_dir = house.root.path().join("work");
    let paths = Paths::new(house.root.path().join("share"));
    let mut vars = PromptVars::gather(&work_dir, &[]);
    vars.skills = Skills::find(&Places {
        work_dir: work_dir.clone(),
        home: Some(house.root.path().to_owned()),
        share: paths.share.clone(),
        extra: Vec::new(),
        merge_all: true,
        instead: Vec::new(),
    })
    .prompt_text();
    let agent = agent::load(&AgentChoice::default(), &paths, &vars).expect("agent");
    let search = ServiceConfig { base_url: "http://127.0.0.1:9/".into(), ..Default::default() };
    let web = WebConfig { search: Some(search), ..WebConfig::default() };
    let equipment = Equipment { web, sees_images: true, ..Equipment::default() };
    let tools = Toolset::equipped(&agent.tools, &[], &equipment).expect("tools");
    let tools = tools
        .specs()
        .iter()
        .map(|spec| {
            json!({"type": "function", "function": {
                "name": spec.name, "description": spec.description, "parameters": spec.parameters,
            }})
        })
        .collect();
    (agent.system_prompt, tools)
}

#[test]
fn the_first_request_of_the_default_agent_is_lean() {
    let (system, tools) = request();
    let prompt = json!({"role": "system", "content": system}).to_string().len();
    let mut lines = format!("system prompt: {prompt} bytes\n");
    for tool in &tools {
        let name = tool["function"]["name"].as_str().expect("name");
        lines.push_str(&format!("{name}: {} bytes\n", tool.to_string().len()));
    }
    let body = json!({"messages": [{"role": "system", "content": system}], "tools": tools});
    let all = body.to_string().len();
    println!("{lines}all: {all} of {MOST} bytes");
    assert!(all <= MOST, "{lines}all: {all} bytes, {MOST} are allowed");
}
