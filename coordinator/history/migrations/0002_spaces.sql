-- Tuples of spaces at the end of an interval, of those that have some.

CREATE TABLE space_interval (
	step    INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	space   TEXT NOT NULL,
	visible INTEGER NOT NULL,
	held    INTEGER NOT NULL,
	PRIMARY KEY (step, at, space),
	FOREIGN KEY (step, at) REFERENCES task_interval ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
