"""A process that holds no table's combinations, but all that phase one takes out of groups."""

from ldiv.engines.room import Room, TooManyError


class SmallRoom(Room):
    most = 10**6

    def require_combinations(self, found, keys):
        raise TooManyError("too many combinations")
