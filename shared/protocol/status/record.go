package status

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Records is the space in which sessions keep how they were opened, for the next coordinator.
const Records = "sessiondata"

// maxRecord bounds a record in bytes.
const maxRecord = 32 << 10

const procRemember = "status.remember"

// remember (record) keeps a record of the caller's session, in place of an earlier one.
func remember(tx space.Tx, record string) (tuple.Tuple, error) {
	id := tx.Caller()
	switch {
	case id == "":
		return nil, fmt.Errorf("%s: %w: only a session has a record", procRemember, fault.ErrInvalid)
	case len(record) > maxRecord:
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", procRemember, fault.ErrInvalid, len(record), maxRecord)
	}
	return nil, upsert(tx, Records, recordOf(id), sessionRecord{id, record}.encode())
}

// Remember keeps a record of repo's session that outlives the coordinator and ends with the session. It may be repeated. A
// record of more than 32 KiB is fault.ErrInvalid.
func Remember(ctx context.Context, repo space.Repository, record string) error {
	_, err := repo.Call(ctx, space.OpID{}, procRemember, tuple.New(record))
	return err
}

// Recall returns the record of a session; ok is false if it has none, or has ended.
func Recall(ctx context.Context, repo space.Repository, session string) (record string, ok bool, err error) {
	t, ok, err := repo.Space(Records).QueryP(ctx, recordOf(session))
	if err != nil || !ok {
		return "", false, err
	}
	return decodeRecord(t).Record, true, nil
}
