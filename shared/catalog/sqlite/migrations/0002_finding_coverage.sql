-- 0 is unknown: a finding of before, or of a worker that does not tell.
ALTER TABLE finding ADD COLUMN coverage REAL NOT NULL DEFAULT 0; -- share of the clip, 0 to 1
ALTER TABLE finding ADD COLUMN speed REAL NOT NULL DEFAULT 0; -- 1.01 is 1 % faster
