"""LiveKit Agents and Pipecat beside us: the same callers, vendors and sink, each in an interpreter of its own.

``driver`` makes the environments and runs ``ours``, ``livekit_agents`` and ``pipecat`` by turns. What those three share
(``vendors``, ``sink``, ``call``, ``trial``) imports nothing but the standard library, so that every interpreter has it.
"""
