"""What no release can beat: lower bounds, certificates of how near to optimal a release is, and their proof from the table alone."""

from ldiv.bounds.certificate import Certificate, load_certificate, save_certificate
from ldiv.bounds.counting import star_bound, tuple_bound
from ldiv.bounds.proof import Verdict, certify, verify_certificate

__all__ = [
    "Certificate",
    "Verdict",
    "certify",
    "load_certificate",
    "save_certificate",
    "star_bound",
    "tuple_bound",
    "verify_certificate",
]
