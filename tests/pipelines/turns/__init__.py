"""Tests of pipelines.turns."""
