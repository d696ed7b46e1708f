"""Files that appear complete or not at all, and are read as they were written or refused."""
