-- Hosts that could not be reached, or ask for a wait between two visits.
CREATE TABLE host (
	name     TEXT PRIMARY KEY,   -- as in schedule
	failures INTEGER NOT NULL,   -- visits in a row without a connection; at most one counts in each rest
	since    INTEGER NOT NULL,   -- when the first of them was
	until    INTEGER NOT NULL,   -- end of the rest after them
	gap      INTEGER NOT NULL    -- Crawl-delay in milliseconds; 0: none
) STRICT, WITHOUT ROWID;
