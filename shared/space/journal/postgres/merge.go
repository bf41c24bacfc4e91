package postgres

import (
	"leasehold/shared/space/journal/codec"
)

// merged is what a part of the log makes of the facts: for each key its last change, and for each session that ended
// when its answers were removed.
type merged struct {
	changes map[string]numbered
	ended   map[string]int // by the key of the session's answers
	next    int
}

// numbered is a change with its place in the log.
type numbered struct {
	value []byte
	gone  bool
	at    int
}

func newMerged() *merged { return &merged{changes: map[string]numbered{}, ended: map[string]int{}} }

// add adds a row of the log, whose memory merged keeps.
func (m *merged) add(row []byte) error {
	return eachChange(row, func(c change) {
		m.next++
		switch c.kind {
		case put:
			m.changes[string(c.key)] = numbered{value: c.value, at: m.next}
		case remove:
			m.changes[string(c.key)] = numbered{gone: true, at: m.next}
		case removeAll:
			m.ended[string(c.key)] = m.next
		}
	})
}

// holds reports whether there is a fact with a key of changes after the log.
func (m *merged) holds(key string) bool {
	c := m.changes[key]
	return !c.gone && c.at > m.ended[string(codec.AnswersOf([]byte(key)))]
}

// replaces reports whether the log changes the fact with a key, also one that has no entry in changes.
func (m *merged) replaces(key []byte) bool {
	if _, changed := m.changes[string(key)]; changed {
		return true
	}
	_, ended := m.ended[string(codec.AnswersOf(key))]
	return ended
}
