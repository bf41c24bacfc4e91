package journal

import (
	"context"
	"sync"
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
	entries  map[int64]*Entry
	spaces   map[string]*Space
	sessions map[string]*Session
	answers  map[string]map[uint64]*Answer
	token    Token
}

// Load implements Journal.
func (m *Memory) Load(ctx context.Context, restore func(Fact) error) (Standing, error) {
	if m.BeforeLoad != nil {
		if err := m.BeforeLoad(ctx); err != nil {
			return Standing{}, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.spaces {
		if err := restore(s); err != nil {
			return Standing{}, err
		}
	}
	for _, s := range m.sessions {
		if err := restore(s); err != nil {
			return Standing{}, err
		}
	}
	for _, e := range m.entries {
		if err := restore(e); err != nil {
			return Standing{}, err
		}
	}
	for _, window := range m.answers {
		for _, a := range window {
			if err := restore(a); err != nil {
				return Standing{}, err
			}
		}
	}
	return m.standing, restore(m.token)
}

// Commit implements Journal.
func (m *Memory) Commit(ctx context.Context, expected Position, records []Record) error {
	if m.Before != nil {
		if err := m.Before(ctx, records); err != nil {
			return err
		}
	}
	if err := m.apply(expected, records); err != nil {
		return err
	}
	if m.After != nil {
		return m.After(ctx, records)
	}
	return nil
}

func (m *Memory) apply(expected Position, records []Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	case *Session:
		m.sessions[f.ID] = f
	case Ended:
		delete(m.sessions, string(f))
		delete(m.answers, string(f))
	case *Answer:
		m.answer(f)
	case Forgotten:
		delete(m.answers[f.Session], f.Seq)
	case Token:
		m.token = f
	}
}

func (m *Memory) answer(a *Answer) {
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

// Interfere moves the journal on behind its writer's back, as a second writer
// would: the next Commit is ErrFenced.
func (m *Memory) Interfere() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.standing.Position++
}
