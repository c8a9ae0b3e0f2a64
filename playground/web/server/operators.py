"""Routes for whoever runs the app: whether it can take a visitor, and its counters."""

from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from playground.web.server.visitors import Visitors

VISITORS = Gauge("playground_visitors", "Open pages.")


class Readiness:
    """Whether the server has loaded what it needs before the first visitor, and has a seat for one more."""

    def __init__(self, visitors: Visitors) -> None:
        self.loaded = False
        self.release_failure: str | None = None
        """Why memory could not be released once all visitors had left, when that was tried last."""
        self.visitors = visitors
        VISITORS.set_function(lambda: visitors.open)

    def routes(self) -> list[BaseRoute]:
        """`/ready`, for whoever spreads visitors over servers; `/operators/metrics`, for Prometheus."""
        # Both spellings, since Streamlit's front end answers wherever no route does, with its page and status 200.
        counters = [Route(f"/operators/metrics{end}", _count) for end in ("", "/")]
        return [Route("/ready", self._answer), *counters]

    async def _answer(self, _request: Request) -> JSONResponse:
        """Answer 200 where the models are loaded and a seat is free, 503 otherwise, and in both cases why."""
        visitors = self.visitors
        is_ready = self.loaded and not visitors.is_full
        state = {
            "ready": is_ready,
            "loaded": self.loaded,
            "visitors": visitors.open,
            "max_visitors": visitors.limit,
            "release_failure": self.release_failure,
        }
        return JSONResponse(state, 200 if is_ready else 503, headers={"Cache-Control": "no-store"})


def _count(_request: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
