"""The pages of `locmsim web` in this process, and a client that sends their requests."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
testclient = pytest.importorskip("starlette.testclient", reason="there is no HTTP client")

from locmsim.web.app import create_app  # noqa: E402
from locmsim.web.library import Library  # noqa: E402
from locmsim.web.site import Site  # noqa: E402

ADDRESS = "http://127.0.0.1:8000"


class Client:
    """A client of pages about files and results; `options` are those of the site.

    As a context, it ends what the pages have started.
    """

    def __init__(
        self, files: Sequence[Any] = (), dbs: Sequence[Any] = (), /, **options: Any
    ) -> None:
        self.site = Site(Library([*map(str, files)], [*map(str, dbs)]), **options)
        self.library, self.token = self.site.library, self.site.token
        self.app = create_app(self.site)
        self.client = testclient.TestClient(self.app, base_url=ADDRESS)

    def __enter__(self) -> "Client":
        self.client.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.client.__exit__(*exception)

    def ask(self, path: str, code: int = 200, **query: Any) -> Any:
        """Return the whole answer."""
        answer = self.client.get(path, params={"token": self.token, **query})
        assert answer.status_code == code, answer.text
        return answer

    def get(self, path: str, code: int = 200, **query: Any) -> Any:
        return self.ask(path, code, **query).json()

    def post(self, path: str, code: int = 200, /, **data: Any) -> Any:
        answer = self.client.post(path, params={"token": self.token}, json=data)
        assert answer.status_code == code, answer.text
        return answer.json()

    def ended(self, view: dict[str, Any]) -> dict[str, Any]:
        """Return the view of a job when it has ended."""
        while view.get("state") == "running":
            view = self.get("/api/jobs", job=view["job"], known=view["version"])
        return view
