-- Times are seconds since 1970; -9223372036854775808 stands for never.
-- The origins of the catalog that are visited; an origin enters and leaves both tables in
-- one transaction. Keys are never used twice, because other rows name listers by them.
CREATE TABLE schedule (
	key            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT NOT NULL UNIQUE,   -- of the origin
	kind           TEXT NOT NULL,
	uri            TEXT NOT NULL,
	priority       INTEGER NOT NULL DEFAULT 0,
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
CREATE INDEX schedule_place ON schedule (pool, queue, class, ref, key);
CREATE INDEX schedule_lister ON schedule (lister, last_seen) WHERE lister <> 0;
CREATE INDEX schedule_visit ON schedule (visit) WHERE visit <> '';
CREATE INDEX schedule_new ON schedule (first_seen) WHERE last_visit = -9223372036854775808 AND disabled = '';

CREATE TABLE lister (
	key    INTEGER PRIMARY KEY,  -- of its row in schedule
	listed INTEGER NOT NULL,     -- when its last listing ended
	hits   REAL NOT NULL,
	misses REAL NOT NULL,
	wrong  REAL NOT NULL,
	active INTEGER NOT NULL,     -- of those that the last listing named: with a date since the one before it
	begun  INTEGER NOT NULL,     -- when the listing under way began
	next   INTEGER NOT NULL      -- how many origins it has named; 0: none is under way
) STRICT;

CREATE TABLE outcome (
	origin  INTEGER NOT NULL,    -- key in schedule
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

-- What the counters of the metrics have come to, and the largest target handed out of
-- each kind of origin.
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The policy and the rules that placed the rows of schedule; no row: all must be placed.
CREATE TABLE placement (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	policy   TEXT NOT NULL,
	revision INTEGER NOT NULL,   -- of the program's way to place
	rules    TEXT NOT NULL       -- JSON
) STRICT;
