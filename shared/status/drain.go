package status

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const procDrain = "status.drain"

// theDrain is what a session is told that should drain.
var theDrain = tuple.New("drain")

// drain (session) tells a session that beats to drain. It may be told again.
func drain(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	id := args.Str(0)
	_, beats := tx.Find(Space, tuple.Match(id, tuple.AnyString, tuple.AnyString), nil)
	if !beats || !tx.Alive(id) {
		return nil, fmt.Errorf("session %.100q: %w: no manager or worker of that id is connected", id, fault.ErrNotFound)
	}
	tx.Tell(id, theDrain)
	return nil, nil
}

// Drain asks a manager or worker to take nothing new, to finish or hand back what
// it holds, and to end; it does not wait until that has happened. fault.ErrNotFound
// says that no session of that id beats.
func Drain(ctx context.Context, repo space.Repository, session string) error {
	_, err := repo.Call(ctx, space.OpID{}, procDrain, tuple.New(session))
	return err
}

// IsDrain reports whether a message asks its receiver to drain.
func IsDrain(message tuple.Tuple) bool { return message.Equal(theDrain) }
