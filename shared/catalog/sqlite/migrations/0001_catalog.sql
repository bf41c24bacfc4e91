-- Times are microseconds since 1970 in UTC. Numbers are never used twice: the
-- sets of researched clips hold them.

PRAGMA application_id = 1281712499; -- "Leas"

CREATE TABLE origin (
  number       INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  kind         TEXT NOT NULL,
  uri          TEXT NOT NULL,
  priority     INTEGER NOT NULL,
  added_at     INTEGER NOT NULL,
  last_visit   INTEGER NOT NULL,
  last_outcome TEXT NOT NULL DEFAULT '',
  last_error   TEXT NOT NULL DEFAULT ''
);

-- A recording of another version is another row: deleting the old one takes
-- with it all that was known of it.
CREATE TABLE episode (
  number        INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  origin        INTEGER NOT NULL REFERENCES origin ON DELETE CASCADE,
  name          TEXT NOT NULL,
  title         TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  uri           TEXT NOT NULL,
  type          TEXT NOT NULL,
  version       TEXT NOT NULL,
  hash          TEXT NOT NULL,
  first_curated INTEGER NOT NULL,
  last_curated  INTEGER NOT NULL,
  gone          INTEGER NOT NULL DEFAULT 0,
  aired         INTEGER NOT NULL DEFAULT -62135596800000000 -- the zero time
);
CREATE INDEX episode_origin ON episode (origin);

CREATE TABLE clip (
  number        INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  origin        INTEGER NOT NULL REFERENCES origin ON DELETE CASCADE,
  name          TEXT NOT NULL,
  title         TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  uri           TEXT NOT NULL,
  type          TEXT NOT NULL,
  version       TEXT NOT NULL,
  hash          TEXT NOT NULL,
  first_curated INTEGER NOT NULL,
  last_curated  INTEGER NOT NULL,
  gone          INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX clip_origin ON clip (origin);
CREATE INDEX clip_hash ON clip (hash) WHERE hash <> '';

-- The numbers of the clips that were researched in an episode, as a roaring
-- bitmap in its portable serialisation.
CREATE TABLE researched (
  episode INTEGER PRIMARY KEY REFERENCES episode ON DELETE CASCADE,
  clips   BLOB NOT NULL
);

-- The episodes that may have something to select. Select takes out those that
-- turn out to have nothing; whatever may give an episode something to select
-- puts it in again.
CREATE TABLE candidate (
  episode       INTEGER PRIMARY KEY REFERENCES episode ON DELETE CASCADE,
  priority      INTEGER NOT NULL,
  first_curated INTEGER NOT NULL,
  id            TEXT NOT NULL
);
CREATE INDEX candidate_order ON candidate (priority DESC, first_curated DESC, id);

CREATE TABLE finding (
  episode  INTEGER NOT NULL REFERENCES episode ON DELETE CASCADE,
  clip     INTEGER NOT NULL REFERENCES clip ON DELETE CASCADE,
  offset   REAL NOT NULL, -- seconds
  duration REAL NOT NULL, -- seconds
  score    REAL NOT NULL,
  PRIMARY KEY (episode, clip, offset)
) WITHOUT ROWID;
CREATE INDEX finding_clip ON finding (clip);

-- Scopes: item (of an origin), visit (of an origin), episode, clip, duplicate (a clip too), pair.
CREATE TABLE problem (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  scope   TEXT NOT NULL,
  origin  INTEGER REFERENCES origin ON DELETE CASCADE,
  item    TEXT NOT NULL DEFAULT '',
  episode INTEGER REFERENCES episode ON DELETE CASCADE,
  clip    INTEGER REFERENCES clip ON DELETE CASCADE,
  reason  TEXT NOT NULL,
  at      INTEGER NOT NULL
);
CREATE INDEX problem_origin ON problem (origin);
CREATE INDEX problem_episode ON problem (episode, scope);
CREATE INDEX problem_clip ON problem (clip, scope);
CREATE UNIQUE INDEX problem_of_episode ON problem (episode) WHERE scope = 'episode';
CREATE UNIQUE INDEX problem_of_clip ON problem (clip, scope) WHERE scope IN ('clip', 'duplicate');
CREATE UNIQUE INDEX problem_of_pair ON problem (episode, clip) WHERE scope = 'pair';
