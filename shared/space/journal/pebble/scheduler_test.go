package pebble

import (
	"testing"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"
)

// fakeStore is a store with one compaction at most that waits.
type fakeStore struct {
	waits   bool
	refuses bool
	started int
}

func (s *fakeStore) GetAllowedWithoutPermission() int { return 1 }

func (s *fakeStore) GetWaitingCompaction() (bool, lsm.WaitingCompaction) {
	return s.waits, lsm.WaitingCompaction{}
}

func (s *fakeStore) Schedule(lsm.CompactionGrantHandle) bool {
	if s.refuses {
		return false
	}
	s.waits = false
	s.started++
	return true
}

func TestNoCompactionBeginsWhileTheStoreIsOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		store   fakeStore
		started int
		free    bool // for another one after the opening
	}{
		{"none waits", fakeStore{}, 0, true},
		{"one waits", fakeStore{waits: true}, 1, false},
		{"one waited, and is not needed any more", fakeStore{waits: true, refuses: true}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScheduler()
			s.Register(2, &c.store)
			begins, _ := s.TrySchedule()
			require.False(t, begins)
			require.Zero(t, c.store.started, "the store is not open yet")
			s.start()
			require.Equal(t, c.started, c.store.started)
			begins, grant := s.TrySchedule()
			require.Equal(t, c.free, begins)
			if begins {
				again, _ := s.TrySchedule()
				require.False(t, again, "one at a time")
				grant.Done()
			}
			s.Unregister()
		})
	}
}
