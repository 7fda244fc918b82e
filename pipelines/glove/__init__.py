"""Our agents behind the Protocols of ``pipelines.responder``: the one package here that imports ``agents``."""

from pipelines.glove.responder import SETTLEMENT_WAIT_S, GloveResponder
from pipelines.glove.tool_host import GloveToolHost

__all__ = ["SETTLEMENT_WAIT_S", "GloveResponder", "GloveToolHost"]
