"""Device mode: a browser talks to a provider by itself, and its model's tools are run here."""
