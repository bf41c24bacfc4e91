-- Times that are not known are NULL, which takes no space; a new origin has eight of them,
-- of eight bytes each. The index of a lister's origins has no time of the last listing,
-- because each listing changed it for every origin.
CREATE TABLE schedule9 (
	key            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT NOT NULL UNIQUE,   -- of the origin
	kind           TEXT NOT NULL,
	uri            TEXT NOT NULL,
	priority       INTEGER NOT NULL DEFAULT 0,
	host           TEXT NOT NULL,          -- of politeness; '' for none
	lister         INTEGER NOT NULL,       -- key of the lister, 0 for none
	first_seen     INTEGER NOT NULL,
	last_seen      INTEGER NOT NULL,
	created        INTEGER,
	last_update    INTEGER,
	last_scheduled INTEGER,
	last_visit     INTEGER,
	last_success   INTEGER,
	last_status    TEXT NOT NULL,
	digest         TEXT NOT NULL,
	etag           TEXT NOT NULL DEFAULT '',
	modified       TEXT NOT NULL DEFAULT '',
	target         INTEGER,
	idx            INTEGER NOT NULL,
	failures       INTEGER NOT NULL,
	disabled       TEXT NOT NULL,
	not_before     INTEGER,
	changes        REAL NOT NULL,
	days           REAL NOT NULL,
	lost           INTEGER NOT NULL DEFAULT 0,  -- visits in a row
	urgent         INTEGER NOT NULL DEFAULT 0,  -- when a visit was asked for; 0: it was not
	visit          TEXT NOT NULL DEFAULT '',    -- under way
	pool           INTEGER NOT NULL,            -- where it waits; see place.go
	queue          INTEGER NOT NULL,            -- the lister's part of the place
	class          INTEGER NOT NULL,
	ref            INTEGER NOT NULL,
	front          INTEGER NOT NULL DEFAULT 1,
	dates          INTEGER NOT NULL DEFAULT 0,
	recent         BLOB,
	fork           INTEGER NOT NULL DEFAULT 0,
	every          INTEGER NOT NULL DEFAULT 0,
	told           INTEGER NOT NULL DEFAULT 0,
	fresh_until    INTEGER,
	activity       REAL NOT NULL DEFAULT 0      -- factor on the rate after its last silence; 0: 1
) STRICT;
INSERT INTO schedule9 (key, id, kind, uri, priority, host, lister, first_seen, last_seen, created, last_update, last_scheduled,
	last_visit, last_success, last_status, digest, etag, modified, target, idx, failures, disabled, not_before, changes,
	days, lost, urgent, visit, pool, queue, class, ref, front, dates, recent, fork, every, told, fresh_until)
SELECT key, id, kind, uri, priority, host, lister, first_seen, last_seen, nullif(created, -9223372036854775808),
	nullif(last_update, -9223372036854775808), nullif(last_scheduled, -9223372036854775808),
	nullif(last_visit, -9223372036854775808), nullif(last_success, -9223372036854775808), last_status, digest, etag, modified,
	nullif(target, -9223372036854775808), idx, failures, disabled, nullif(not_before, -9223372036854775808), changes,
	days, lost, urgent, visit, pool, queue, class, ref, front, dates, recent, fork, every, told,
	nullif(fresh_until, -9223372036854775808)
FROM schedule ORDER BY key;
-- The last key that was given stays the last one, also if its origin was removed.
DELETE FROM sqlite_sequence WHERE name = 'schedule9';
UPDATE sqlite_sequence SET name = 'schedule9' WHERE name = 'schedule';
DROP TABLE schedule;
ALTER TABLE schedule9 RENAME TO schedule;
CREATE INDEX schedule_lister ON schedule (lister) WHERE lister <> 0;
CREATE INDEX schedule_visit ON schedule (visit) WHERE visit <> '';
CREATE INDEX schedule_new ON schedule (first_seen) WHERE last_visit IS NULL AND disabled = '';
CREATE INDEX schedule_host ON schedule (host, pool, queue, class, ref, key) WHERE host <> '' AND pool <= 200;
CREATE INDEX schedule_front ON schedule (pool, queue, class, ref, key, host) WHERE front = 1;
CREATE INDEX schedule_program ON schedule (kind, ref, key, host) WHERE pool = 204;

-- What visits found at origins that had been silent, by the bands of their rate and silence.
CREATE TABLE silence (
	rate     INTEGER NOT NULL,
	silence  INTEGER NOT NULL,
	changes  REAL NOT NULL,
	expected REAL NOT NULL,
	PRIMARY KEY (rate, silence)
) STRICT, WITHOUT ROWID;
