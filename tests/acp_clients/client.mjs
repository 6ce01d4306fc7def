// Drives the agent with the npm library of the Agent Client Protocol: the one of today, which builds
// clients, and the older ones with their `ClientSideConnection`.
//
//   node client.mjs FOLDER WORK PROGRAM ARGS...
//
// FOLDER has the library in its node_modules, WORK is where the agent works. Prints `ok CASE` for
// each case; the first that fails ends it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [folder, work, program, ...args] = process.argv.slice(2);
const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function library() {
  const { resolve } = createRequire(join(folder, "client.js"));
  for (const name of ["@agentclientprotocol/sdk", "@zed-industries/agent-client-protocol"]) {
    try {
      return await import(pathToFileURL(resolve(name)));
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error(`no client library in ${folder}`);
}

const acp = await library();
const updates = [];
const asked = [];
const forms = [];
let answer = "approve";

function onUpdate(notification) {
  updates.push(notification.update);
}

function onPermission(request) {
  asked.push(request);
  return {
    outcome: answer ? { outcome: "selected", optionId: answer } : { outcome: "cancelled" },
  };
}

function onForm(request) {
  forms.push(request);
  return { action: "accept", content: { question1: "Blue", question2: ["Small"], question2_other: "Huge" } };
}

/** Runs `work` with `call(method, params)` and `cancel(session)`. */
async function connected(work) {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  if (acp.client) {
    await acp
      .client({ name: "conformance" })
      .onNotification("session/update", ({ params }) => onUpdate(params))
      .onRequest("session/request_permission", ({ params }) => onPermission(params))
      .onRequest("elicitation/create", ({ params }) => onForm(params))
      .connectWith(stream, (agent) =>
        work(
          (method, params) => agent.request(method, params),
          (sessionId) => agent.notify("session/cancel", { sessionId }),
        ),
      );
  } else {
    const client = { sessionUpdate: async (n) => onUpdate(n), requestPermission: async (r) => onPermission(r) };
    const agent = new acp.ClientSideConnection(() => client, stream);
    const known = {
      initialize: (p) => agent.initialize(p),
      "session/new": (p) => agent.newSession(p),
      "session/load": (p) => agent.loadSession(p),
      "session/prompt": (p) => agent.prompt(p),
      "session/set_mode": (p) => agent.setSessionMode(p),
    };
    const more = agent.listSessions ?? agent.unstable_listSessions;
    if (more) known["session/list"] = (p) => more.call(agent, p);
    await work(
      (method, params) => {
        assert.ok(known[method], `the library has no ${method}`);
        return known[method](params);
      },
      (sessionId) => agent.cancel({ sessionId }),
      known,
    );
  }
  child.stdin.end();
  assert.equal(await ended, 0, "the agent's exit code");
}

const of = (kind) => updates.filter((update) => update.sessionUpdate === kind);
const said = (kind = "agent_message_chunk") =>
  of(kind)
    .map((update) => update.content.text)
    .join("");

async function until(holds) {
  const end = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < end, `in vain: ${holds}\n${JSON.stringify(updates, null, 1)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function refused(promise, code) {
  const error = await promise.then(
    () => assert.fail("it was not refused"),
    (error) => error,
  );
  assert.equal(error.code, code, JSON.stringify(error));
  assert.ok(error.message, "an error says why");
}

await connected(async (call, cancel, known) => {
  const done = (name) => console.log(`ok ${name}`);
  const opening = { cwd: work, mcpServers: [] };
  const prompt = (sessionId, text, ...more) => {
    updates.length = asked.length = 0;
    return call("session/prompt", { sessionId, prompt: [{ type: "text", text }, ...more] });
  };

  const hello = await call("initialize", {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      // The library of today has its types checked with everything it knows.
      ...(acp.client && {
        elicitation: { form: {} },
        session: { compaction: {}, notices: {}, configOptions: { boolean: {} } },
      }),
    },
  });
  assert.equal(hello.protocolVersion, acp.PROTOCOL_VERSION);
  assert.equal(hello.agentCapabilities.loadSession, true);
  assert.equal(hello.agentCapabilities.promptCapabilities.image, true);
  assert.equal(hello.authMethods[0].id, "login");
  done("initialize");

  const { sessionId, modes } = await call("session/new", opening);
  assert.equal(modes.currentModeId, "default");
  await until(() => of("available_commands_update").length > 0);
  assert.ok(of("available_commands_update")[0].availableCommands.some((c) => c.name === "compact"));
  done("new");

  assert.equal((await prompt(sessionId, "Hello")).stopReason, "end_turn");
  await until(() => said() === "Hello, you.");
  assert.ok(of("agent_message_chunk").length > 1, "it streams");
  assert.equal(said("agent_thought_chunk"), "hm");
  done("prompt");

  for (const [option, name, isWritten] of [
    ["approve", "once", true],
    ["reject", "no", false],
    [null, "none", false],
    ["approve_for_session", "always", true],
    ["reject", "unasked", true],
  ]) {
    answer = option;
    const { stopReason } = await prompt(sessionId, `Write ${name}.txt`);
    assert.equal(stopReason, "end_turn");
    await until(() => of("tool_call_update").some((u) => ["completed", "failed"].includes(u.status)));
    const end = of("tool_call_update").find((u) => ["completed", "failed"].includes(u.status));
    assert.equal(end.status, isWritten ? "completed" : "failed", name);
    assert.equal(existsSync(join(work, `${name}.txt`)), isWritten, name);
    assert.equal(asked.length, name === "unasked" ? 0 : 1, name);
    if (asked.length > 0) {
      assert.deepEqual(
        asked[0].options.map((o) => [o.optionId, o.kind]),
        [
          ["approve", "allow_once"],
          ["approve_for_session", "allow_always"],
          ["reject", "reject_once"],
        ],
      );
      assert.equal(asked[0].toolCall.toolCallId, of("tool_call")[0].toolCallId);
    }
    if (isWritten) {
      assert.equal(end.content[0].type, "diff");
      assert.equal(readFileSync(join(work, `${name}.txt`), "utf8"), "new\n");
    }
  }
  done("permissions");

  answer = "1";
  assert.equal((await prompt(sessionId, "Ask")).stopReason, "end_turn");
  await until(() => of("tool_call_update").some((u) => u.status === "completed"));
  const given = JSON.stringify(of("tool_call_update").at(-1).content);
  if (acp.client) {
    assert.equal(forms[0].toolCallId, of("tool_call")[0].toolCallId);
    assert.equal(forms[0].requestedSchema.properties.question1.title, "Which colour?");
    assert.ok(given.includes("Blue") && given.includes("Small, Huge"), given);
    assert.ok(of("usage_update").length > 0, "a client of today hears of tokens");
  } else {
    assert.equal(asked.length, 2);
    assert.ok(given.includes("Blue") && given.includes("Large"), given);
  }
  done("questions");

  const running = prompt(sessionId, "Wait");
  await until(() => said().includes("one"));
  await refused(call("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello" }] }), -32600);
  await cancel(sessionId);
  assert.equal((await running).stopReason, "cancelled");
  assert.equal((await prompt(sessionId, "Hello")).stopReason, "end_turn");
  done("cancel");

  const image = { type: "image", mimeType: "image/png", data: DOT };
  assert.equal((await prompt(sessionId, "Look", image)).stopReason, "end_turn");
  await until(() => said().includes("I see."));
  done("image");

  await refused(call("session/prompt", { sessionId: "none", prompt: [{ type: "text", text: "x" }] }), -32602);
  await refused(call("session/prompt", { sessionId, prompt: [] }), -32602);
  await refused(call("session/new", { cwd: "not/absolute", mcpServers: [] }), -32602);
  await refused(call("session/load", { ...opening, sessionId: "none" }), -32002);
  await refused(call("session/set_mode", { sessionId, modeId: "none" }), -32602);
  done("bad input");

  if (!known || known["session/list"]) {
    const { sessions } = await call("session/list", { cwd: work });
    assert.deepEqual(
      sessions.map((s) => [s.sessionId, s.title]),
      [[sessionId, "Hello"]],
    );
  }
  done("list");

  updates.length = 0;
  await call("session/load", { ...opening, sessionId });
  await until(() => said().includes("I see."));
  assert.ok(said("user_message_chunk").startsWith("Hello"));
  assert.ok(of("user_message_chunk").some((u) => u.content.type === "image"));
  assert.equal(of("tool_call").length, 6);
  assert.equal(said("agent_thought_chunk"), "hmhm");
  done("load");
});
