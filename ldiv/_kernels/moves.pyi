"""Rows that move to the residue R in phases two and three: the state they change, and runs of moves that come again and again."""

class State:
    residue_size: int
    rounds: int

class Word:
    def __init__(self, cells: int, groups: int, m: int) -> None: ...
