package journal

import (
	"context"
	"time"

	"leasehold/shared/space"
)

// Member is one process's handle of a Memory that several own in turn: an Owned journal for tests of
// engines that depose each other. It may be used concurrently.
type Member struct {
	*Memory
	// BeforeClaim and BeforeConfirm, if set, are called before Claim and Confirm look at anything; their error is the
	// call's.
	BeforeClaim, BeforeConfirm func(ctx context.Context) error

	epoch Epoch // that this member has claimed; guarded by Memory.mu
}

// Member returns a handle of m that owns it once it has claimed it.
func (m *Memory) Member() *Member { return &Member{Memory: m} }

// Claim implements Owned.
func (m *Member) Claim(ctx context.Context) (Epoch, error) {
	if m.BeforeClaim != nil {
		if err := m.BeforeClaim(ctx); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Memory.epoch++
	m.epoch = m.Memory.epoch
	return m.epoch, nil
}

// Confirm implements Owned.
func (m *Member) Confirm(ctx context.Context) error {
	if m.BeforeConfirm != nil {
		if err := m.BeforeConfirm(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checkOwner()
}

// checkOwner returns ErrDeposed unless the member is the owner. The caller holds mu.
func (m *Member) checkOwner() error {
	if m.epoch == 0 || m.epoch != m.Memory.epoch {
		return ErrDeposed
	}
	return nil
}

// Load implements Journal. Who does not own it gets ErrDeposed.
func (m *Member) Load(ctx context.Context, restore func(Fact) error) (Standing, error) {
	if err := m.Confirm(ctx); err != nil {
		return Standing{}, err
	}
	return m.Memory.Load(ctx, restore)
}

// Commit implements Journal: as Memory's, but it fails with ErrDeposed if the member is not the owner.
func (m *Member) Commit(ctx context.Context, expected Position, records []Record) error {
	return m.commit(ctx, expected, records, m.checkOwner)
}

// TrimHistory implements HistoryTrimmer. Who does not own it gets ErrDeposed.
func (m *Member) TrimHistory(ctx context.Context, before time.Duration, l space.HistoryLimits) (int, error) {
	if err := m.Confirm(ctx); err != nil {
		return 0, err
	}
	return m.Memory.TrimHistory(ctx, before, l)
}
