package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// TestWhatWasAcknowledgedSurvivesAKill runs this test again in another process,
// which ingests and prints a line for each result until it is killed.
func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	const key = "CATALOG_TO_INGEST"
	if path := os.Getenv(key); path != "" {
		ingestForEver(t, path)
		return
	}
	path := newPath(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestWhatWasAcknowledgedSurvivesAKill$")
	cmd.Env = append(os.Environ(), key+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "ingested") {
			said++
		}
		if said == 30 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	got, err := openStore(t, path).Totals(context.Background())
	if err != nil || said < 30 || got.Researched < said || got.Researched > said+1 {
		t.Fatalf("%d results were acknowledged, %d are there (%v)", said, got.Researched, err)
	}
}

func ingestForEver(t *testing.T, path string) {
	s := openStore(t, path)
	fill(t, s, 100, 100)
	for {
		work, _, err := s.Select(context.Background(), nil, catalog.Limits{Clips: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ingest(context.Background(), doneWith(work), today); err != nil {
			t.Fatal(err)
		}
		fmt.Println("ingested")
	}
}

func TestAFullDiskIsAnErrorAndTheListingCanBeCuratedAgain(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 10, 10)
	limit := number(t, s, "PRAGMA page_count") + 2
	number(t, s, fmt.Sprintf("PRAGMA max_page_count=%d", limit))
	var l catalog.Listing
	for i := range 1000 {
		l.Clips = append(l.Clips, models.Clip{Recording: numbered("file:///more/", i)})
	}
	l.Complete = true
	if _, err := s.Curate(context.Background(), "spots", today, l); !errors.Is(err, fault.ErrOverloaded) {
		t.Fatalf("got %v", err)
	}
	number(t, s, "PRAGMA max_page_count=1000000")
	if _, err := s.Curate(context.Background(), "spots", today, l); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	if after, err := s.Totals(context.Background()); err != nil || after.Clips != 1000 || after.Episodes != 10 {
		t.Fatalf("got %+v (%v)", after, err)
	}
}
