-- One row: where the journal stands. Each commit updates it, so the page has space for many versions of the row.
CREATE TABLE realm (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	format integer NOT NULL, -- of all that is in the schema: see format.go
	epoch bigint NOT NULL DEFAULT 0,
	renewed bigint NOT NULL DEFAULT 0, -- raised by an owner that has nothing to commit
	position bigint NOT NULL DEFAULT 0,
	clock bigint NOT NULL DEFAULT 0, -- nanoseconds
	ref bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- One row: who owns the journal. Only a claim and a release update it, so that transactions can lock it FOR SHARE.
CREATE TABLE owner (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	epoch bigint NOT NULL DEFAULT 0,
	name text COLLATE "C" NOT NULL DEFAULT '',
	addresses text COLLATE "C" NOT NULL DEFAULT '',
	pid integer NOT NULL DEFAULT 0, -- of the backend whose end is the end of the ownership
	started timestamptz, -- of that backend, because ids of processes are reused
	since timestamptz NOT NULL DEFAULT now(), -- for people
	released boolean NOT NULL DEFAULT true
);

-- One row for each commit that is not folded into fact. Rows are read once and removed, so compressing them does not pay.
CREATE TABLE log (
	position bigint PRIMARY KEY, -- after the commit
	records bytea NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
	toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000, toast.autovacuum_vacuum_cost_delay = 0);
ALTER TABLE log ALTER records SET STORAGE EXTERNAL;

CREATE TABLE fact (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE history (
	seq bigint PRIMARY KEY,
	clock bigint NOT NULL, -- nanoseconds
	count bigint NOT NULL, -- of all records up to this one, removed ones included
	bytes bigint NOT NULL, -- of their keys and values
	key bytea NOT NULL,
	value bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- An index row holds at most 2,700 bytes, and a key may be longer.
CREATE INDEX history_key ON history (sha256(key), seq);
