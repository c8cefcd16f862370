"""Multi-label rule learning: readable IF-THEN rules tuned for the measure you care about."""
