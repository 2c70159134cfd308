"""A site on a port of this machine."""

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.concurrency import run_in_threadpool

from locmsim.options.commands import end_soon, expect_again
from locmsim.web.app import create_app
from locmsim.web.site import Site

#: The time that open connections get to end, in seconds.
_CLOSING = 1


class _Server(uvicorn.Server):
    """A server that ends what the pages wait for before it waits for the pages."""

    def __init__(self, site: Site) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(site),
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=_CLOSING,
                server_header=False,
                proxy_headers=False,
                ws="none",
            )
        )
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await run_in_threadpool(self._site.close)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End as `options.commands.ended_by_signals` does: at once after a second signal."""
        if self.should_exit:
            end_soon(sig)
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def _raised_again(self) -> Iterator[None]:
        """Uvicorn raises what it has captured once more, which is no second signal."""
        try:
            yield
        finally:
            expect_again(len(self._captured_signals))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Treat a closed terminal as Ctrl-C: errors while a page is made are only logged."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        with super().capture_signals(), self._raised_again():
            before = signal.getsignal(signal.SIGHUP) if hasattr(signal, "SIGHUP") else None
            if before in (None, signal.SIG_IGN) or not in_main_thread:
                yield
                return
            signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)


def serve(
    site: Site, *, port: int = 0, path: str = "", ready: Callable[[str], None] = lambda url: None
) -> None:
    """Serve a site until Ctrl-C, SIGTERM or SIGHUP. Nobody but this machine can connect."""
    with _opened(site, port, path) as (server, listener, url):
        ready(url)
        server.run(sockets=[listener])


@contextlib.contextmanager
def serving(site: Site, *, path: str = "", port: int = 0) -> Iterator[str]:
    """Serve a site in another thread during a ``with`` block, which gets the address."""
    with _opened(site, port, path) as (server, listener, url):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def _opened(site: Site, port: int, path: str) -> Iterator[tuple[_Server, socket.socket, str]]:
    """Open a port for a site, which is closed at the end; yield what serves it, and its address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server, sign = _Server(site), "&" if "?" in path else "?"
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/{path}{sign}token={site.token}"
        try:
            yield server, listener, url
        finally:
            site.close()
