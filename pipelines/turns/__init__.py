"""How caller and agent take turns: whose words, whether they end, whether they interrupt."""
