"""Voice activity: where in the sound somebody speaks, and what of it the recogniser gets."""
