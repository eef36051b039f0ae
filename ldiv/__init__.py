"""ldiv: l-diversity by suppression, with guarantees.

The system of Xiao, Yi, Tao, "The Hardness and Approximation Algorithms for L-Diversity", EDBT 2010, and beyond.
"""

from ldiv import algorithms, datasets
from ldiv._version import __version__
from ldiv.algorithms import Algorithm, list_algorithms, register
from ldiv.anatomy import Anatomy, anatomize
from ldiv.api import anonymize, anonymize_files, solve
from ldiv.bounds import (
    Certificate,
    load_certificate,
    save_certificate,
    star_bound,
    tuple_bound,
    verify_certificate,
)
from ldiv.engines import Written
from ldiv.errors import DisclosureWarning, InputError, LdivError, NotEligibleError, UnsafeReleaseError
from ldiv.privacy.eligibility import CheckReport, Violation, check, max_l
from ldiv.privacy.principles import AlphaK, Distinct, Entropy, Frequency, KAnonymity, Principle, Recursive, TCloseness, audit
from ldiv.privacy.verify import Verdict, verify
from ldiv.release.form import Subdomain
from ldiv.release.measures import average_group_size, c_avg, discernibility, kl_divergence, ncp
from ldiv.release.plot import plot_compare
from ldiv.release.release import Release
from ldiv.release.resolution import ambiguity, non_uniform_entropy, precision
from ldiv.table.coarsening import Bins, Hierarchy, coarsen
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.microdata import Microdata
from ldiv.table.taxonomy import Taxonomy
from ldiv.tradeoff import Choice, trade_off

__all__ = [
    "Algorithm",
    "AlphaK",
    "Anatomy",
    "Bins",
    "Certificate",
    "CheckReport",
    "Choice",
    "Contingency",
    "DisclosureWarning",
    "Distinct",
    "Domain",
    "Entropy",
    "Frequency",
    "Hierarchy",
    "InputError",
    "KAnonymity",
    "LdivError",
    "Microdata",
    "NotEligibleError",
    "Principle",
    "Recursive",
    "Release",
    "Subdomain",
    "TCloseness",
    "Taxonomy",
    "UnsafeReleaseError",
    "Verdict",
    "Violation",
    "Written",
    "__version__",
    "algorithms",
    "ambiguity",
    "anatomize",
    "anonymize",
    "anonymize_files",
    "audit",
    "average_group_size",
    "c_avg",
    "check",
    "coarsen",
    "datasets",
    "discernibility",
    "kl_divergence",
    "list_algorithms",
    "load_certificate",
    "max_l",
    "ncp",
    "non_uniform_entropy",
    "plot_compare",
    "precision",
    "register",
    "save_certificate",
    "solve",
    "star_bound",
    "trade_off",
    "tuple_bound",
    "verify",
    "verify_certificate",
]
