-- Times are microseconds since 1970 in UTC. Numbers are never used twice, because the sets of
-- researched clips hold them.

CREATE TABLE origin (
  number       INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  kind         TEXT NOT NULL,
  uri          TEXT NOT NULL,
  priority     INTEGER NOT NULL,
  added_at     INTEGER NOT NULL,
  last_visit   INTEGER NOT NULL,
  last_outcome TEXT NOT NULL DEFAULT '',
  last_error   TEXT NOT NULL DEFAULT '',
  listed       INTEGER NOT NULL DEFAULT 0, -- 1: a lister named it, the operator did not add it
  branches     TEXT NOT NULL DEFAULT '',   -- to index, each on a line of its own; empty: the setting of managers
  moves_to     TEXT NOT NULL DEFAULT '',   -- the address that the feed gave as its new one since moves_since
  moves_since  INTEGER NOT NULL DEFAULT 0,
  moved_from   TEXT NOT NULL DEFAULT ''    -- the uri before the last move
);

-- A recording of another version is another row: deleting the old one deletes all that was
-- known of it. An episode whose audio was replaced is an exception: it keeps its row and, until
-- they are replaced, its findings. gone is 1 for a recording that its origin does not list any
-- more, and 2 for one that was replaced by another version, or whose origin is being removed:
-- that one is hidden, and its rows are deleted a few at a time.
CREATE TABLE episode (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT NOT NULL UNIQUE,
  origin          INTEGER NOT NULL REFERENCES origin ON DELETE CASCADE,
  name            TEXT NOT NULL,
  title           TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  uri             TEXT NOT NULL,
  type            TEXT NOT NULL,
  version         TEXT NOT NULL,
  hash            TEXT NOT NULL,
  first_curated   INTEGER NOT NULL,
  last_curated    INTEGER NOT NULL,
  gone            INTEGER NOT NULL DEFAULT 0,
  aired           INTEGER NOT NULL DEFAULT -62135596800000000, -- the zero time
  listed_priority INTEGER,                    -- the one that the origin lists, if an operator set another one
  unlisted        INTEGER NOT NULL DEFAULT 0, -- 1: the latest visit of its feed did not list it; its problems are not shown
  -- The version that the origin lists, if the audio was replaced since without another version
  -- in the listing. Then version is a version of the replaced audio.
  listed_version  TEXT,
  -- What the server reported of the audio at audio_uri when it was checked last.
  audio_checked   INTEGER NOT NULL DEFAULT 0,
  audio_uri       TEXT NOT NULL DEFAULT '',
  audio_etag      TEXT NOT NULL DEFAULT '',
  audio_modified  TEXT NOT NULL DEFAULT '',
  audio_bytes     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX episode_origin ON episode (origin);
CREATE INDEX episode_retired ON episode (number) WHERE gone = 2;

-- The columns are as in episode.
CREATE TABLE clip (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT NOT NULL UNIQUE,
  origin          INTEGER NOT NULL REFERENCES origin ON DELETE CASCADE,
  name            TEXT NOT NULL,
  title           TEXT NOT NULL,
  priority        INTEGER NOT NULL,
  uri             TEXT NOT NULL,
  type            TEXT NOT NULL,
  version         TEXT NOT NULL,
  hash            TEXT NOT NULL,
  first_curated   INTEGER NOT NULL,
  last_curated    INTEGER NOT NULL,
  gone            INTEGER NOT NULL DEFAULT 0,
  listed_priority INTEGER,
  unlisted        INTEGER NOT NULL DEFAULT 0,
  listed_version  TEXT
);
CREATE INDEX clip_origin ON clip (origin);
CREATE INDEX clip_retired ON clip (number) WHERE gone = 2;
-- Clips of the same content, the one to research first.
CREATE INDEX clip_content ON clip (hash, first_curated, id) WHERE hash <> '' AND gone = 0;

-- The numbers of the clips that were researched in an episode, as a roaring
-- bitmap in its portable serialisation.
CREATE TABLE researched (
  episode INTEGER PRIMARY KEY REFERENCES episode ON DELETE CASCADE,
  clips   BLOB NOT NULL
);

-- The episodes that may have something to select. Select removes an episode that turns out to
-- have nothing; each change that may give an episode something to select adds it again.
CREATE TABLE candidate (
  episode       INTEGER PRIMARY KEY REFERENCES episode ON DELETE CASCADE,
  priority      INTEGER NOT NULL,
  first_curated INTEGER NOT NULL,
  aired         INTEGER NOT NULL,
  title         TEXT NOT NULL,
  id            TEXT NOT NULL
);
CREATE INDEX candidate_order ON candidate (priority DESC, first_curated DESC, aired DESC, title, id);

-- At most one row: the episodes with a number above after must become candidates,
-- because a clip became selectable.
CREATE TABLE reopening (one INTEGER PRIMARY KEY CHECK (one = 1), after INTEGER NOT NULL);

CREATE TABLE finding (
  episode   INTEGER NOT NULL REFERENCES episode ON DELETE CASCADE,
  clip      INTEGER NOT NULL REFERENCES clip ON DELETE CASCADE,
  offset    REAL NOT NULL,           -- seconds
  duration  REAL NOT NULL,           -- seconds
  score     REAL NOT NULL,
  coverage  REAL NOT NULL DEFAULT 0, -- share of the clip, 0 to 1; 0: unknown, because the worker does not tell
  speed     REAL NOT NULL DEFAULT 0, -- 1.01 is 1 % faster; 0: unknown
  part_from REAL NOT NULL DEFAULT 0, -- the part of the clip that is found, in seconds of the clip
  part_to   REAL NOT NULL DEFAULT 0, -- 0: unknown
  PRIMARY KEY (episode, clip, offset)
) WITHOUT ROWID;
CREATE INDEX finding_clip ON finding (clip);
-- The findings around one are looked up by place.
CREATE INDEX finding_place ON finding (episode, offset);

-- Scopes: item (of an origin), visit (of an origin), episode, part (of an episode, which could not
-- be read; the rest is searched), clip, duplicate (a clip too), pair.
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
CREATE UNIQUE INDEX problem_of_part ON problem (episode) WHERE scope = 'part';
