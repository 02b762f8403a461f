"""The lean forward pass of the Llama family and its relatives, in plain torch operations."""

from engine.decoder.cache import KVCache
from engine.decoder.config import DecoderConfig
from engine.decoder.families import FAMILIES
from engine.decoder.rows import CacheLayout
from engine.decoder.runner import DecoderRunner, load_decoder

__all__ = ["FAMILIES", "CacheLayout", "DecoderConfig", "DecoderRunner", "KVCache", "load_decoder"]
