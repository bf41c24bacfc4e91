//go:build linux

package pebble_test

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// bareLog is the least that a durable log can be: records are written over the zeros of a
// file, as the journal does, so that a sync changes neither its length nor its blocks; and
// one fdatasync serves all that wait. It is what a journal is measured against.
type bareLog struct {
	file       *os.File
	committing chan struct{}
	durable    atomic.Uint64

	mu      sync.Mutex // guards what follows
	pending []byte
	spare   []byte
	seq     uint64
}

// newBareLog makes a file of zeros, which the benchmark overwrites, so that a sync writes no new
// length.
func newBareLog(t testing.TB, path string) *bareLog {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, 64<<20), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return &bareLog{file: f, committing: make(chan struct{}, 1)}
}

// append returns once the record is on the disk.
func (l *bareLog) append(record []byte) error {
	l.mu.Lock()
	l.pending = append(l.pending, record...)
	l.seq++
	mine := l.seq
	l.mu.Unlock()
	l.committing <- struct{}{}
	defer func() { <-l.committing }()
	if l.durable.Load() >= mine {
		return nil
	}
	l.mu.Lock()
	batch, upTo := l.pending, l.seq
	l.pending = l.spare[:0]
	l.mu.Unlock()
	if _, err := l.file.Write(batch); err != nil {
		return err
	}
	if err := syscall.Fdatasync(int(l.file.Fd())); err != nil {
		return err
	}
	l.spare = batch
	l.durable.Store(upTo)
	return nil
}
