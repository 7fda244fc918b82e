"""Forms: what is asked, what follows, what is kept."""
