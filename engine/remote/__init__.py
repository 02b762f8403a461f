"""Models that run on a server with OpenAI's API: the same events for the same request, over the network."""
