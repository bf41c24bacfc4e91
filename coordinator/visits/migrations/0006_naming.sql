-- The listers of an origin beside its first one (schedule.lister): an origin goes when none
-- names it any more. Lister 0 stands for the user.
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

-- The visit in which the lister named nothing, if it was its last one.
ALTER TABLE lister ADD COLUMN empty TEXT NOT NULL DEFAULT '';

-- Listers are visited once a day unless a user fixes another interval.
UPDATE schedule SET every = 86400 WHERE every = 0 AND kind IN ('opml', 'urls', 'repositories');
