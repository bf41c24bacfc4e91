package store

import (
	"context"
	"testing"
)

func TestTenThousandResearchedClipsCostAnEpisodeLittle(t *testing.T) {
	t.Parallel()
	const episodes, clips = 2000, 10000
	s := openStore(t, newPath(t))
	fill(t, s, episodes, clips)
	before := fileSize(t, s)
	research(t, s, upTo(episodes), firstNumbers(clips))
	got, err := s.Totals(context.Background())
	if err != nil || got.Researched != episodes*clips {
		t.Fatalf("got %+v, %v", got, err)
	}
	perEpisode := (fileSize(t, s) - before) / episodes
	t.Logf("%d bytes in all, %d per episode for %d researched clips", fileSize(t, s), perEpisode, clips)
	if perEpisode > 256 {
		t.Fatalf("%d bytes per episode", perEpisode)
	}
}

// fileSize is the size of the file once the log is written back.
func fileSize(t testing.TB, s *Store) int64 {
	t.Helper()
	return number(t, s, "PRAGMA page_count") * number(t, s, "PRAGMA page_size")
}
