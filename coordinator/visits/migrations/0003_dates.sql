-- How many dates the lister gave since the last success, and for how many days of all
-- origins its listings covered: the false rate of dates is estimated from both.
ALTER TABLE schedule ADD COLUMN dates INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lister ADD COLUMN watched REAL NOT NULL DEFAULT 0;
UPDATE schedule SET dates = 1 WHERE last_update > last_success AND last_success <> -9223372036854775808;
-- Dates of the last changes that visits found, as 32-bit numbers: habits follow from them.
ALTER TABLE schedule ADD COLUMN recent BLOB;
