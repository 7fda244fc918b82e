from __future__ import annotations

import time

import numpy as np

from pipelines.playout.speakable import speakable
from pipelines.playout.utterance import Utterance

RATE = 1000


def of(*sentences: str) -> Utterance:
    """Make an utterance of sentences that last a second each."""
    utterance = Utterance(1, "reply", rate=RATE)
    for sentence in sentences:
        piece = utterance.open_piece(len(utterance.text), speakable(sentence))
        utterance.text += sentence
        utterance.append(np.zeros(RATE, np.int16))
        piece.complete = True
    return utterance


def test_what_was_heard_moves_on_by_words_and_sentences() -> None:
    utterance = of("One two. ", "Three four. ", "Five six.")
    heard = []
    for played in range(0, 3 * RATE + 1, RATE // 2):
        utterance.heard_samples = played
        heard.append(utterance.text[: utterance.heard_end()])
    assert heard == [
        "",
        "One",
        "One two. ",
        "One two. Three",
        "One two. Three four. ",
        "One two. Three four. Five",
        "One two. Three four. Five six.",
    ]


def test_a_sentence_that_is_still_being_made_is_not_heard_whole() -> None:
    utterance = of("One two. ", "Three four.")
    utterance.pieces[-1].complete = False
    utterance.heard_samples = 2 * RATE
    assert utterance.text[: utterance.heard_end()] == "One two. Three four."[: utterance.heard_end()]
    assert utterance.resume_sample() <= 2 * RATE
    utterance.pieces[-1].complete = True
    assert utterance.heard_end() == len(utterance.text)
    assert utterance.resume_sample() == 2 * RATE


def test_asking_where_a_long_utterance_is_does_not_read_it_again_from_its_beginning() -> None:
    def cost(utterance: Utterance) -> float:
        utterance.heard_samples = utterance.samples - RATE // 2
        utterance.heard_end()
        began = time.thread_time()
        for _ in range(200):
            utterance.heard_end()
        return time.thread_time() - began

    assert cost(of(*["One two. "] * 2000)) < 20 * cost(of(*["One two. "] * 2))
