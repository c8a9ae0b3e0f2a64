"""A copy of the app that only says its name and what reached it: what nginx does is tested with it in no time."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from deploy.configuration import Copy


class FakeCopy:
    """Listens on a free port of 127.0.0.1; `/full` and, once `full` is set, every page answer 503."""

    def __init__(self, port: int = 0) -> None:
        fake = self
        self.full = False
        self.requests: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake.requests.append(self.path)
                if self.headers.get("Upgrade"):
                    self.send_response(101)
                    self.send_header("Upgrade", self.headers["Upgrade"])
                    self.send_header("Connection", "upgrade")
                    self.end_headers()
                    self.close_connection = True
                    return
                self._answer(503 if fake.full else 200)

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self._answer(204)

            def _answer(self, status: int) -> None:
                said = {"port": fake.port, "path": self.path, "headers": dict(self.headers.items())}
                body = json.dumps(said).encode() if status != 204 else b""
                self.send_response(status)
                if "/static/" in self.path:
                    self.send_header("Cache-Control", "public, immutable, max-age=31536000")
                    self.send_header("Vary", "Accept-Encoding")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port: int = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def copy(self) -> Copy:
        """Its address."""
        return Copy(f"127.0.0.1:{self.port}")

    def stop(self) -> None:
        """Listen no longer."""
        self.server.shutdown()
        self.server.server_close()
