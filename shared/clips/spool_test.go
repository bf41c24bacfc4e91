package clips

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"leasehold/shared/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSpoolHoldsWhatLoadGivesAndIsSilentBeyond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "src.wav")
	run(t, "sox", "-R", "-n", "-r", "44100", src, "synth", "3", "pinknoise")
	want, err := Load(context.Background(), src, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	spools := t.TempDir()
	r, err := Spool(context.Background(), src, spools)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(spools); len(left) != 0 {
		t.Errorf("a killed process would leave %v", left)
	}
	if r.Len() != len(want) || r.Duration() != 3*time.Second {
		t.Errorf("%d samples, %v", r.Len(), r.Duration())
	}
	got := make([]float32, len(want)+20)
	if err := r.ReadAt(got, -10); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[10:len(want)+10], want) || got[9] != 0 || got[len(got)-10] != 0 {
		t.Error("what was read is not what was written")
	}
	for _, offset := range []int{-100000, 100000} {
		if err := r.ReadAt(got, offset); err != nil || slices.ContainsFunc(got, func(v float32) bool { return v != 0 }) {
			t.Error(offset, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.ReadAt(got, 0); err == nil {
		t.Error("a closed recording reads")
	}
}

func TestLoadStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	src := filepath.Join(t.TempDir(), "src.wav")
	run(t, "sox", "-R", "-n", "-r", "8000", src, "synth", "10", "pinknoise")
	if _, err := Load(context.Background(), src, 10*time.Second); err != nil {
		t.Error(err)
	}
	if _, err := Load(context.Background(), src, 9*time.Second); !errors.Is(err, fault.ErrTooLarge) || err.Error() != "longer than 9s" {
		t.Error(err)
	}
}

func TestASpoolThatFailsIsGone(t *testing.T) {
	t.Parallel()
	spools, bad := t.TempDir(), filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Spool(context.Background(), bad, spools); !errors.Is(err, fault.ErrInvalid) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(spools); len(left) != 0 {
		t.Error(left)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "episode.mp3")
	if err := os.WriteFile(path, []byte("<!DOCTYPE html><title>404</title>"), 0o600); err != nil {
		fmt.Println(err)
	}
	_, err = Load(context.Background(), path, time.Minute)
	fmt.Println(err)
	fmt.Println(errors.Is(err, fault.ErrInvalid))
	// Output:
	// looks like an HTML page, not audio
	// true
}
