"""TDS: top-down specialisation along taxonomies, while every group stays l-eligible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.topdown import least_ratios, split_runs
from ldiv.algorithms import register
from ldiv.errors import InputError
from ldiv.release.builder import merged
from ldiv.release.recoding import Vocabulary
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.taxonomy import Taxonomy, information_gain

__all__ = ["taxonomy_of", "tds"]

MOST_COUNTS = 200_000_000  # entries of a table of 1.6 GB
MOST_SPLITS = 20_000  # a chain of splits costs the square


def taxonomy_of(domain: Domain, counts: NDArray[np.int64]) -> Taxonomy:
    """The tree TDS descends: the declared taxonomy, else dynamic splits if ordered, else a root above the values."""
    if domain.taxonomy is not None:
        return domain.taxonomy
    labels = [domain.label(code) for code in range(domain.size)]
    return Taxonomy.by_splits(counts, labels) if domain.ordered else Taxonomy.flat(labels)


class Specialisation:
    """The state of TDS: a cut through every taxonomy, the QI-groups it makes, and what each specialisation would leave.

    Incremental as in its paper. The information gain of a node depends on its own rows only, so it is computed once. The anonymity that
    specialising a node would leave is a minimum over the groups that show it; refining a group can only lower it (a group's |Q| / h(Q) is
    at least the least of its parts'), so a minimum is lowered by the new groups and never recomputed.
    """

    def __init__(self, contingency: Contingency, l: int, k: int = 1) -> None:
        c = self.c = contingency
        self.l, self.k = l, k
        group_of_cell = c.group_of_cell
        self.trees, self.gains, self.position = [], [], []
        for j, domain in enumerate(c.domains):
            if domain.size * c.m > MOST_COUNTS:
                raise InputError(
                    f"tds counts the sensitive values of every value of a domain: {domain.size:,} values of {domain.name!r} times {c.m:,} are more "
                    f"than {MOST_COUNTS:,}; coarsen the column or use another algorithm"
                )
            if domain.ordered and domain.taxonomy is None and domain.size > MOST_SPLITS:
                raise InputError(
                    f"tds splits ordered domains value by value: {domain.size:,} values of {domain.name!r} are more than {MOST_SPLITS:,}; coarsen "
                    "the column, give it a hierarchy, or use another algorithm"
                )
            counts = np.zeros((domain.size, c.m), dtype=np.int64)
            np.add.at(counts, (c.codes[group_of_cell, j], c.sensitive), c.count)
            tree = taxonomy_of(domain, counts)
            self.trees.append(tree)
            gains = information_gain(tree, counts)
            self.gains.append(gains if c.m > 1 else np.ones_like(gains))  # without classes the loss alone decides
            place = np.zeros(tree.nodes, dtype=np.int32)  # of a node among its siblings
            for children in tree.children:
                place[children] = np.arange(len(children))
            self.position.append(place)
        self.order = np.arange(c.groups, dtype=np.int32)
        self.runs = np.array([[0, c.groups]], dtype=np.int64)
        self.node = np.zeros((1, c.d), dtype=np.int32)  # of each QI-group and attribute
        histogram = c.histogram
        self.anonymity = c.n / max(int(histogram.max(initial=0)), 1) if not l == 1 < k else float(c.n)
        self.ratio = [np.full(tree.nodes, np.inf) for tree in self.trees]
        self.valid = [np.array([len(x) > 0 for x in tree.children]) for tree in self.trees]
        self.shown = [np.array([True] + [False] * (tree.nodes - 1)) for tree in self.trees]
        self.lower_minima(np.array([0]))

    def children_of_rows(self, j: int, node: int) -> NDArray[np.int32]:
        """Which child of a node holds each group of equal rows (meaningful only for those below the node)."""
        tree = self.trees[j]
        below = min(int(tree.depth[node]) + 1, tree.path.shape[1] - 1)
        return np.asarray(self.position[j][tree.path[self.c.codes[:, j], below]], dtype=np.int32)

    def lower_minima(self, groups: NDArray[np.integer]) -> None:
        """Lower the minima of the nodes that some new QI-groups show."""
        c = self.c
        kinds, kind = np.unique(self.node[groups], axis=0, return_inverse=True)
        kind = kind.ravel()
        for k, nodes in enumerate(kinds):
            open_ = np.array(
                [len(t.children[v]) if self.valid[j][v] else 0 for j, (t, v) in enumerate(zip(self.trees, nodes, strict=True))], dtype=np.int32
            )
            if not open_.any():
                continue
            child_of = np.stack([self.children_of_rows(j, int(v)) if open_[j] else np.zeros(c.groups, np.int32) for j, v in enumerate(nodes)])
            ratio, valid = least_ratios(
                self.order,
                np.ascontiguousarray(self.runs[groups[kind == k]]),
                child_of,
                open_,
                c.indptr,
                c.sensitive,
                c.count,
                c.m,
                self.l,
                self.k,
            )
            for j in np.flatnonzero(open_):
                self.ratio[j][nodes[j]] = min(self.ratio[j][nodes[j]], ratio[:, j].min())
                self.valid[j][nodes[j]] &= bool(valid[:, j].all())

    def best(self) -> tuple[int, int] | None:
        """The valid candidate of highest InfoGain / AnonyLoss; the first of equals."""
        chosen, highest = None, -1.0
        for j in range(self.c.d):
            for node in np.flatnonzero(self.shown[j] & self.valid[j]):
                loss = self.anonymity - min(self.anonymity, self.ratio[j][node])
                gain = self.gains[j][node]
                score = gain / loss if loss > 0 else (np.inf if gain > 0 else gain)
                if score > highest or (score == highest == np.inf and chosen and gain > self.gains[chosen[0]][chosen[1]]):
                    chosen, highest = (j, int(node)), score
        return chosen

    def specialise(self, j: int, node: int) -> None:
        """Replace a node of the cut by its children, splitting every QI-group that shows it."""
        self.anonymity = min(self.anonymity, self.ratio[j][node])
        children = self.trees[j].children[node]
        self.shown[j][node] = False
        self.shown[j][children] = True
        hit = self.node[:, j] == node
        parts = split_runs(self.order, np.ascontiguousarray(self.runs[hit]), self.children_of_rows(j, node), len(children))
        parents = self.node[hit][np.searchsorted(self.runs[hit][:, 1], parts[:, 0], side="right")]
        parents[:, j] = np.array(children, dtype=np.int32)[parts[:, 2]]
        kept = int((~hit).sum())
        runs = np.concatenate([self.runs[~hit], parts[:, :2]])
        nodes = np.concatenate([self.node[~hit], parents])
        fresh = np.arange(len(runs)) >= kept
        by_start = np.argsort(runs[:, 0], kind="stable")
        self.runs, self.node = np.ascontiguousarray(runs[by_start]), nodes[by_start]
        self.lower_minima(np.flatnonzero(fresh[by_start]))


@register(
    "tds",
    guarantee="none; single-dimensional: a value is published alike in every row",
    cost="O(cells * d * height of the taxonomies)",
    source="Fung, Wang, Yu, ICDE 2005, modified for l-diversity",
    suppression=False,
)
def tds(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None) -> Release:
    """Top-down specialisation: from a star everywhere, repeatedly specialise the best value while every group stays l-eligible.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table. Attributes with a taxonomy descend it, ordered ones split where the information gain on the SA
        is highest, others go from the star to their values in one step.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Ignored: ties go to the first attribute and node.

    Returns
    -------
    Release
        ``info["specialisations"]`` counts the steps.

    Notes
    -----
    Score InfoGain / AnonyLoss, the SA being the class and AnonyLoss the drop in the least ``|Q| / h(Q)`` (where only k is asked, ``|Q|``, as in its paper). Time O(cells * d) for each level that
    a cell descends; space O(cells).

    References
    ----------
    B. Fung, K. Wang, P. Yu: Top-down specialization for information and privacy preservation. ICDE 2005.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="tds").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    c = contingency
    if not c.groups:
        return Release.from_entries(c, c.group_of_cell, c.sensitive, c.count, l=l, algorithm="tds")
    state = Specialisation(c, l, k)
    steps = 0
    while (candidate := state.best()) is not None:
        state.specialise(*candidate)
        steps += 1
    group = np.empty(c.groups, dtype=np.int32)
    group[state.order] = np.repeat(np.arange(len(state.runs), dtype=np.int32), np.diff(state.runs, axis=1).ravel())
    published = np.empty(state.node.shape, dtype=np.int32)
    subdomains = []
    for j, (tree, domain) in enumerate(zip(state.trees, c.domains, strict=True)):
        vocabulary = Vocabulary(domain)
        shown = {int(v): vocabulary.publish(tree.codes(int(v)), tree.text[v]) for v in np.unique(state.node[:, j])}
        published[:, j] = [shown[int(v)] for v in state.node[:, j]]
        subdomains.append(vocabulary.subdomains)
    return merged(c, group, published, subdomains, l=l, algorithm="tds", info={"specialisations": steps})
