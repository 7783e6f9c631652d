"""LangChain's SummarizationMiddleware as it is delivered: the last 20 messages stay, a model summarises the rest."""

from peer import copyist, from_langchain, serve, to_langchain

from langchain.agents.middleware import SummarizationMiddleware


def compact(task, folder):
    messages = to_langchain(task["messages"])
    middleware = SummarizationMiddleware(
        model=copyist(task["budget_tokens"]), trigger=("tokens", max(task["budget_tokens"], 1)), keep=("messages", 20)
    )
    change = middleware.before_model({"messages": messages}, None)
    return from_langchain(change["messages"] if change else messages)


serve(compact)
