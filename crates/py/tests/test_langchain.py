"""LangChain: its messages, and the middleware in an agent with a scripted model."""

import asyncio
import json

import pytest

pytest.importorskip("langchain")

import strongroom
from conftest import RULE, WRITTEN, steps
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from strongroom.integrations.langchain import EvidenceMiddleware

RESULTS = {(name, arguments["path"]): result for name, arguments, result in steps()}


@tool
def read_file(path: str) -> str:
    """Reads a file."""
    return RESULTS["read_file", path]


@tool
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    return RESULTS["write_file", path]


class Script(BaseChatModel):
    """A model that follows a script, and refuses what an API would refuse."""

    replies: list
    seen: list = []
    profile: dict = {"max_input_tokens": 10_000}

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        check_pairs(messages)
        self.seen.append(list(messages))
        message = self.replies[len(self.seen) - 1]
        return ChatResult(generations=[ChatGeneration(message=message)])


def check_pairs(messages):
    """Every call is answered at once, and every result was called for."""
    open_calls = []
    for message in messages:
        if isinstance(message, ToolMessage):
            open_calls.remove(message.tool_call_id)
            continue
        assert not open_calls, f"no result for {open_calls}"
        if isinstance(message, AIMessage):
            open_calls = [call["id"] for call in message.tool_calls]
    assert not open_calls


def called(number, name, arguments):
    return AIMessage("", tool_calls=[{"id": f"call_{number}", "name": name, "args": arguments}])


def script(*question):
    calls = [called(number, name, arguments) for number, (name, arguments, _) in enumerate(steps())]
    return Script(replies=[*calls, AIMessage("The service answers."), *question], seen=[])


ASKED = called(99, "strongroom__evidence_ask", {"question": "did we ever modify system config?"})


def messages():
    made = [SystemMessage("You operate one host."), HumanMessage(RULE, id="rule")]
    for number, (name, arguments, result) in enumerate(steps()):
        made.append(called(number, name, arguments))
        made.append(ToolMessage(result, tool_call_id=f"call_{number}", name=name))
    return [*made, AIMessage("The service answers."), HumanMessage("What is next?")]


def test_messages_come_back_as_messages(archive):
    given = messages()
    compaction = archive.compact(given, budget="40%", name="run")
    assert compaction.changed and compaction.report.format == "langchain"
    assert [type(message) for message in compaction.messages if message not in given]
    assert all(
        isinstance(message, (SystemMessage, HumanMessage, AIMessage, ToolMessage)) for message in compaction.messages
    )
    assert compaction.messages[0] is given[0]
    assert any(message is given[1] for message in compaction.messages)
    check_pairs(compaction.messages)
    emptied = [
        call["args"] for message in compaction.messages if isinstance(message, AIMessage) for call in message.tool_calls
    ]
    assert {} in emptied
    assert archive.ask("did we ever modify system config?", compaction.messages, name="run").answer == "yes"
    again = archive.compact([*compaction.messages, AIMessage("Rest."), HumanMessage("Why?")], budget="90%", name="run")
    check_pairs(again.messages)
    assert archive.ask("did we ever modify system config?", again.messages, name="run").answer == "yes"
    with pytest.raises(strongroom.InvalidInput, match="mixed"):
        archive.compact([*given, {"role": "user", "content": "Hi."}])


def run(agent, text, asynchronous):
    config = {"configurable": {"thread_id": "7"}, "recursion_limit": 100}
    state = {"messages": [{"role": "user", "content": text}]}
    return asyncio.run(agent.ainvoke(state, config)) if asynchronous else agent.invoke(state, config)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_long_run_is_compacted_and_a_later_question_is_answered(archive, asynchronous):
    model = script(ASKED, AIMessage("Yes, /etc/app/conf.yaml."))
    middleware = EvidenceMiddleware(archive, trigger=("tokens", 6_000), keep=("tokens", 4_000))
    agent = create_agent(model, [read_file, write_file], middleware=[middleware], checkpointer=InMemorySaver())
    run(agent, RULE, asynchronous)
    state = run(agent, "Did we ever modify system config?", asynchronous)

    last = model.seen[-1]
    assert RULE in [message.content for message in last]
    assert any("[strongroom] Derived" in str(message.content) for message in last)
    assert WRITTEN not in json.dumps(
        [call["args"] for message in last if isinstance(message, AIMessage) for call in message.tool_calls]
    )
    answers = [
        message.content
        for message in last
        if isinstance(message, ToolMessage) and message.name == ASKED.tool_calls[0]["name"]
    ]
    assert answers[0].startswith("supported: yes") and "/etc/app/conf.yaml" in answers[0]
    assert state["messages"][-1].content.startswith("Yes")
    assert {source.name for source in archive.sessions()} == {"conversation:langchain/7"}
    assert len({message.id for message in state["messages"]}) == len(state["messages"])


