"""Reports: a result record as text for people. Every function here is pure: records in, lines of text out."""
