-- Which keys have joined by which invite, so that each counts once.

CREATE TABLE use (
	invite TEXT NOT NULL,
	peer   TEXT NOT NULL,
	PRIMARY KEY (invite, peer)
) STRICT, WITHOUT ROWID;
CREATE INDEX use_peer ON use (peer);

INSERT INTO use SELECT invite, id FROM peer WHERE invite IN (SELECT id FROM invite);

-- An invite takes its uses with it.
CREATE TRIGGER invite_uses AFTER DELETE ON invite BEGIN DELETE FROM use WHERE invite = old.id; END;
