//! What the front end can do decides what the model is offered.

use std::sync::Arc;

use super::Soul;
use crate::wire::Equipment;

impl Soul {
    /// Takes what the front end can do, and what it brings, in the place of what held before.
    pub(crate) fn equip(&mut self, equipment: Equipment) {
        let mut hidden = Vec::new();
        if !equipment.supports_question {
            hidden.push("AskUserQuestion");
        }
        if !equipment.supports_plan_mode {
            hidden.extend(["EnterPlanMode", "ExitPlanMode"]);
        }
        let brought = equipment.tools.into_iter().map(|tool| self.client_tools.tool(tool));
        // The agent's own come first: a name that is taken stays theirs.
        let tools = self.all_tools.with(brought).without(&hidden);
        self.tools = Arc::new(self.mcp.behind(tools));
        self.services.send_errands(equipment.errands, self.client_tools.clone());
        self.hooks.subscribe(&equipment.hooks);
        let hides_demo = self.info.is_demo && !equipment.takes_demo;
        self.model = self.the_model.clone().filter(|_| !hides_demo);
    }
}
