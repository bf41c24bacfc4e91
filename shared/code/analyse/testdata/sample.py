#!/usr/bin/env python3
# A comment.
"""A text of
several lines, # without a comment
"""

class Shape(Base):
    """doc"""
    def area(self, x=1):  # code and comment
        if x and x > 1 or not x:
            return "# not a comment"
        return 0

async def fetch(url):
    for i in range(3):
        try:
            pass
        except ValueError:
            pass
