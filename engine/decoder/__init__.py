"""The lean forward pass of the Llama family and its relatives, in plain torch operations."""

from engine.decoder.cache import CacheLayout, KVCache
from engine.decoder.config import DecoderConfig
from engine.decoder.families import FAMILIES
from engine.decoder.runner import DecoderRunner, load_decoder

__all__ = ["FAMILIES", "CacheLayout", "DecoderConfig", "DecoderRunner", "KVCache", "load_decoder"]
