-- Times are seconds since 1970; -9223372036854775808 stands for never.
CREATE TABLE origin (
	key            INTEGER PRIMARY KEY,
	id             TEXT NOT NULL UNIQUE,
	kind           TEXT NOT NULL,
	uri            TEXT NOT NULL,
	host           TEXT NOT NULL,          -- of politeness; '' for none
	lister         INTEGER NOT NULL,       -- key of the lister, 0 for none
	first_seen     INTEGER NOT NULL,
	last_seen      INTEGER NOT NULL,
	created        INTEGER NOT NULL,
	last_update    INTEGER NOT NULL,
	last_scheduled INTEGER NOT NULL,
	last_visit     INTEGER NOT NULL,
	last_success   INTEGER NOT NULL,
	last_status    TEXT NOT NULL,
	digest         TEXT NOT NULL,
	etag           TEXT NOT NULL DEFAULT '',
	modified       TEXT NOT NULL DEFAULT '',
	target         INTEGER NOT NULL,
	idx            INTEGER NOT NULL,
	failures       INTEGER NOT NULL,
	disabled       TEXT NOT NULL,
	not_before     INTEGER NOT NULL,
	changes        REAL NOT NULL,
	days           REAL NOT NULL,
	lost           INTEGER NOT NULL DEFAULT 0,  -- visits in a row
	urgent         INTEGER NOT NULL DEFAULT 0,  -- when a visit was asked for; 0: it was not
	visit          TEXT NOT NULL DEFAULT '',    -- under way
	pool           INTEGER NOT NULL,            -- where it waits; see place.go
	queue          INTEGER NOT NULL,            -- the lister's part of the place
	class          INTEGER NOT NULL,
	ref            INTEGER NOT NULL
) STRICT;
CREATE INDEX origin_place ON origin (pool, queue, class, ref, key);
CREATE INDEX origin_lister ON origin (lister, last_seen) WHERE lister <> 0;
CREATE INDEX origin_visit ON origin (visit) WHERE visit <> '';

CREATE TABLE lister (
	key    INTEGER PRIMARY KEY,  -- of its origin
	listed INTEGER NOT NULL,     -- when its last listing ended
	hits   REAL NOT NULL,
	misses REAL NOT NULL,
	wrong  REAL NOT NULL
) STRICT;

CREATE TABLE outcome (
	origin  INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	visit   TEXT NOT NULL,
	status  TEXT NOT NULL,
	changed INTEGER NOT NULL,
	changes REAL NOT NULL,
	took    REAL NOT NULL,
	size    INTEGER NOT NULL,
	error   TEXT NOT NULL,
	PRIMARY KEY (origin, at)
) STRICT, WITHOUT ROWID;

-- One row each: the largest target handed out, and what the counters of the
-- metrics have come to.
CREATE TABLE fact (name TEXT PRIMARY KEY, value REAL NOT NULL) STRICT, WITHOUT ROWID;
