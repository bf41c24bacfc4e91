-- The CA in the folder identity that belongs to this file: one, and during a change the next one too.
CREATE TABLE ca (fingerprint TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- A peer takes its uses with it.
CREATE TRIGGER peer_uses AFTER DELETE ON peer BEGIN DELETE FROM use WHERE peer = old.id; END;
DELETE FROM use WHERE peer NOT IN (SELECT id FROM peer);
