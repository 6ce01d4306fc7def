//! The built-in agents as they come: their tools and their prompts with every variable filled in.

use super::*;

#[test]
fn the_prompts_of_the_built_in_agents() {
    let place = place();
    for name in ["default", "okabe", "security", "security_beta", "ctfer"] {
        let agent = place.load(&named(name)).expect(name);
        let rendered = format!("{}\n\n{}", agent.tools.join(" "), agent.system_prompt);
        insta::assert_snapshot!(format!("prompt_of_{name}"), rendered);
    }
}
