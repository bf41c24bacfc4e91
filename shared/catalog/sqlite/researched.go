package sqlite

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
)

// loadResearched returns the numbers of the clips researched in an episode; the empty set if there are none.
func loadResearched(c *sqlfile.Conn, episode int64) (*roaring.Bitmap, error) {
	var blob []byte
	if _, err := c.One("SELECT clips FROM researched WHERE episode = ?", []any{episode}, func(row sqlfile.Row) error {
		return row.Scan(&blob)
	}); err != nil {
		return nil, err
	}
	return decodeResearched(episode, blob)
}

func saveResearched(c *sqlfile.Conn, episode int64, set *roaring.Bitmap) error {
	set.RunOptimize()
	blob, err := set.ToBytes()
	if err != nil {
		return err
	}
	return c.Exec("INSERT OR REPLACE INTO researched (episode, clips) VALUES (?, ?)", episode, blob)
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
