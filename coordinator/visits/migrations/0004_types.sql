-- Whether an origin is a fork, after how many seconds a user wants it visited again (0: the
-- policy decides), whether its dates come from those who tell of its changes, and until
-- when its server called its answer fresh.
ALTER TABLE schedule ADD COLUMN fork INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN every INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN fresh_until INTEGER NOT NULL DEFAULT -9223372036854775808;
