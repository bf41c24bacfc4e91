package status

import (
	"context"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Lines returns all lines of the space "log", the oldest first, at most as many as it keeps. The time of a line is
// zero if a client put it with another text. It fails with fault.ErrTooLarge and returns none if the lines together
// are larger than space.MaxReply.
func Lines(ctx context.Context, repo space.Repository) ([]Line, error) {
	found, err := repo.Space(Log).QueryAll(ctx, MatchLog(tuple.AnyString, tuple.AnyString))
	lines := make([]Line, len(found))
	for i, t := range found {
		lines[i] = decodeLine(t)
	}
	return lines, err
}
