"""Endpoints from plain functions: JSON in, JSON out, and what is wrong with a request as text.

The functions run in threads, so that none of them keeps the server from others.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

#: What a question asks.
Query = QueryParams
#: The longest body of a request, in bytes.
_MOST = 1 << 20
#: The most texts of a list: actions from the start of a battle on, or cards.
_TEXTS = 5000
#: The largest whole number of a request: SQLite and lists know none with more bits.
_WHOLE = (1 << 63) - 1


class Refusal(HTTPException):
    """The request is answered with an error status, a message and perhaps more."""

    def __init__(self, message: object, status: int = 400, **more: object) -> None:
        super().__init__(status, str(message))
        self.more = more


def json_response(data: Any, status: int = 200) -> Response:
    """Return an answer; text from others may hold anything, lone surrogates too."""
    text = json.dumps(data, default=lambda one: one.to_json())
    return Response(text, status, media_type="application/json")


async def error_response(request: Request, error: Exception) -> Response:
    """Return what a page gets for a `Refusal` or an unknown address."""
    assert isinstance(error, HTTPException)
    more = error.more if isinstance(error, Refusal) else {}
    return json_response({"error": str(error.detail), **more}, error.status_code)


def get(path: str, work: Callable[[Query], Any]) -> Route:
    """Return the route of a question."""

    async def endpoint(request: Request) -> Response:
        return await _answer(work, request.query_params)

    return Route(path, endpoint, methods=["GET"])


def post(
    path: str,
    work: Callable[[dict[str, Any]], Any],
    *,
    most: int = _MOST,
    left: Callable[[dict[str, Any]], object] | None = None,
) -> Route:
    """Return the route of a request that changes something."""

    async def endpoint(request: Request) -> Response:
        data = await body_of(request, most)
        answer = asyncio.ensure_future(_answer(work, data))
        if left is not None:
            closed = asyncio.ensure_future(gone(request))
            await asyncio.wait({answer, closed}, return_when=asyncio.FIRST_COMPLETED)
            closed.cancel()
            if not answer.done():
                left(data)
        return await answer

    return Route(path, endpoint, methods=["POST"])


async def _answer(work: Callable[[Any], Any], asked: Mapping[str, Any]) -> Response:
    try:
        answer = await run_in_threadpool(work, asked)
    except ValueError as error:
        raise Refusal(error) from None
    return answer if isinstance(answer, Response) else json_response(answer)


async def body_of(request: Request, most: int = _MOST) -> dict[str, Any]:
    """Return the JSON object in the body, of at most so many bytes; raise `Refusal` otherwise."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refusal("expected application/json", 415)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise Refusal(f"more than {most} bytes", 413)
    except ClientDisconnect:
        raise Refusal("the page has gone") from None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("expected a JSON object") from None
    if not isinstance(data, dict):
        raise Refusal("expected a JSON object")
    return data


async def gone(request: Request) -> None:
    """Wait until the browser has closed the connection of a request whose body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def text_of(data: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return a text of a request; raise `Refusal` for anything else."""
    value = data.get(name, default)
    if not isinstance(value, str):
        raise Refusal(f"{name}: expected a text")
    return value


def whole_of(
    data: Mapping[str, Any],
    name: str,
    default: int | None = None,
    *,
    least: int = -_WHOLE,
    most: int = _WHOLE,
) -> int:
    """Return an integer of a request, of a query one in digits; raise `Refusal` otherwise."""
    value = data.get(name, default)
    if isinstance(data, Query) and re.fullmatch(r"-?\d{1,98}", str(value)):
        value = int(value)
    if type(value) is not int:
        raise Refusal(f"{name}: expected an integer")
    if not least <= value <= most:
        raise Refusal(f"{name}: expected {least} to {most}, got {value}")
    return value


def texts_of(data: Mapping[str, Any], name: str) -> list[str]:
    """Return a list of texts of a request, empty by default; raise `Refusal` for anything else."""
    texts = data.get(name, [])
    if (
        not isinstance(texts, list)
        or len(texts) > _TEXTS
        or not all(isinstance(one, str) for one in texts)
    ):
        raise Refusal(f"{name}: expected a list of texts")
    return texts
