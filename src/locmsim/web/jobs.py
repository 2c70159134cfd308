"""Work that takes long, of which pages see how far it is: searches and reports."""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from itertools import count
from typing import Any

from starlette.routing import BaseRoute

from locmsim.web.endpoints import Query, Refusal, get, post, text_of
from locmsim.web.news import News

_log = logging.getLogger(__name__)

#: The most jobs at a time, and the number of ended jobs that are kept.
_RUNNING = 2
_KEPT = 32
#: A job that no page has asked about for so many seconds is stopped: hidden pages may ask only once
#: in a minute.
_UNSEEN = 150.0


class StoppedError(Exception):
    """The work of a job was stopped."""


class Job:
    """A piece of work in a thread of its own."""

    def __init__(
        self,
        key: str,
        work: Callable[["Job"], object],
        unseen: float = _UNSEEN,
    ) -> None:
        self.key = key
        self._version = 0
        self._work = work
        self._unseen = unseen
        self._asked = time.monotonic()
        self._stopping = False
        self._lock = threading.Lock()
        self._done, self._of = 0, 1
        self._state = "running"
        self._error: str | None = None
        self._result: Any = None
        self._thread = threading.Thread(target=self._run, name=f"job {key}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def _run(self) -> None:
        state = "done"
        error: str | None = None
        try:
            self._work(self)
        except StoppedError:
            state = "stopped"
        except ValueError as wrong:
            state, error = "failed", str(wrong)
        except Exception as wrong:
            _log.exception("job %s", self.key)
            state, error = "failed", f"{type(wrong).__name__}: {wrong}"
        with self._lock:
            self._state, self._error = state, error
            self._version += 1

    def update(self, done: int, of: int, result: Any) -> None:
        """Set how far it is and what was found: plain data that does not change any more."""
        with self._lock:
            self._done, self._of, self._result = done, of, result
            self._version += 1
        self.check()

    def check(self) -> None:
        """Raise `StoppedError` if the work was stopped or no page asks any more."""
        if time.monotonic() - self._asked > self._unseen:
            self._stopping = True
        if self._stopping:
            raise StoppedError

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._state == "running"

    @property
    def wanted(self) -> bool:
        """Whether it is running and was not told to stop."""
        return self.running and not self._stopping

    @property
    def useful(self) -> bool:
        """Whether it has what was wanted, or is going to."""
        return self._state == "done" or self.wanted

    def stop(self) -> None:
        """End it at its next `check`."""
        self._stopping = True

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def look(self) -> int:
        """Return the number of the last change, for a page that follows the job."""
        self._asked = time.monotonic()
        return self._version

    def to_json(self) -> dict[str, Any]:
        """Return how far it is, as plain data."""
        self._asked = time.monotonic()
        with self._lock:  # the version is that of the rest
            return {
                "job": self.key,
                "version": self._version,
                "state": self._state,
                "done": self._done,
                "of": self._of,
                "error": self._error,
                "result": self._result,
            }


class Jobs:
    """The jobs of a site."""

    def __init__(self, news: News) -> None:
        news.add("job", lambda key: self.get(key).look())
        self._jobs: dict[str, Job] = {}
        self._same: dict[Hashable, str] = {}
        self._numbers: Iterator[int] = count(1)
        self._lock = threading.Lock()
        self._closed = False

    def start(self, same: Hashable, work: Callable[[Job], object]) -> Job:
        """Start a job, or return the one that does or did the same."""
        with self._lock:
            known = self._jobs.get(self._same.get(same, ""))
            if known is not None and known.useful:
                return known
            if self._closed:
                raise Refusal("the site is closing", 503)
            if sum(job.wanted for job in self._jobs.values()) >= _RUNNING:
                raise Refusal("other searches are running: stop one, or wait for it", 429)
            job = Job(f"j{next(self._numbers)}", work)
            self._jobs[job.key] = job
            self._same[same] = job.key
            ended = [key for key, job in self._jobs.items() if not job.running]
            for key in ended[:-_KEPT]:
                del self._jobs[key]
            self._same = {s: key for s, key in self._same.items() if key in self._jobs}
            job.start()
        return job

    def get(self, key: str) -> Job:
        """Return the job of a key, or raise `Refusal`."""
        job = self._jobs.get(key)
        if job is None:
            raise Refusal("there is no such search any more: start it again", 404)
        return job

    def close(self) -> None:
        """Stop all jobs; none begins any more."""
        with self._lock:
            self._closed = True
            jobs = [*self._jobs.values()]
        for job in jobs:
            job.stop()
        deadline = time.monotonic() + 5
        for job in jobs:
            job.join(max(0.0, deadline - time.monotonic()))

    def routes(self) -> list[BaseRoute]:
        """Return the endpoints that tell how far a job is, and stop it."""

        def state(query: Query) -> object:
            return self.get(query.get("job", ""))

        def stop(data: dict[str, Any]) -> object:
            job = self.get(text_of(data, "job"))
            job.stop()
            return job

        return [get("/api/jobs", state), post("/api/jobs/stop", stop)]
