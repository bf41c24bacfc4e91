-- Of the origins of one host that wait in one queue only the first is in front, and only
-- those in front are read by a pick. Origins without a host, and those in a pool in which
-- hosts do not matter (above 200), are all in front.
ALTER TABLE schedule ADD COLUMN front INTEGER NOT NULL DEFAULT 1;
DROP INDEX schedule_place;
CREATE INDEX schedule_host ON schedule (host, pool, queue, class, ref, key) WHERE host <> '' AND pool <= 200;
UPDATE schedule SET front = 0 WHERE key IN (SELECT key FROM (
	SELECT key, row_number() OVER (PARTITION BY host, pool, queue, class ORDER BY ref, key) AS place
	FROM schedule WHERE host <> '' AND pool <= 200) WHERE place > 1);
CREATE INDEX schedule_front ON schedule (pool, queue, class, ref, key, host) WHERE front = 1;
