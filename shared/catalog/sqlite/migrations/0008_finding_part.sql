-- The part of the clip that is found, in seconds of the clip. part_to 0 is unknown: a finding
-- of an older version.
ALTER TABLE finding ADD COLUMN part_from REAL NOT NULL DEFAULT 0;
ALTER TABLE finding ADD COLUMN part_to REAL NOT NULL DEFAULT 0;
