-- What programs do often, and requests that are refused, have a bound of their own.
CREATE TABLE routine (
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
CREATE INDEX routine_at ON routine (at);
