-- Times are seconds since 1970. A time that is not known is NULL, which takes no space: a new
-- origin has eight of them, of eight bytes each.

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
	front          INTEGER NOT NULL DEFAULT 1,  -- 1: a pick reads it; see schedule_front
	dates          INTEGER NOT NULL DEFAULT 0,  -- how many the lister gave since the last success
	recent         BLOB,                        -- dates of the last changes that visits found, as 32-bit numbers
	fork           INTEGER NOT NULL DEFAULT 0,  -- 1: it is a fork
	every          INTEGER NOT NULL DEFAULT 0,  -- seconds after which a user wants a visit; 0: the policy decides
	told           INTEGER NOT NULL DEFAULT 0,  -- 1: its dates come from others who tell of its changes
	fresh_until    INTEGER,                     -- when its server's answer is no longer fresh
	activity       REAL NOT NULL DEFAULT 0,     -- factor on the rate after its last silence; 0: 1
	refusals       INTEGER NOT NULL DEFAULT 0,  -- visits in a row that ended with a Retry-After
	told_at        INTEGER,                     -- first report of a change since the last visit began
	told_false     INTEGER NOT NULL DEFAULT 0,  -- visits in a row without the change that was reported
	answered       TEXT NOT NULL DEFAULT '',    -- host at which its last visit ended, if that is not the host of its uri
	hours          TEXT NOT NULL DEFAULT '',    -- in which it may be visited, such as 22:00-06:00@UTC; '': at any time
	skip           INTEGER NOT NULL DEFAULT 0,  -- hours (bits 0 to 23) and days (from 24, Sunday) in which its feed must not be read
	forced         INTEGER NOT NULL DEFAULT 0,  -- 1: the visit that was asked for does not wait for hours and skip
	closes         INTEGER,                     -- of one that may be visited now: when that ends
	items          INTEGER NOT NULL DEFAULT 0,  -- in its document, which loses older ones; 0: it loses none
	overflows      INTEGER NOT NULL DEFAULT 0,  -- visits that found that the document had probably lost items unseen
	missed         INTEGER NOT NULL DEFAULT 0,  -- these items
	last_read      INTEGER                      -- last success that read the content; NULL: none
) STRICT;
-- It has no time of the last listing, because each listing would change it for every origin.
CREATE INDEX schedule_lister ON schedule (lister) WHERE lister <> 0;
CREATE INDEX schedule_visit ON schedule (visit) WHERE visit <> '';
CREATE INDEX schedule_new ON schedule (first_seen) WHERE last_visit IS NULL AND disabled = '';
-- Of the origins of one host that wait in one queue only the first is in front, and only
-- those in front are read by a pick. Origins without a host, and those in a pool in which
-- hosts do not matter (above 200), are all in front.
CREATE INDEX schedule_host ON schedule (host, pool, queue, class, ref, key) WHERE host <> '' AND pool <= 200;
CREATE INDEX schedule_front ON schedule (pool, queue, class, ref, key, host) WHERE front = 1;
CREATE INDEX schedule_closes ON schedule (closes) WHERE closes IS NOT NULL;
CREATE INDEX schedule_program ON schedule (kind, ref, key, host) WHERE pool = 204;

CREATE TABLE lister (
	key     INTEGER PRIMARY KEY,        -- of its row in schedule
	listed  INTEGER NOT NULL,           -- when its last listing ended
	hits    REAL NOT NULL,
	misses  REAL NOT NULL,
	wrong   REAL NOT NULL,
	active  INTEGER NOT NULL,           -- of those that the last listing named: with a date since the one before it
	begun   INTEGER NOT NULL,           -- when the listing under way began
	next    INTEGER NOT NULL,           -- how many origins it has named; 0: none is under way
	watched REAL NOT NULL DEFAULT 0,    -- days of all origins that its listings covered
	empty   TEXT NOT NULL DEFAULT ''    -- the visit in which it named nothing, if it was its last one
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

-- The values of the metrics' counters, and the largest target handed out of each kind of origin.
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The policy and the rules that placed the rows of schedule; no row: all must be placed.
CREATE TABLE placement (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	policy   TEXT NOT NULL,
	revision INTEGER NOT NULL,   -- of the program's way to place
	rules    TEXT NOT NULL       -- JSON
) STRICT;

-- Hosts that could not be reached, or ask for a wait between two visits.
CREATE TABLE host (
	name     TEXT PRIMARY KEY,   -- as in schedule
	failures INTEGER NOT NULL,   -- visits in a row without a connection; at most one counts in each rest
	since    INTEGER NOT NULL,   -- when the first of them was
	until    INTEGER NOT NULL,   -- end of the rest after them
	gap      INTEGER NOT NULL    -- Crawl-delay in milliseconds; 0: none
) STRICT, WITHOUT ROWID;

-- The listers of an origin beside its first one (schedule.lister): an origin is removed when no
-- lister names it any more. Lister 0 stands for the user.
CREATE TABLE naming (
	origin INTEGER NOT NULL,   -- key in schedule
	lister INTEGER NOT NULL,   -- key in schedule
	seen   INTEGER NOT NULL,   -- when it was last named
	PRIMARY KEY (origin, lister)
) STRICT, WITHOUT ROWID;
CREATE INDEX naming_lister ON naming (lister);

-- The description of an origin by a lister, as JSON, and the origin that it is a fork of.
CREATE TABLE description (
	origin   INTEGER PRIMARY KEY,   -- key in schedule
	fork_of  TEXT NOT NULL,
	metadata TEXT NOT NULL
) STRICT;

-- The visit types that programs outside registered. Their origins wait in a pool of their
-- own (204), from which these programs claim visits.
CREATE TABLE program (type TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Claims that are not yet in the rows of their origins: such a row still has the place at
-- which a pick found it, and no visit. The next change of the row takes the claim in.
CREATE TABLE claim (
	key        INTEGER PRIMARY KEY,   -- in schedule
	claimed    TEXT NOT NULL,         -- the visit under way
	claimed_at INTEGER NOT NULL
) STRICT;

-- Subscriptions at the WebSub hubs of origins. One outlives its origin until its hub was told.
CREATE TABLE hub (
	callback TEXT PRIMARY KEY,      -- 128 random bits in hex: the last part of the callback's URL
	origin   TEXT NOT NULL,         -- id
	hub      TEXT NOT NULL,         -- URL
	topic    TEXT NOT NULL,
	secret   TEXT NOT NULL,
	leaving  INTEGER NOT NULL,      -- 1: the hub is to forget it
	asked    INTEGER NOT NULL,      -- requests in a row that the hub has not confirmed
	until    INTEGER NOT NULL,      -- end of the lease; 0: never confirmed
	due      INTEGER NOT NULL,      -- when the next request is sent
	error    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_origin ON hub (origin);
CREATE INDEX hub_due ON hub (due);

-- Changes that visits found at origins that had been silent, by the bands of their rate and silence.
CREATE TABLE silence (
	rate     INTEGER NOT NULL,
	silence  INTEGER NOT NULL,
	changes  REAL NOT NULL,
	expected REAL NOT NULL,
	PRIMARY KEY (rate, silence)
) STRICT, WITHOUT ROWID;
