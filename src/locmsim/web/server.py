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

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
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
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = _Server(_config(site), site)
        ready(_address(listener, site, path))
        try:
            server.run(sockets=[listener])
        finally:
            site.close()


@contextlib.contextmanager
def serving(site: Site, *, path: str = "", port: int = 0) -> Iterator[str]:
    """Serve a site in another thread during a ``with`` block, which gets the address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = _Server(_config(site), site)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield _address(listener, site, path)
        finally:
            server.should_exit = True
            thread.join()
            site.close()


def _config(site: Site) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(site),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_CLOSING,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )


def _address(listener: socket.socket, site: Site, path: str) -> str:
    sign = "&" if "?" in path else "?"
    return f"http://127.0.0.1:{listener.getsockname()[1]}/{path}{sign}token={site.token}"
