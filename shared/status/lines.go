package status

import (
	"context"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Lines returns all lines of the space "log", at most as many as it keeps. The time of a line
// is zero if a client put it with another text.
func Lines(ctx context.Context, repo space.Repository) ([]Line, error) {
	found, err := repo.Space(Log).QueryAll(ctx, MatchLog(tuple.AnyString, tuple.AnyString))
	lines := make([]Line, len(found))
	for i, t := range found {
		at, _ := time.Parse(time.RFC3339Nano, t.Str(1))
		lines[i] = Line{At: at, ID: t.Str(2), Level: t.Str(3), Message: t.Str(4)}
	}
	return lines, err
}
