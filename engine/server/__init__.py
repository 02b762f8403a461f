"""An OpenAI-compatible HTTP server over the one worker. FastAPI and uvicorn are imported in this package alone."""
