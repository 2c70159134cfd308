"""The end of the server of the pages."""

import signal
import sys
import threading
import time
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest

from locmsim.options.commands import Stopped, ended_by_signals

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from web_client import Library, Site

from locmsim.web import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM", "SIGINT"])
def test_signal_while_a_page_is_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server only logs an exception raised there, so a signal must end it in another way."""
    number = getattr(signal, name)

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            signal.raise_signal(number)
            time.sleep(0.001)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"made all the same"})

    pages: list[bytes] = []

    def ask(address: str) -> None:
        with build_opener(ProxyHandler({})).open(address, timeout=60) as page:
            pages.append(page.read())

    monkeypatch.setattr(server, "create_app", lambda site: app)

    def lost(number: int, frame: Any) -> None:
        raise AssertionError("the server goes on")

    # The signal is ignored if the tests run under nohup or in the background of a shell.
    usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    outside = signal.signal(number, usual)
    before = signal.signal(signal.SIGUSR1, lost)
    late = threading.Timer(30, signal.raise_signal, [signal.SIGUSR1])
    late.start()
    try:
        with pytest.raises(Stopped) as caught, ended_by_signals():
            server.serve(
                Site(Library([])),
                ready=lambda url: threading.Thread(target=ask, args=[url]).start(),
            )
    finally:
        late.cancel()
        signal.signal(signal.SIGUSR1, before)
        signal.signal(number, outside)
    assert caught.value.code == 128 + number
    assert pages == [b"made all the same"]
    # Uvicorn raises the signal again, which is no second one: nothing ends this process soon.
    timers = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
    assert [one for one in timers if one.is_alive() and "_end_now" in repr(one.function)] == []
