package store

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// loadResearched returns the numbers of the clips researched in an episode; the empty set if there are none.
func loadResearched(c *sqldb.Conn, episode int64) (*roaring.Bitmap, error) {
	var blob []byte
	if _, err := c.One("SELECT clips FROM researched WHERE episode = ?", []any{episode}, func(row sqldb.Row) error {
		return row.Scan(&blob)
	}); err != nil {
		return nil, err
	}
	return decodeResearched(episode, blob)
}

func saveResearched(c *sqldb.Conn, episode int64, set *roaring.Bitmap) error {
	set.RunOptimize()
	blob, err := set.ToBytes()
	if err != nil {
		return err
	}
	return c.Exec("INSERT INTO researched (episode, clips) VALUES (?, ?) ON CONFLICT (episode) DO UPDATE SET clips = excluded.clips", episode, blob)
}

// decodeResearched reads the bitmap of an episode; an empty blob is the empty set.
func decodeResearched(episode int64, blob []byte) (*roaring.Bitmap, error) {
	set := roaring.New()
	if len(blob) == 0 {
		return set, nil
	}
	if err := set.UnmarshalBinary(blob); err != nil {
		return nil, fmt.Errorf("researched clips of episode number %d: %w: %w", episode, fault.ErrCorrupt, err)
	}
	return set, nil
}
