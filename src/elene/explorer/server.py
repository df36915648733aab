"""The server of the page: on this machine, for this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from flask import Flask, Response
    from werkzeug.serving import BaseWSGIServer

HERE = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost")
# Nothing comes from elsewhere, and nobody else's page shows this one. Dash puts styles into elements.
POLICY = (
    "default-src 'self'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def protect(server: Flask, inline: list[str]) -> None:
    """Refuse requests that were meant for another host: a page elsewhere whose name was made to point here.

    Args:
        server: the app's Flask server.
        inline: the hashes of the scripts that stand in the page itself.
    """
    from flask import Response, request

    policy = POLICY.format(hashes=" ".join(inline))

    def check() -> Response | None:
        if not is_here(request.headers.get("Host")):
            return Response("This page answers to 127.0.0.1 and localhost only.\n", 421, mimetype="text/plain")
        origin = request.headers.get("Origin")
        if origin is not None and not is_here(urlsplit(origin).netloc):
            return Response("Another page may not talk to this one.\n", 403, mimetype="text/plain")
        return None

    def finish(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    server.before_request(check)
    server.after_request(finish)


def is_here(host: str | None) -> bool:
    """Whether a Host header, with or without a port, names this machine.

    >>> is_here("localhost:8050"), is_here("evil.example"), is_here("127.0.0.1.evil.example"), is_here(None)
    (True, False, False, False)
    """
    name, mark, port = (host or "").partition(":")
    return name.lower() in NAMES and (not mark or port.isdecimal())


def bind(port: int) -> tuple[socket.socket, bool]:
    """A socket of this machine alone, and whether it is at this port, or at another one for this is taken.

    >>> held, _ = bind(0)
    >>> other, as_wanted = bind(held.getsockname()[1])
    >>> as_wanted, other.getsockname()[0]
    (False, '127.0.0.1')
    >>> held.close(), other.close()
    (None, None)
    """
    try:
        return _listen(port), True
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        return _listen(0), False


def _listen(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HERE, port))
        bound.listen(128)
    except OSError:
        bound.close()
        raise
    return bound


def make_server(app: Any, bound: socket.socket) -> BaseWSGIServer:
    """A server of a Dash app at a socket, a thread for each request; ``serve_forever`` runs it.

    Args:
        app: the app.
        bound: the socket.
    """
    from werkzeug.serving import WSGIRequestHandler
    from werkzeug.serving import make_server as make

    class Quiet(WSGIRequestHandler):
        """Says nothing of requests."""

        protocol_version = "HTTP/1.1"

        def log(self, type: str, message: str, *args: Any) -> None:
            """Nothing."""

    protect(app.server, app.csp_hashes())
    with bound:  # the server has a copy of it
        return make(HERE, bound.getsockname()[1], app.server, threaded=True, request_handler=Quiet, fd=bound.fileno())


def serve(app: Any, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve a page until it is interrupted.

    Args:
        app: the app.
        bound: where.
        ready: called with the page's address once it answers.
    """
    server = make_server(app, bound)
    try:
        ready(f"http://{HERE}:{server.port}/")
        server.serve_forever()
    finally:
        server.server_close()
