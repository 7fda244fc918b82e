import sys

import pytest

from pipelines.engines import ENGINES, EngineError, EngineKind, load_engine


class Tame:
    def __init__(self) -> None:
        self.warmed = False

    def warm(self) -> None:
        self.warmed = True


class Broken:
    def warm(self) -> None:
        raise RuntimeError("the weights are torn\nand more")


@pytest.mark.engine
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in ENGINES.items() for name in names])
def test_every_engine_of_the_table_loads(kind: EngineKind, name: str) -> None:
    assert load_engine(kind, name).name == name


def test_an_engine_of_ones_own_is_made_and_warmed() -> None:
    engine = load_engine(EngineKind.STT, f"{__name__}:Tame")
    assert isinstance(engine, Tame)
    assert engine.warmed


@pytest.mark.parametrize("name", ["wisper", "", ":", "a:", ":b", "silero"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(EngineError) as caught:
        load_engine(EngineKind.STT, name)
    assert str(caught.value).startswith(f"stt engine {name!r}: not known; use one of whisper")
    assert "\n" not in str(caught.value)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hibari", None)
    with pytest.raises(
        EngineError, match=r"tts engine 'hibari': needs 'hibari', .* `pip install 'glove-voice\[local\]'`"
    ):
        load_engine(EngineKind.TTS, "hibari")


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineError, match="module 'no_such_ears' is not installed"):
        load_engine(EngineKind.STT, "no_such_ears:Ears")


@pytest.mark.parametrize("attribute", ["Broken", "Missing"])
def test_an_engine_that_does_not_load_is_one_sentence_with_its_cause(attribute: str) -> None:
    with pytest.raises(EngineError, match=f"{attribute} does not load") as caught:
        load_engine(EngineKind.STT, f"{__name__}:{attribute}")
    assert caught.value.__cause__ is not None
    assert "\n" not in str(caught.value)