def test_an_original_is_shown_to_the_model(archive):
    compaction = archive.compact(messages(), budget="40%", name="run")
    pointer = archive.ask("calls tool:write_file", compaction.messages, name="run").citations[0].pointer
    middleware = EvidenceMiddleware(archive)
    ask, show = middleware.tools
    assert "eu-central-1" in show.invoke({"pointer": pointer})
    assert "no answer" in show.invoke({"pointer": "nonsense"})
    assert set(ask.args) == {"question"}


def test_an_archive_that_fails_does_not_stop_the_agent(archive, caplog):
    model = script()
    agent = create_agent(
        model, [read_file, write_file], middleware=[EvidenceMiddleware(archive, trigger=("messages", 5))]
    )
    archive.close()
    state = agent.invoke({"messages": [{"role": "user", "content": RULE}]}, {"recursion_limit": 100})
    assert state["messages"][-1].content == "The service answers."
    assert "not compacted" in caplog.text


@pytest.mark.parametrize(
    "trigger, due",
    [
        (None, False),
        (("tokens", 5), True),
        (("tokens", 500), False),
        (("messages", 2), True),
        (("messages", 3), False),
        (("fraction", 0.001), True),
        (("fraction", 0.9), False),
        ({"tokens": 5, "messages": 3}, False),
        ({"tokens": 5, "messages": 2}, True),
        ([("messages", 3), {"tokens": 5}], True),
        ([], False),
    ],
)
def test_when_it_compacts(archive, trigger, due):
    middleware = EvidenceMiddleware(archive, trigger=trigger, model=script())
    assert middleware._is_due([HumanMessage("Twenty characters and more."), AIMessage("Yes.")]) is due


def test_parameters_are_those_of_the_middleware_beside_it(archive):
    with pytest.warns(DeprecationWarning):
        assert EvidenceMiddleware(archive, max_tokens_before_summary=9).clauses == [{"tokens": 9}]
    for wrong in ({"keep": ("pages", 3)}, {"trigger": ("fraction", 2)}, {"keep": ("fraction", 0.5)}):
        with pytest.raises(ValueError):
            EvidenceMiddleware(archive, **wrong)
    with pytest.raises(TypeError):
        EvidenceMiddleware(archive, triger=("tokens", 5))


def test_what_a_model_never_sees_stays_with_its_message(archive):
    class Own(ToolMessage):
        pass

    table = object()
    given = messages()
    given[3] = Own(given[3].content, tool_call_id="call_0", artifact=table, response_metadata={"raw": object()})
    compaction = archive.compact(given, budget="40%", name="run")
    (own,) = [message for message in compaction.messages if isinstance(message, Own)]
    assert own is not given[3] and own.content != given[3].content
    assert own.artifact is table and own.response_metadata is given[3].response_metadata


def test_it_does_not_compact_again_for_a_few_tokens(archive):
    middleware = EvidenceMiddleware(archive, trigger=("tokens", 100), keep=("tokens", 100))
    state = middleware.before_model({"messages": messages()}, None)
    longer = [*state["messages"][1:], AIMessage("Rest."), HumanMessage("Why?")]
    assert middleware.before_model({"messages": longer}, None) is None
    grown = [
        *longer,
        AIMessage("Because. " * 500),
        HumanMessage("Go on."),
        AIMessage("Yes. " * 4000),
        HumanMessage("Good."),
    ]
    assert middleware.before_model({"messages": grown}, None) is not None


def test_parallel_calls_stay_paired(archive):
    ids = [f"p{number}" for number in range(8)]
    calls = [{"id": own, "name": "read_file", "args": {"path": f"/srv/{own}"}} for own in ids]
    results = [ToolMessage(f"{own}: " + "nothing here. " * 200, tool_call_id=own) for own in ids]
    given = [HumanMessage(RULE), AIMessage("", tool_calls=calls), *results, AIMessage("Done."), HumanMessage("Next?")]
    compaction = archive.compact(given, budget="40%", name="run")
    assert compaction.changed
    check_pairs(compaction.messages)
    assert archive.ask("calls arg:/srv/p5", compaction.messages, name="run").verdict == "supported"
