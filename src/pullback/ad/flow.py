"""A small maximum flow (Dinic): the cheapest set of nodes whose removal separates sources from sinks.

    x -- sin -- *          stored cost 8 each; `*` is needed and can be computed from sin and x,
     `---------'           sin from x: cutting x alone (8) is cheaper than sin and x (16)
"""

from __future__ import annotations

__all__ = ["INFINITE", "Network"]

INFINITE = 1 << 40


class Network:
    """Edges with capacities between numbered nodes; 0 is the source, 1 the sink."""

    def __init__(self) -> None:
        self.edges: list[list[int]] = [[], []]  # per node: numbers of its edges
        self.head: list[int] = []
        self.room: list[int] = []

    def node(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, tail: int, head: int, capacity: int) -> None:
        """An edge and its reverse, which has no capacity yet."""
        for one, other, room in ((tail, head, capacity), (head, tail, 0)):
            self.edges[one].append(len(self.head))
            self.head.append(other)
            self.room.append(room)

    def before_sink(self) -> set[int]:
        """After the largest flow: the nodes from which the sink can be reached; the cut nearest to the sink."""
        while (levels := self._levels())[1] >= 0:
            starts = [0] * len(self.edges)
            while self._augment(levels, starts):
                pass
        seen, pending = {1}, [1]
        while pending:
            node = pending.pop()
            for number in self.edges[node]:
                other = self.head[number]
                if self.room[number ^ 1] > 0 and other not in seen:
                    seen.add(other)
                    pending.append(other)
        return seen

    def _levels(self) -> list[int]:
        levels = [-1] * len(self.edges)
        levels[0] = 0
        queue = [0]
        for node in queue:
            for number in self.edges[node]:
                other = self.head[number]
                if self.room[number] > 0 and levels[other] < 0:
                    levels[other] = levels[node] + 1
                    queue.append(other)
        return levels

    def _augment(self, levels: list[int], starts: list[int]) -> bool:
        """Send flow along one shortest path; False if there is none left."""
        path: list[int] = []
        node = 0
        while node != 1:
            edges = self.edges[node]
            while starts[node] < len(edges):
                number = edges[starts[node]]
                if self.room[number] > 0 and levels[self.head[number]] == levels[node] + 1:
                    break
                starts[node] += 1
            else:
                if not path:
                    return False
                last = path.pop()
                node = self.head[last ^ 1]
                starts[node] += 1
                continue
            path.append(number)
            node = self.head[number]
        amount = min(self.room[number] for number in path)
        for number in path:
            self.room[number] -= amount
            self.room[number ^ 1] += amount
        return True
