package sqlite

import (
	"context"
	"errors"
	"testing"

	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

func candidatesOf(t *testing.T, s *Store) int64 {
	t.Helper()
	return number(t, s, "SELECT count(*) FROM candidate")
}

func TestSelectStrikesOutEpisodesThatHaveNothingLeft(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 100, 10)
	if got := candidatesOf(t, s); got != 100 {
		t.Fatalf("%d candidates at first", got)
	}
	work, _, err := s.Select(context.Background(), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	busy := []catalog.Busy{{Episode: work.Episode.ID}}
	for _, i := range work.Clips {
		busy[0].Clips = append(busy[0].Clips, i.ID)
	}
	research(t, s, upTo(100), firstNumbers(10))
	research(t, s, []int64{50}, firstNumbers(9))
	if _, _, err := s.Select(context.Background(), busy, 1); err != nil {
		t.Fatal(err)
	}
	research(t, s, []int64{50}, firstNumbers(10))
	if _, _, err := s.Select(context.Background(), busy, 1); !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	if got := candidatesOf(t, s); got != 0 {
		t.Fatalf("%d candidates when all is researched", got)
	}
}

func TestSelectKeepsEpisodesWhereAllThatIsLeftIsBusy(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 1, 1)
	work, _, err := s.Select(context.Background(), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	busy := []catalog.Busy{{Episode: work.Episode.ID, Clips: []string{work.Clips[0].ID}}}
	if _, _, err := s.Select(context.Background(), busy, 1); !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
	if got := candidatesOf(t, s); got != 1 {
		t.Fatalf("%d candidates", got)
	}
}
