"""What must hold: eligibility and other principles (inside), and the release against its source (outside)."""
