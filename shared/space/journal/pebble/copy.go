package pebble

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/space/journal"
)

var _ journal.Copier = (*Journal)(nil)

// Copy implements journal.Copier. On the same file system it shares the tables with the original, which never change;
// only the logs are copied, each as far as it is written when its turn comes. The copy gets the files of a journal
// that was closed: format, newest log and stamp. Its stamp has a position from before the copy, because the copy may
// be further but never behind it. It fails with fault.ErrClosed or journal.ErrBroken if the journal cannot be used.
func (j *Journal) Copy(ctx context.Context, dir string) error {
	stamp := j.lastStamp()
	stamp.closed = true
	j.mu.Lock()
	err := j.usable()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := j.checkpoint(dir); err != nil { // what was committed is in the log's file
		return fmt.Errorf("copy the journal %s: %w", j.Dir, err)
	}
	if err := writeFile(j.FS, j.FS.PathJoin(dir, formatFile), formatText(Format)); err != nil {
		return err
	}
	newest, err := newestLog(j.FS, dir)
	if err != nil {
		return err
	}
	if err := writeNewest(j.FS, dir, newest); err != nil {
		return err
	}
	return writeFile(j.FS, j.FS.PathJoin(dir, stampFile), stampText(stamp))
}

// newestLog returns the highest number of a log in a folder; 0 if it has none.
func newestLog(fs vfs.FS, dir string) (newest uint32, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if num, ok := logNumber(name); ok {
			newest = max(newest, num)
		}
	}
	return newest, nil
}

// checkpoint copies what the store holds. The store panics if it cannot sync the folder of the copy,
// as it does with its own; checkpoint returns that error, because a disk for backups that fails must
// not end the coordinator.
func (j *Journal) checkpoint(dir string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the store gave up: %v", p)
		}
	}()
	return j.db.Checkpoint(dir)
}
