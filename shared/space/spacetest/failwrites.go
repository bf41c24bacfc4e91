package spacetest

import (
	"errors"
	"fmt"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// errWrite is the error of a write that FailWrites lets fail; errEnough undoes an attempt none of
// whose writes failed.
var (
	errWrite  = errors.New("this write fails for a test")
	errEnough = errors.New("no write is left to fail")
)

// maxFailed bounds the writes of one call that fail: those after it are of further items of a list.
const maxFailed = 30

// FailWrites returns procedures that do the same as p. Before that each runs once for each of
// its writes, which fails then: the procedure must return that error, and the engine undoes its
// other writes. A procedure that lost the error would do a part of its work and answer success.
// fail is called with each mistake.
//
// Such an attempt is a procedure of its own, which always returns an error, so that the engine
// undoes it. The last one has more writes left than there are, so that none failed.
func FailWrites(p space.Procedures, fail func(format string, args ...any)) space.Procedures {
	all := space.Procedures{}
	for name, run := range p {
		attempt := name + ".attempt"
		writes, failed := 0, false // of the attempt that runs; the engine runs one procedure at a time
		all[attempt] = func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			f := &failing{Tx: tx, left: writes, token: 1 << 40}
			_, err := run(f, args)
			if failed = f.failed; failed && !errors.Is(err, errWrite) {
				fail("%s: write %d failed, and the procedure answered %v", name, writes+1, err)
			}
			return nil, errEnough
		}
		all[name] = func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			for writes, failed = 0, true; failed && writes < maxFailed; writes++ {
				if _, err := tx.Call(attempt, args); !errors.Is(err, errEnough) {
					return nil, fmt.Errorf("attempt of %s: %w", name, err)
				}
			}
			return run(tx, args)
		}
	}
	return all
}

// failing is a transaction; one of its writes fails.
type failing struct {
	space.Tx
	left   int // writes before it
	failed bool
	token  int64
}

// NextToken returns tokens of its own, because the engine would not give the tokens of an attempt again.
func (f *failing) NextToken() int64 {
	f.token++
	return f.token
}

// write is called before each write. It returns errWrite for the one that fails.
func (f *failing) write() error {
	if f.left--; f.left == -1 {
		f.failed = true
		return errWrite
	}
	return nil
}

// Put is a write, as are the methods below; methods that only read are the engine's.
func (f *failing) Put(name string, t tuple.Tuple, o space.PutOptions) (int64, error) {
	if err := f.write(); err != nil {
		return 0, err
	}
	return f.Tx.Put(name, t, o)
}

func (f *failing) Take(ref int64) error {
	return orElse(f.write(), func() error { return f.Tx.Take(ref) })
}

func (f *failing) Replace(ref int64, t tuple.Tuple) error {
	return orElse(f.write(), func() error { return f.Tx.Replace(ref, t) })
}

func (f *failing) Amend(ref int64, t tuple.Tuple, a space.Attributes) error {
	return orElse(f.write(), func() error { return f.Tx.Amend(ref, t, a) })
}

func (f *failing) Extend(ref int64, ttl time.Duration) error {
	return orElse(f.write(), func() error { return f.Tx.Extend(ref, ttl) })
}

func (f *failing) Hold(ref int64, o space.HoldOptions) error {
	return orElse(f.write(), func() error { return f.Tx.Hold(ref, o) })
}

func (f *failing) Done(ref int64) error {
	return orElse(f.write(), func() error { return f.Tx.Done(ref) })
}

func (f *failing) Back(ref int64, at space.Placement) error {
	return orElse(f.write(), func() error { return f.Tx.Back(ref, at) })
}

func (f *failing) RecordHistory(key, value string) error {
	return orElse(f.write(), func() error { return f.Tx.RecordHistory(key, value) })
}

// orElse returns err, or what do returns if err is nil.
func orElse(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}
