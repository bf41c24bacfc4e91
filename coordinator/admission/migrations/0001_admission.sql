-- Times are seconds since 1970; 0 is never. Secrets are kept as their SHA-256 only.

CREATE TABLE invite (
	id      TEXT PRIMARY KEY,
	role    TEXT NOT NULL,
	name    TEXT NOT NULL,
	service INTEGER NOT NULL,           -- 1: for any number of processes, without an end
	secret  BLOB NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	uses    INTEGER NOT NULL,           -- keys that may join at most; 0: any number
	used    INTEGER NOT NULL DEFAULT 0, -- keys that have joined
	latest  INTEGER NOT NULL DEFAULT 0  -- use
) STRICT;

CREATE TABLE peer (
	id      TEXT PRIMARY KEY,           -- of its public key
	role    TEXT NOT NULL,
	name    TEXT NOT NULL,
	invite  TEXT NOT NULL,              -- by which it joined last
	joined  INTEGER NOT NULL,
	seen    INTEGER NOT NULL,
	ends    INTEGER NOT NULL,           -- of its latest certificate
	revoked INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE token (
	id      TEXT PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	roles   TEXT NOT NULL,
	spaces  TEXT NOT NULL,              -- prefixes, separated by commas
	secret  BLOB NOT NULL UNIQUE,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	at       INTEGER NOT NULL,
	identity TEXT NOT NULL,
	name     TEXT NOT NULL,
	roles    TEXT NOT NULL,
	address  TEXT NOT NULL,
	action   TEXT NOT NULL,
	object   TEXT NOT NULL,
	outcome  TEXT NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);
