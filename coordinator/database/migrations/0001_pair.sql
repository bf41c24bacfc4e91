-- The mark that keeps this file and the journal together: see shared/space/journal/pairing.
CREATE TABLE pair (
	id        INTEGER PRIMARY KEY CHECK (id = 1),
	instance  TEXT NOT NULL,
	counter   INTEGER NOT NULL,
	confirmed INTEGER NOT NULL,
	at        INTEGER NOT NULL,             -- nanoseconds since 1970
	other     TEXT NOT NULL,                -- content of the journal
	in_file   INTEGER NOT NULL DEFAULT 0    -- the counter that the file has without its log
) STRICT;
