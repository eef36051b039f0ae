"""What can be learnt from a release, and how well it is told from its table: classification and propensity, with scikit-learn (``pip install 'ldiv[utility]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import SEED, shown
from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.table.microdata import Microdata
from ldiv.table.rows import Rows

__all__ = ["MODELS", "Scores", "as_released", "propensity", "on_originals"]

MODELS = ("random forest", "linear SVM", "nearest neighbours")  # k-AnonML's, with its settings
FOLDS = 5  # of propensity: each holds out a part of the rows


@dataclass(frozen=True)
class Scores:
    """How well a classifier does.

    Attributes
    ----------
    accuracy : float
        The share of test rows that it gets right.
    f1 : float
        The mean over classes of the harmonic mean of precision and recall.
    zero_rule : float
        The accuracy of the commonest class of the training rows.
    """

    accuracy: float
    f1: float
    zero_rule: float


def _sklearn() -> Any:
    try:
        import sklearn.ensemble
        import sklearn.linear_model
        import sklearn.metrics
        import sklearn.model_selection
        import sklearn.neighbors
        import sklearn.preprocessing
        import sklearn.svm
        import sklearn.tree
    except ImportError as error:
        raise InputError("this measure needs scikit-learn: pip install 'ldiv[utility]'") from error
    return sklearn


def _models(sklearn: Any) -> dict[str, Any]:
    return {
        "random forest": sklearn.ensemble.RandomForestClassifier(n_estimators=300, min_samples_split=5, max_depth=10, random_state=10),
        "linear SVM": sklearn.svm.LinearSVC(random_state=0),
        "nearest neighbours": sklearn.neighbors.KNeighborsClassifier(10),
    }


def as_released(
    release: Release, target: NDArray[Any], numeric: Sequence[str] = (), *, unknown: float | None = None, models: Sequence[str] = MODELS
) -> dict[str, Scores]:
    """Classifiers trained and tested on the released table, as k-AnonML does.

    Parameters
    ----------
    release : Release
    target : ndarray, shape (n,)
        The class of each row, in the order of the table; not a quasi-identifier.
    numeric : sequence of str
        QI attributes with numbers for labels that are learnt as numbers: a sub-domain as the middle of its least and greatest value, a star as `unknown`. Of all
        others there is a column for each thing shown but the first, a star being one more value.
    unknown : float, optional
        Default: the middle of the declared values (k-AnonML has 50.5 for ages).
    models : sequence of str
        Of :data:`MODELS`.

    Returns
    -------
    dict from model to Scores

    Notes
    -----
    Columns are scaled to 0..1 on all rows and 30 % of the rows are for the test (``random_state=42``), which are its protocol's, not advice: the test rows are
    as coarse as the training rows, so accuracy says how consistent the release is, and scaling has seen the test rows.

    References
    ----------
    D. Slijepcevic, M. Henzl, L. D. Klausner, T. Dam, P. Kieseberg, M. Zeppelzauer: k-Anonymity in practice: how generalisation and suppression affect machine
    learning classifiers. Computers & Security 111:102488, 2021; settings from its code.
    """
    sklearn = _sklearn()
    codes = release.codes
    target = _target(target, len(codes))
    columns = [_column(release, codes, j, domain.name in numeric, unknown) for j, domain in enumerate(release.contingency.domains)]
    table = sklearn.preprocessing.MinMaxScaler().fit_transform(np.hstack(columns))
    train, test, known, wanted = sklearn.model_selection.train_test_split(table, target, test_size=0.3, random_state=42)
    return {name: _score(sklearn, model, train, known, test, wanted) for name, model in _models(sklearn).items() if name in models}


def on_originals(
    release: Release,
    target: NDArray[Any],
    *,
    how: str = "hotdeck",
    seed: int | None = None,
    test_size: float = 0.3,
    models: Sequence[str] = MODELS,
) -> dict[str, Scores]:
    """Classifiers trained on completed rows of a release and tested on original rows that had no part in the training.

    Parameters
    ----------
    release : Release
    target : ndarray, shape (n,)
    how, seed
        As :meth:`ldiv.Release.complete` takes them; `seed` draws the split, too.
    test_size : float
        The share of rows whose originals are for the test, and whose released rows are left out of the training.
    models : sequence of str

    Returns
    -------
    dict from model to Scores

    Notes
    -----
    Ordered attributes are numbers (their codes), others a column a value; scaled to 0..1 by the declared domain, so nothing is fitted to test rows.
    """
    sklearn = _sklearn()
    target = _target(target, release.n)
    data = release.contingency.data
    completed = release.complete(how, seed)
    assert data is not None
    split = np.random.default_rng(SEED.check(seed)).permutation(release.n)
    cut = round(release.n * test_size)
    if not 0 < cut < release.n:
        raise InputError(f"test_size must leave rows for the training and for the test, not {shown(test_size)} of {release.n:,}")
    test, train = split[:cut], split[cut:]
    known, wanted = _encoded(completed)[train], _encoded(data)[test]
    return {name: _score(sklearn, model, known, target[train], wanted, target[test]) for name, model in _models(sklearn).items() if name in models}


def propensity(table: Microdata, other: Microdata, *, seed: int | None = None, least: int = 50) -> tuple[float, float]:
    """Propensity mean squared error: how well a decision tree tells the rows of one table from those of another.

    Parameters
    ----------
    table, other : Microdata
        For instance a release's table and ``release.complete()``; equal domains. The sensitive attribute is a column like the others.
    seed : int, optional
        Of the tree, and of the order in which rows are held out.
    least : int, default 50
        The least rows of a leaf.

    Returns
    -------
    float
        The mean of (p - c)^2 over all rows, p being what a tree that has not seen the row (five folds) says it is of `other`, c the share of such rows: 0 where
        it cannot tell, c (1 - c) where it always can.
    float
        The same over what it would be if rows came from either table by chance alone, the mean of three shufflings: about 1 is as good as can be.

    References
    ----------
    J. Snoke, G. Raab, B. Nowok, C. Dibben, A. Slavkovic: General and specific utility measures for synthetic data. JRSS A 181(3), 2018, with a tree and held-out rows.
    """
    sklearn = _sklearn()
    if [x.size for x in table.domains] != [x.size for x in other.domains] or table.m != other.m:
        raise InputError("propensity compares tables of equal domains")
    if (rows_least := min(table.n, other.n)) < FOLDS:
        raise InputError(f"propensity holds rows out in {FOLDS} folds and needs as many rows of each table, not {rows_least}")
    rows = np.vstack([np.column_stack([x.narrow, x.sensitive]) for x in (table, other)])
    label = np.repeat([0, 1], [table.n, other.n])
    random = np.random.default_rng(SEED.check(seed))
    state = int(random.integers(1 << 31))
    share = label.mean()

    def error(wanted: NDArray[np.int64]) -> float:
        tree = sklearn.tree.DecisionTreeClassifier(min_samples_leaf=least, random_state=state)
        folds = sklearn.model_selection.StratifiedKFold(FOLDS, shuffle=True, random_state=state)
        says = sklearn.model_selection.cross_val_predict(tree, rows, wanted, cv=folds, method="predict_proba")[:, 1]
        return float(((says - share) ** 2).mean())

    found = error(label)
    chance = float(np.mean([error(random.permutation(label)) for _ in range(3)]))
    return found, found / chance if chance else (1.0 if not found else float("inf"))


def _score(sklearn: Any, model: Any, train: NDArray[Any], known: NDArray[Any], test: NDArray[Any], wanted: NDArray[Any]) -> Scores:
    said = model.fit(train, known).predict(test)
    values, count = np.unique(known, return_counts=True)
    f1 = sklearn.metrics.f1_score(wanted, said, average="macro", zero_division=0)
    return Scores(float((said == wanted).mean()), float(f1), float((wanted == values[np.argmax(count)]).mean()))


def _target(target: Any, n: int) -> NDArray[Any]:
    found = np.asarray(target)
    if found.shape != (n,):
        raise InputError(f"target must have a class for each of the {n:,} rows, not the shape {found.shape}")
    if len(np.unique(found)) < 2:
        raise InputError("target has one class only: there is nothing to learn")
    return found


def _column(release: Release, codes: NDArray[np.int32], j: int, number: bool, unknown: float | None) -> NDArray[np.float64]:
    if not number:
        return np.asarray(codes[:, j, None] == np.unique(codes[:, j])[None, 1:], dtype=np.float64)
    domain = release.contingency.domains[j]
    values = np.array([float(domain.label(code)) for code in range(domain.size)])
    middle = (values.min() + values.max()) / 2 if unknown is None else unknown
    parts = [middle, *((values[list(x.codes)].min() + values[list(x.codes)].max()) / 2 for x in release.subdomains[j])]
    return np.asarray(np.where(codes[:, j] >= 0, values[np.maximum(codes[:, j], 0)], np.array(parts)[np.maximum(-1 - codes[:, j], 0)])[:, None])


def _encoded(data: Rows) -> NDArray[np.float64]:
    parts = []
    for column, domain in zip(data.narrow.T, data.domains, strict=True):
        if domain.ordered:
            parts.append(column[:, None] / max(domain.size - 1, 1))
        else:
            parts.append((column[:, None] == np.arange(1, domain.size)[None]).astype(np.float64))
    return np.hstack(parts)
