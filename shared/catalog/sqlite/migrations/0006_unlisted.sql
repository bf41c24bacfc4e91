-- 1: the latest visit of its feed did not list it. The recording stays, but its problems
-- are not shown.
ALTER TABLE episode ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clip ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0;
