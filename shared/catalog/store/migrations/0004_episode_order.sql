-- The order of catalog.Episodes, for lists that are read in parts.
CREATE INDEX episode_order ON episode (first_curated DESC, aired DESC, title, id) WHERE gone = 0;
