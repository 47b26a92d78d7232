"""Images of our own making: data images, sent over the registries' own protocol; no engine is needed."""
