# one-sided tables
