"""Tests of pipelines.playout."""
