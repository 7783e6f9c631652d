"""Threads, processes and loops: one archive, many hands."""

import asyncio
import inspect
import json
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import strongroom
import strongroom.aio
from conftest import openai_messages

QUESTION = "did we ever modify system config?"


def numbered(number):
    messages = openai_messages()
    messages[1] = {"role": "user", "content": f"Job {number}. Never restart the database."}
    return messages


def compact_and_ask(archive, number):
    compaction = archive.compact(numbered(number), budget="40%", name=f"job-{number}")
    answer = archive.ask(QUESTION, compaction.messages, name=f"job-{number}")
    return answer.answer, f"Job {number}." in json.dumps(compaction.messages)


def test_threads_share_an_archive(archive):
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: compact_and_ask(archive, number), range(6)))
    assert done == [("yes", True)] * 6
    assert len(archive.sessions()) == 6


def test_the_interpreter_goes_on_while_the_archive_works(archive):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(1)

    ticker = threading.Thread(target=tick)
    ticker.start()
    before = len(ticks)
    archive.compact(openai_messages() * 4, budget="20%", best_effort=True)
    during = len(ticks) - before
    stop.set()
    ticker.join()
    assert during >= 3


def in_child(archive, number, queue):
    queue.put(compact_and_ask(archive, number))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_an_archive(archive, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    context = multiprocessing.get_context(method)
    assert compact_and_ask(archive, 0) == ("yes", True)
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(archive, number, queue)) for number in (1, 2)]
    for child in children:
        child.start()
    done = [queue.get(timeout=120) for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert done == [("yes", True)] * 2
    # What the children did is seen here, and the archive of the parent works on.
    assert len(archive.sessions()) == 3
    assert compact_and_ask(archive, 3) == ("yes", True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_works(archive):
    worker = threading.Thread(target=compact_and_ask, args=(archive, 0))
    worker.start()
    child = os.fork()
    if child == 0:
        try:
            status = 0 if compact_and_ask(archive, 1)[0] == "yes" else 1
        except BaseException:
            status = 2
        os._exit(status)
    _, status = os.waitpid(child, 0)
    worker.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(archive.sessions()) == 2


def test_an_archive_can_be_sent(archive, tmp_path):
    with strongroom.open(tmp_path / "other", policy={"retention": "1d"}) as other:
        again = pickle.loads(pickle.dumps(other))
    assert again.dir == tmp_path / "other"
    with pytest.raises(strongroom.CompactionRefused):
        again.compact(openai_messages(), budget="40%")


def test_answers_are_frozen(compacted_once):
    archive, compaction = compacted_once
    with pytest.raises(AttributeError):
        compaction.report.pointer = None
    with pytest.raises(TypeError):
        compaction.report.reclaimed["structured"] = 0


def test_the_same_with_await(tmp_path):
    async def run():
        async with await strongroom.aio.open(tmp_path) as archive:
            jobs = [archive.compact(numbered(number), budget="40%", name=f"{number}") for number in range(2)]
            one, two = await asyncio.gather(*jobs)
            answer = await archive.ask(QUESTION, one.messages, name="0")
            pointer = answer.citations[0].pointer
            shown = await archive.show(pointer)
            assert shown.pointer == pointer
            assert await archive.original_bytes(pointer)
            assert await archive.spans(two.report.pointer)
            assert (await archive.ledger(one.messages, name="0")).total > 0
            assert (await archive.claim("Nothing was restarted.", one.messages)).verdict
            await archive.import_path(tmp_path / "absent")

    with pytest.raises(strongroom.NotFound):
        asyncio.run(run())


def test_every_method_can_be_awaited():
    own = {name for name in vars(strongroom.Archive) if not name.startswith("_")}
    assert own == {name for name in vars(strongroom.aio.AsyncArchive) if not name.startswith("_")}


def test_what_is_awaited_has_the_parameters_and_the_words_of_the_method():
    for name in ("ask", "claim", "ledger", "show", "import_path", "close"):
        method, awaited = getattr(strongroom.Archive, name), getattr(strongroom.aio.AsyncArchive, name)
        assert inspect.iscoroutinefunction(awaited)
        assert (inspect.signature(awaited), awaited.__doc__) == (inspect.signature(method), method.__doc__)
    for own, theirs in (
        (strongroom.aio.open, strongroom.open),
        (strongroom.aio.AsyncArchive.compact, strongroom.Archive.compact),
    ):
        assert list(inspect.signature(own).parameters) == list(inspect.signature(theirs).parameters)
