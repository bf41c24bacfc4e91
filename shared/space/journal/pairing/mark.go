package pairing

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Mark is what a store keeps of its pair.
type Mark struct {
	Instance string // of both stores, 32 hexadecimal digits; empty: the store has no mark
	Counter  uint64
	// Confirmed is, in the database, the counter that the journal has at least. It is lower
	// than Counter while the counter is raised; 0: the journal may have no mark.
	Confirmed uint64
	At        time.Time // when the mark was written
	Other     string    // content of the other store at that time, for people
}

// NewInstance returns a new random instance id.
func NewInstance() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never returns an error
	return hex.EncodeToString(id)
}

// State is the condition in which a store was found.
type State string

// The states.
const (
	Present State = "present"
	Missing State = "missing"
	Empty   State = "empty"
)

// Found is a store as it was found at a start.
type Found struct {
	State State
	Mark  Mark
}

// Store is one of the two stores.
type Store interface {
	// SetMark writes a mark. It is durable when SetMark returns nil.
	SetMark(ctx context.Context, m Mark) error
	// Changes returns a number that differs if the content has changed; marks do not
	// count.
	Changes(ctx context.Context) (uint64, error)
	// Describe returns what the store holds, for people.
	Describe(ctx context.Context) (string, error)
}
