"""What operators see of calls: metrics to count and traces to look into. Neither holds a word anybody said."""
