"""Drives the agent with the Python library of the Agent Client Protocol, 0.7 or later.

    python3 client.py WORK PROGRAM ARGS...

WORK is where the agent works. Prints `ok CASE` for each case; the first that fails ends it.
"""

import asyncio
import os
import sys
from pathlib import Path

import acp
from acp import RequestError, schema

WORK, PROGRAM, *ARGS = sys.argv[1:]
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OVER = ("completed", "failed")


class Editor:
    """What the agent said and asked, and how the person answers."""

    def __init__(self):
        self.updates, self.asked, self.forms, self.answer = [], [], [], "approve"

    def on_connect(self, agent):
        pass

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)

    async def request_permission(self, options, session_id, tool_call, **_):
        self.asked.append((options, tool_call))
        if self.answer is None:
            outcome = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message, mode, **_):
        self.forms.append(mode)
        content = {"question1": "Blue", "question2": ["Small"], "question2_other": "Huge"}
        return schema.AcceptElicitationResponse(action="accept", content=content)

    def forget(self):
        self.updates.clear()
        self.asked.clear()

    def of(self, kind):
        return [update for update in self.updates if update.session_update == kind]

    def said(self, kind="agent_message_chunk"):
        return "".join(getattr(update.content, "text", "") for update in self.of(kind))

    def end_of_call(self):
        return next((u for u in self.of("tool_call_update") if u.status in OVER), None)


def done(case):
    print("ok", case, flush=True)


# Older libraries hand updates out after the answer they came before: what is looked for is waited for.
async def until(holds, editor):
    for _ in range(4000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"in vain: {editor.updates}")


async def refused(call, code):
    try:
        await call
    except RequestError as error:
        assert error.code == code, (error.code, str(error))
        assert str(error), "an error says why"
    else:
        raise AssertionError("it was not refused")


async def work(agent, editor):
    def prompt(session, text, *more):
        editor.forget()
        return agent.prompt(session_id=session, prompt=[acp.text_block(text), *more])

    # The library of today says that it shows forms.
    has_forms = hasattr(schema, "ElicitationCapabilities")
    fs = getattr(schema, "FileSystemCapability", None) or schema.FileSystemCapabilities
    can = {"fs": fs(read_text_file=False, write_text_file=False)}
    if has_forms:
        form = schema.ElicitationFormCapabilities()
        can["elicitation"] = schema.ElicitationCapabilities(form=form)
    hello = await agent.initialize(
        protocol_version=acp.PROTOCOL_VERSION, client_capabilities=schema.ClientCapabilities(**can)
    )
    assert hello.protocol_version == acp.PROTOCOL_VERSION
    assert hello.agent_capabilities.load_session
    assert hello.agent_capabilities.prompt_capabilities.image
    assert hello.auth_methods[0].id == "login"
    done("initialize")

    opened = await agent.new_session(cwd=WORK, mcp_servers=[])
    session = opened.session_id
    assert opened.modes.current_mode_id == "default"
    await until(lambda: editor.of("available_commands_update"), editor)
    commands = editor.of("available_commands_update")[0].available_commands
    assert "compact" in [command.name for command in commands]
    done("new")

    assert (await prompt(session, "Hello")).stop_reason == "end_turn"
    await until(lambda: editor.said() == "Hello, you.", editor)
    assert len(editor.of("agent_message_chunk")) > 1, "it streams"
    assert editor.said("agent_thought_chunk") == "hm"
    done("prompt")

    for option, name, is_written in [
        ("approve", "once", True),
        ("reject", "no", False),
        (None, "none", False),
        ("approve_for_session", "always", True),
        ("reject", "unasked", True),
    ]:
        editor.answer = option
        assert (await prompt(session, f"Write {name}.txt")).stop_reason == "end_turn"
        await until(editor.end_of_call, editor)
        end = editor.end_of_call()
        assert end.status == ("completed" if is_written else "failed"), name
        file = Path(WORK, f"{name}.txt")
        assert file.exists() == is_written, name
        assert len(editor.asked) == (0 if name == "unasked" else 1), name
        for options, call in editor.asked:
            assert [(o.option_id, o.kind) for o in options] == [
                ("approve", "allow_once"),
                ("approve_for_session", "allow_always"),
                ("reject", "reject_once"),
            ]
            assert call.tool_call_id == editor.of("tool_call")[0].tool_call_id
        if is_written:
            assert end.content[0].type == "diff"
            assert file.read_text() == "new\n"
    done("permissions")

    editor.answer = "1"
    assert (await prompt(session, "Ask")).stop_reason == "end_turn"
    await until(editor.end_of_call, editor)
    given = editor.end_of_call().content[0].content.text
    if has_forms:
        assert editor.forms[0].tool_call_id == editor.of("tool_call")[0].tool_call_id
        assert "Blue" in given and "Small, Huge" in given, given
    else:
        assert len(editor.asked) == 2
        assert "Blue" in given and "Large" in given, given
    done("questions")

    running = asyncio.ensure_future(prompt(session, "Wait"))
    await until(lambda: "one" in editor.said(), editor)
    again = agent.prompt(session_id=session, prompt=[acp.text_block("Hello")])
    await refused(again, -32600)
    await agent.cancel(session_id=session)
    assert (await running).stop_reason == "cancelled"
    assert (await prompt(session, "Hello")).stop_reason == "end_turn"
    done("cancel")

    image = acp.image_block(data=DOT, mime_type="image/png")
    assert (await prompt(session, "Look", image)).stop_reason == "end_turn"
    await until(lambda: "I see." in editor.said(), editor)
    done("image")

    text = [acp.text_block("x")]
    await refused(agent.prompt(session_id="none", prompt=text), -32602)
    await refused(agent.prompt(session_id=session, prompt=[]), -32602)
    await refused(agent.new_session(cwd="not/absolute", mcp_servers=[]), -32602)
    await refused(agent.load_session(cwd=WORK, session_id="none", mcp_servers=[]), -32002)
    await refused(agent.set_session_mode(session_id=session, mode_id="none"), -32602)
    done("bad input")

    if hasattr(agent, "list_sessions"):
        listed = (await agent.list_sessions(cwd=WORK)).sessions
        assert [(s.session_id, s.title) for s in listed] == [(session, "Hello")], listed
    done("list")

    editor.forget()
    await agent.load_session(cwd=WORK, session_id=session, mcp_servers=[])
    await until(lambda: "I see." in editor.said(), editor)
    assert editor.said("user_message_chunk").startswith("Hello")
    assert any(u.content.type == "image" for u in editor.of("user_message_chunk"))
    assert len(editor.of("tool_call")) == 6
    assert editor.said("agent_thought_chunk") == "hmhm"
    done("load")


async def main():
    editor = Editor()
    more = {"env": dict(os.environ)}
    if hasattr(schema, "ElicitationCapabilities"):
        # Forms are behind this flag.
        more["use_unstable_protocol"] = True
    async with acp.spawn_agent_process(editor, PROGRAM, *ARGS, **more) as opened:
        agent, process = opened
        await work(agent, editor)
    assert process.returncode == 0, process.returncode


asyncio.run(asyncio.wait_for(main(), 120))
