"""Tests of recognisers."""
