package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"leasehold/shared/space"
)

// Memory is the driver that forgets everything when the process ends. It keeps
// the newest fact for each key, so that it is as large as the state and no
// larger. The zero Memory is empty and ready. It may be used concurrently.
type Memory struct {
	// Before, if set, is called before each Commit touches anything; its error is
	// Commit's. Tests make a journal slow or failing with it.
	Before func(ctx context.Context, records []Record) error
	// BeforeLoad, if set, is called before each Load; its error is Load's.
	BeforeLoad func(ctx context.Context) error
	// After, if set, is called after each Commit has happened; its error is
	// Commit's, so that the outcome is unknown to the caller.
	After func(ctx context.Context, records []Record) error

	mu       sync.Mutex // guards what follows
	standing Standing
	epoch    Epoch // of the newest owner (Member)
	entries  map[int64]*Entry
	spaces   map[string]*Space
	sessions map[string]*Session
	answers  map[string]map[uint64]*Answer
	token    Token
	history  []*Historic          // the oldest first
	latest   map[string]*Historic // by key
}

// Load implements Journal. It holds mu meanwhile, so restore must not call m. An error of
// BeforeLoad or of restore ends it.
func (m *Memory) Load(ctx context.Context, restore func(Fact) error) (Standing, error) {
	if m.BeforeLoad != nil {
		if err := m.BeforeLoad(ctx); err != nil {
			return Standing{}, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.facts() {
		if err := restore(f); err != nil {
			return Standing{}, err
		}
	}
	return m.standing, nil
}

// facts returns the facts that hold, in no particular order, but without the history. The caller
// holds mu.
func (m *Memory) facts() (all []Fact) {
	for _, s := range m.spaces {
		all = append(all, s)
	}
	for _, s := range m.sessions {
		all = append(all, s)
	}
	for _, e := range m.entries {
		all = append(all, e)
	}
	for _, window := range m.answers {
		for _, a := range window {
			all = append(all, a)
		}
	}
	return append(all, m.token)
}

// Instant reports whether Commit does not wait: no test delays it.
func (m *Memory) Instant() bool { return m.Before == nil && m.After == nil }

// Commit implements Journal: it calls Before, applies the records, and calls After. An error of Before means that
// nothing has happened, one of After that the records hold nevertheless. It fails with ErrFenced if the journal does
// not stand at expected.
func (m *Memory) Commit(ctx context.Context, expected Position, records []Record) error {
	return m.commit(ctx, expected, records, func() error { return nil })
}

// commit is Commit that first calls check, in one step with the comparison of the position; an error of check is
// returned, and nothing has happened.
func (m *Memory) commit(ctx context.Context, expected Position, records []Record, check func() error) error {
	if m.Before != nil {
		if err := m.Before(ctx, records); err != nil {
			return err
		}
	}
	if err := m.apply(expected, records, check); err != nil {
		return err
	}
	if m.After != nil {
		return m.After(ctx, records)
	}
	return nil
}

// apply commits the records in memory if check allows it and the journal stands at expected, which keeps a second
// engine from writing to the journal of the first.
func (m *Memory) apply(expected Position, records []Record, check func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := check(); err != nil {
		return err
	}
	if m.standing.Position != expected {
		return ErrFenced
	}
	for _, r := range records {
		for _, f := range r.Facts {
			m.remember(f)
		}
		m.standing.Clock = r.Clock
	}
	m.standing.Position += Position(len(records))
	return nil
}

// remember makes a fact hold, in place of the one with its key, or removes what it says is gone;
// the end of a session removes its answers too. It makes the maps on the first fact, so that the
// zero Memory is ready. standing.Ref also counts entries that go later. The caller holds mu.
func (m *Memory) remember(f Fact) {
	if m.entries == nil {
		m.entries = map[int64]*Entry{}
		m.spaces = map[string]*Space{}
		m.sessions = map[string]*Session{}
		m.answers = map[string]map[uint64]*Answer{}
	}
	switch f := f.(type) {
	case *Entry:
		m.entries[f.Ref] = f
		m.standing.Ref = max(m.standing.Ref, f.Ref, f.Place)
	case Gone:
		delete(m.entries, int64(f))
	case *Space:
		m.spaces[f.Name] = f
	case Deleted:
		delete(m.spaces, string(f))
	case *Session:
		m.sessions[f.ID] = f
	case Ended:
		delete(m.sessions, string(f))
		delete(m.answers, string(f))
	case *Answer:
		m.keepAnswer(f)
	case Forgotten:
		delete(m.answers[f.Session], f.Seq)
	case Token:
		m.token = f
	case *Historic:
		m.recordHistory(*f)
	}
}

// recordHistory adds h to the history. Count and Bytes go on from the record before. The caller holds mu.
func (m *Memory) recordHistory(h Historic) {
	if m.latest == nil {
		m.latest = map[string]*Historic{}
	}
	h.Count, h.Bytes = 1, h.Size()
	if n := len(m.history); n > 0 {
		h.Count, h.Bytes = m.history[n-1].Count+h.Count, m.history[n-1].Bytes+h.Bytes
	}
	m.history = append(m.history, &h)
	m.latest[h.Key] = &h
	m.standing.Ref = max(m.standing.Ref, h.Seq)
}

// LatestHistory implements space.History. It reports false for a key without a record, and never
// fails.
func (m *Memory) LatestHistory(_ context.Context, key string) (space.HistoryRecord, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.latest[key]; h != nil {
		return h.HistoryRecord, true, nil
	}
	return space.HistoryRecord{}, false, nil
}

// HistoryBefore implements space.History. It holds mu only while it takes the list, because the
// part of it that it reads never changes. It never fails.
func (m *Memory) HistoryBefore(_ context.Context, seq int64, visit func(space.HistoryRecord) bool) error {
	m.mu.Lock()
	all := m.history // records are only added behind and removed before
	m.mu.Unlock()
	for _, h := range slices.Backward(all) {
		if (seq == 0 || h.Seq < seq) && !visit(h.HistoryRecord) {
			break
		}
	}
	return nil
}

// TrimHistory implements HistoryTrimmer. It makes a new list, because a reader may still read
// the old one. It returns how many records it removed, and never fails.
func (m *Memory) TrimHistory(_ context.Context, before time.Duration, l space.HistoryLimits) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.history) == 0 {
		return 0, nil
	}
	n := Excess(m.history[:min(MaxTrimmed, len(m.history))], m.history[len(m.history)-1], before, l)
	for _, h := range m.history[:n] {
		if m.latest[h.Key] == h {
			delete(m.latest, h.Key)
		}
	}
	m.history = slices.Clone(m.history[n:])
	return n, nil
}

// keepAnswer adds an answer to the answers of its session, in place of one with its number. The caller holds mu.
func (m *Memory) keepAnswer(a *Answer) {
	of := m.answers[a.Op.Session]
	if of == nil {
		of = map[uint64]*Answer{}
		m.answers[a.Op.Session] = of
	}
	of[a.Op.Seq] = a
}

// Close implements Journal. What a Memory holds can still be loaded, as a test
// that restarts an engine does.
func (m *Memory) Close() error { return nil }

// Interfere moves the journal on behind its writer's back, as a second writer would: the next Commit fails with
// ErrFenced.
func (m *Memory) Interfere() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.standing.Position++
}
