-- How old the oldest origin is that was never visited.
CREATE INDEX origin_new ON origin (first_seen) WHERE last_visit = -9223372036854775808 AND disabled = '';
-- Of those that the last listing named, how many have a date since the one before it.
ALTER TABLE lister ADD COLUMN active INTEGER NOT NULL DEFAULT 0;
-- A listing under way: when it began, and how much it has named.
ALTER TABLE lister ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lister ADD COLUMN next INTEGER NOT NULL DEFAULT 0;
