package embedded

import (
	"context"
	"time"
)

// MergeAll merges all segments into one.
func (x *Index) MergeAll(ctx context.Context) (bool, error) {
	v, err := x.acquire()
	if err != nil {
		return false, err
	}
	defer x.release(v)
	var group []mergedPart
	for _, p := range v.parts {
		group = append(group, x.chooseKept(p))
	}
	if len(group) == 0 {
		return false, nil
	}
	return x.mergeGroup(ctx, group)
}

// SetNow sets the clock.
func (x *Index) SetNow(now func() time.Time) { x.now = now }

// StopAt makes the index return an error at each point for which stop returns one.
func (x *Index) StopAt(stop func(point string) error) { x.reached = stop }
