-- Counts of tasks by interval. A step is the length of an interval in seconds; at is its begin, in seconds since 1970.

CREATE TABLE task_interval (             -- of all actions; a missing one was not recorded
	step    INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	created INTEGER NOT NULL,
	done    INTEGER NOT NULL,
	failed  INTEGER NOT NULL,            -- attempts
	dead    INTEGER NOT NULL,
	waiting INTEGER NOT NULL,            -- at the end
	PRIMARY KEY (step, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_interval_action (      -- of one action; a missing one is all 0
	step    INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	action  TEXT NOT NULL,
	created INTEGER NOT NULL,
	done    INTEGER NOT NULL,
	failed  INTEGER NOT NULL,
	dead    INTEGER NOT NULL,
	waiting INTEGER NOT NULL,
	PRIMARY KEY (step, at, action),
	FOREIGN KEY (step, at) REFERENCES task_interval ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
