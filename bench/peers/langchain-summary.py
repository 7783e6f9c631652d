"""LangChain's SummarizationMiddleware as it is delivered: the last 20 messages stay, a model summarises the rest."""

from langchain.agents.middleware import SummarizationMiddleware

from peer import copyist, from_langchain, given, hand_back, to_langchain

task = given()
if task:
    messages = to_langchain(task["messages"])
    middleware = SummarizationMiddleware(
        model=copyist(task["budget_tokens"]), trigger=("tokens", max(task["budget_tokens"], 1)), keep=("messages", 20)
    )
    change = middleware.before_model({"messages": messages}, None)
    after = change["messages"] if change else messages
    hand_back(from_langchain(after))
