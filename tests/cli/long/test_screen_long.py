#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top's screen under a minute of random keys, clicks and sizes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from harness import BUILD, main, test
from screen import play


@test(root=False, timeout=120)
def a_minute_of_random_keys():
    play([os.path.join(BUILD, "tests", "tui", "feed")], 60)


if __name__ == "__main__":
    main()
