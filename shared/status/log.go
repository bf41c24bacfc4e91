package status

import (
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Log is the space of what administrators should read.
const Log = "log"

// logCapacity bounds the log; the oldest lines go.
const logCapacity = 10_000

// Record puts a line into the log, as part of a transaction. The level is one of
// slog's, in lower case.
func Record(tx space.Tx, id, level, message string) error {
	at := tx.Now().UTC().Format(time.RFC3339)
	_, err := tx.Put(Log, tuple.New("log", at, id, level, message), space.PutOptions{})
	return err
}
