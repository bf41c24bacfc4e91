-- The visit types that programs outside registered. Their origins wait in a pool of their
-- own (204), from which these programs claim visits.
CREATE TABLE program (type TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_program ON schedule (kind, ref, key, host) WHERE pool = 204;
