"""The agent loop: messages, tools, prompt input, executor and the glove that ties them together."""
