"""Takes memory until the kernel ends it: ``hog.py``."""

taken = []
while True:
    taken.append(bytearray(b"x" * (16 << 20)))
