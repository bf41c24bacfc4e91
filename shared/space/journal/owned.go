package journal

import (
	"context"
	"errors"
)

// ErrDeposed means that another process has claimed the journal since this one did. Who gets it from
// Load, Commit or Confirm must never use what it holds again, and must not repeat the call: what it
// knows may be old.
var ErrDeposed = errors.New("journal: another process owns it now")

// Epoch numbers the ownerships of a journal: each Claim raises it by one. 0: nobody has owned it yet.
type Epoch uint64

// Owned is a journal that several processes can open. One of them owns it at a time. What keeps the journal
// compares the epoch of the owner in each Commit, in one step with the position.
// An engine calls Claim once, before Load.
//
// A Commit of an Owned journal whose outcome is unknown counts as ErrDeposed, because only another Claim
// could tell what became of it.
type Owned interface {
	Journal
	// Claim makes the caller the owner, in place of the one before, and returns its epoch. It is durable
	// when Claim returns. After an error the caller is not the owner, or does not know that it is.
	Claim(ctx context.Context) (Epoch, error)
	// Confirm returns nil if the caller was the owner at a time after the call began, and ErrDeposed if
	// it was not. After any other error it is unknown. It waits for whatever a Commit waits for, because what has
	// been cut off from the rest may still answer questions.
	Confirm(ctx context.Context) error
}
