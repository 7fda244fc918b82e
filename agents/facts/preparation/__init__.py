"""Preparation: a dedicated agent reads the facts before a turn and says what of goals and forms they settle.

``judgement`` decides what of its proposals holds; nothing it says is believed beyond the evidence it names.
"""
