-- The branches that are indexed, each on a line of its own; empty: the setting of managers.
ALTER TABLE origin ADD COLUMN branches TEXT NOT NULL DEFAULT '';
