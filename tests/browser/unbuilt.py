"""`voice-server`, as it is where the page was never built: ``python -m tests.browser.unbuilt FOLDER serve``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from voice_server import app, cli
from voice_server.routes.page import serve_page

if __name__ == "__main__":
    _, folder, *arguments = sys.argv
    vars(app)["serve_page"] = partial(serve_page, web=Path(folder))
    sys.exit(cli.main(arguments))
