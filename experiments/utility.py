"""What others measure of a release: NIST's K-marginal score, and the accuracy of classifiers as k-AnonML takes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ldiv.release.release import Release

__all__ = ["classified", "filled", "k_marginal"]


def filled(release: Release, seed: int = 0) -> NDArray[np.int32]:
    """The released codes with every star replaced by a value drawn from what its column publishes elsewhere."""
    codes = release.codes.copy()
    random = np.random.default_rng(seed)
    for j in range(release.d):
        stars = codes[:, j] < 0
        shown = codes[~stars, j]
        codes[stars, j] = random.choice(shown, int(stars.sum())) if len(shown) else 0
    return codes


def k_marginal(original: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """(2 - the mean, over pairs of columns, of the sum of differences of densities) * 500: 1000 where all two-column marginals are those of the original."""
    distances = []
    for a, b in combinations(range(original.shape[1]), 2):
        width = int(max(original[:, b].max(), other[:, b].max())) + 1
        first, second = (table[:, a].astype(np.int64) * width + table[:, b] for table in (original, other))
        size = int(max(first.max(), second.max())) + 1
        distances.append(np.abs(np.bincount(first, minlength=size) / len(first) - np.bincount(second, minlength=size) / len(second)).sum())
    return float((2 - np.mean(distances)) * 500)


def classified(release: Release, target: NDArray[np.integer], numeric: Sequence[str], unknown: float) -> dict[str, float]:
    """Accuracy (%) of classifiers that are trained and tested on the released table, as k-AnonML does.

    Columns one by one: `numeric` ones as numbers, a star as `unknown`; of all others a column for each value but the first, a star being one more value;
    scaled to 0..1 on all rows; 30 % of the rows are for the test. Random forest (300 trees of depth 10), a linear SVM, and the ten nearest neighbours.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import LinearSVC

    columns = []
    for domain, codes in zip(release.contingency.domains, release.codes.T, strict=True):
        if domain.name in numeric:
            values = np.array([float(domain.label(code)) for code in range(domain.size)])
            columns.append(np.where(codes < 0, unknown, values[codes])[:, None])
        else:
            columns.append((codes[:, None] == np.unique(codes)[None, 1:]).astype(float))
    table = MinMaxScaler().fit_transform(np.hstack(columns))
    train, test, known, wanted = train_test_split(table, target, test_size=0.3, random_state=42)
    models = {
        "random forest": RandomForestClassifier(n_estimators=300, min_samples_split=5, max_depth=10, random_state=10),
        "linear SVM": LinearSVC(random_state=0),
        "nearest neighbours": KNeighborsClassifier(10),
    }
    return {name: 100 * float((model.fit(train, known).predict(test) == wanted).mean()) for name, model in models.items()}
