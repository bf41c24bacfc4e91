-- The operator did not add it: a lister named it.
ALTER TABLE origin ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

-- gone is 2 for a recording that was replaced by another version, or whose origin is
-- being removed. It is hidden, and its rows are deleted a few at a time.
CREATE INDEX episode_retired ON episode (number) WHERE gone = 2;
CREATE INDEX clip_retired ON clip (number) WHERE gone = 2;

-- Clips of the same content, the one to research first.
DROP INDEX clip_hash;
CREATE INDEX clip_content ON clip (hash, first_curated, id) WHERE hash <> '' AND gone = 0;

-- At most one row: the episodes with a number above after must become candidates,
-- because a clip became selectable.
CREATE TABLE reopening (one INTEGER PRIMARY KEY CHECK (one = 1), after INTEGER NOT NULL);
