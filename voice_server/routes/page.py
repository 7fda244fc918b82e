"""The page: static files, the built one where there is one, else a plain one that needs no build."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

__all__ = ["serve_page"]

_WEB = Path(__file__).parent.parent / "web"


class _Page(StaticFiles):
    """Files whose names hold a hash of their content may be kept; all others are asked for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        kept = path.startswith("assets/")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if kept else "no-cache"
        return response


def serve_page(app: FastAPI, web: Path = _WEB) -> None:
    """Serve the page at ``/``, behind all other routes, if there is one.

    Args:
        app: gets the files.
        web: the folder with ``dist`` (built) or ``plain``.
    """
    for folder in (web / "dist", web / "plain"):
        if (folder / "index.html").is_file():
            app.mount("/", _Page(directory=folder, html=True), name="page")
            return
