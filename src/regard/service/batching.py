"""Requests that arrive together are answered together, by one thread.

A request is a question with one or several items. Items of questions with the same key may share a batch; a batch takes
one item of each question in turn, so that a long question does not keep the short ones waiting, and the keys take turns
too. A question that nobody waits for any more gives up its place: at most the batch that runs is computed in vain.
"""

import asyncio
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from regard.errors import RegardError
from regard.service.limits import Limits
from regard.service.metrics import Metrics
from regard.service.refusal import Refused

Answer = Callable[[Any, Sequence[Any]], Sequence[Any]]  # key, items → an outcome for each, or why there is none


class Question:
    """Some items with one key, and whoever waits for all of their outcomes."""

    def __init__(self, key: Hashable, items: Sequence[Any]):
        self.key = key
        self.items = items
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[Any]] = self.loop.create_future()
        self.since = time.monotonic()
        self.taken = 0  # items that went into a batch
        self._outcomes: dict[int, Any] = {}

    @property
    def rest(self) -> int:
        return len(self.items) - self.taken

    def take(self) -> "Slot":
        self.taken += 1
        return Slot(self, self.taken - 1)

    def settle(self, number: int, outcome: Any) -> None:
        """From the worker: the last outcome, or the first that is an error, ends the waiting."""
        self._outcomes[number] = outcome
        if isinstance(outcome, Exception) or len(self._outcomes) == len(self.items):
            with suppress(RuntimeError):  # the loop is closed: the service has stopped, and nobody waits
                self.loop.call_soon_threadsafe(self._tell, outcome)

    def _tell(self, last: Any) -> None:
        if self.future.done():
            return
        if isinstance(last, Exception):
            self.future.set_exception(last)
        else:
            self.future.set_result([self._outcomes[number] for number in range(len(self.items))])


class Slot(NamedTuple):
    question: Question
    number: int

    @property
    def item(self) -> Any:
        return self.question.items[self.number]


class Batcher:
    def __init__(self, answer: Answer, limits: Limits, metrics: Metrics, weigh: Callable[[Any], int] = lambda item: 0):
        self._answer, self._limits, self._metrics, self._weigh = answer, limits, metrics, weigh
        self._queues: OrderedDict[Hashable, deque[Question]] = OrderedDict()
        self._bell = threading.Condition()
        self._stopping = False
        self._pace = 0.0  # seconds that a source takes, lately
        self._thread = threading.Thread(target=self._work, name="regard-worker", daemon=True)
        self.waiting = 0  # items that are in no batch yet

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take no more questions, finish those that were taken."""
        with self._bell:
            self._stopping = True
            self._bell.notify()
        self._thread.join(self._limits.seconds)  # at most: nobody waits for an answer longer than that

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    async def ask(self, key: Hashable, items: Sequence[Any]) -> list[Any]:
        """The outcomes, in the order of the items."""
        question = self._queue(key, items)
        try:
            return await asyncio.wait_for(question.future, self._limits.seconds)
        except asyncio.TimeoutError:
            fix = "send fewer or shorter sources, or a smaller beam; or serve with a larger --seconds"
            raise Refused(504, f"there was no answer within {self._limits.seconds:g} seconds", fix) from None
        finally:
            self._withdraw(question)

    def _queue(self, key: Hashable, items: Sequence[Any]) -> Question:
        with self._bell:
            if self._stopping:
                raise Refused(503, "the service is stopping", headers={"Retry-After": "5"})
            if self.waiting + len(items) > self._limits.queue:
                raise self._overload()
            question = Question(key, items)
            self._queues.setdefault(key, deque()).append(question)
            self.waiting += len(items)
            self._bell.notify()
        return question

    def _overload(self) -> Refused:
        wait = min(max(math.ceil(self.waiting * self._pace), 1), 60)
        message = f"{self.waiting} sources are waiting already, of {self._limits.queue} at most"
        return Refused(429, message, f"try again in {wait} s", {"Retry-After": str(wait)})

    def _withdraw(self, question: Question) -> None:
        with self._bell:
            queue = self._queues.get(question.key)
            if queue is None or question not in queue:
                return
            queue.remove(question)
            self.waiting -= question.rest
            if not queue:
                del self._queues[question.key]

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            started = time.monotonic()
            self._metrics.batches.observe(len(batch))
            self._settle(batch)
            pace = (time.monotonic() - started) / len(batch)
            self._pace = 0.9 * self._pace + 0.1 * pace if self._pace else pace

    def _next(self) -> list[Slot] | None:
        """Wait for a question, and then a moment for company."""
        with self._bell:
            while True:
                if not self._queues:
                    if self._stopping:
                        return None
                    self._bell.wait()
                    continue
                key, queue = next(iter(self._queues.items()))
                patience = queue[0].since + self._limits.wait - time.monotonic()
                if patience <= 0 or self._stopping or self._full(queue):
                    return self._take(key)
                self._bell.wait(patience)

    def _full(self, queue: deque[Question]) -> bool:
        return sum(question.rest for question in queue) >= self._limits.batch

    def _take(self, key: Hashable) -> list[Slot]:
        queue, batch, weights = self._queues.pop(key), list[Slot](), 0
        while queue and len(batch) < self._limits.batch and weights < self._limits.weights:
            question = queue.popleft()
            batch.append(question.take())
            weights += self._weigh(batch[-1].item)
            if question.rest:
                queue.append(question)
        if queue:
            self._queues[key] = queue  # at the end: the other keys first
        self.waiting -= len(batch)
        return batch

    def _settle(self, batch: list[Slot]) -> None:
        key = batch[0].question.key
        try:
            outcomes = self._answer(key, [slot.item for slot in batch])
        except RegardError as error:  # the key's fault, and all have the same
            outcomes = [error] * len(batch)
        except Exception as error:
            if len(batch) > 1:  # nobody should suffer for a neighbour
                for slot in batch:
                    self._settle([slot])
                return
            outcomes = [error]
        for slot, outcome in zip(batch, outcomes, strict=True):
            slot.question.settle(slot.number, outcome)
