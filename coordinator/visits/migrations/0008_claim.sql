-- Claims that are not yet in the rows of their origins: such a row still has the place at
-- which a pick found it, and no visit. The next change of the row takes the claim in.
CREATE TABLE claim (
	key        INTEGER PRIMARY KEY,   -- in schedule
	claimed    TEXT NOT NULL,         -- the visit under way
	claimed_at INTEGER NOT NULL
) STRICT;
