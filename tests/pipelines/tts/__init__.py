"""Tests of synthesisers."""
