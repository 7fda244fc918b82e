"""Tests of voice activity."""
