-- Counts of tasks by interval. A step is the length of an interval in seconds; at is its begin, in seconds since 1970.
-- The latest intervals are updated each minute, hence the fillfactor.

CREATE TABLE task_interval (             -- of all actions; a missing one was not recorded
	step    bigint NOT NULL,
	at      bigint NOT NULL,
	created bigint NOT NULL,
	done    bigint NOT NULL,
	failed  bigint NOT NULL,             -- attempts
	dead    bigint NOT NULL,
	waiting bigint NOT NULL,             -- at the end
	PRIMARY KEY (step, at)
) WITH (fillfactor = 80);

CREATE TABLE task_interval_action (      -- of one action; a missing one is all 0
	step    bigint NOT NULL,
	at      bigint NOT NULL,
	action  text COLLATE "C" NOT NULL,
	created bigint NOT NULL,
	done    bigint NOT NULL,
	failed  bigint NOT NULL,
	dead    bigint NOT NULL,
	waiting bigint NOT NULL,
	PRIMARY KEY (step, at, action),
	FOREIGN KEY (step, at) REFERENCES task_interval ON DELETE CASCADE
) WITH (fillfactor = 80);

-- Tuples of spaces at the end of an interval, of those that have some.
CREATE TABLE space_interval (
	step    bigint NOT NULL,
	at      bigint NOT NULL,
	space   text COLLATE "C" NOT NULL,
	visible bigint NOT NULL,
	held    bigint NOT NULL,
	PRIMARY KEY (step, at, space),
	FOREIGN KEY (step, at) REFERENCES task_interval ON DELETE CASCADE
);
