-- An origin that answers each visit with a Retry-After rests longer each time.
ALTER TABLE schedule ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0; -- visits in a row that ended so
