"""Tests of sound as numbers."""
