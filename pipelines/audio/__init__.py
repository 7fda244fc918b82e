"""Sound as numbers: frames, files, levels and changes of rate."""
