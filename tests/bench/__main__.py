"""`make bench`: what this machine does, beside the aims."""

from __future__ import annotations

from tests.bench.latency import measure, render


def main() -> None:
    """Measure and print."""
    print("Voice to voice, one call, recogniser, model and voice on this machine (a minute):\n", flush=True)
    print(render(measure(realtime=False), measure(realtime=True)))


if __name__ == "__main__":
    main()
