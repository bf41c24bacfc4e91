package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"leasehold/models"
	"leasehold/shared/fault"
)

// openStore opens a catalog that is closed with the test.
func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "catalog.db") }

// refused sees that Open fails with kind and names the path and the words.
func refused(t *testing.T, path string, kind error, words ...string) {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err == nil {
		s.Close()
		t.Fatal("opened")
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	for _, w := range append(words, path) {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("%q does not say %q", err, w)
		}
	}
}

// raw changes a closed catalog behind its back.
func raw(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func TestACatalogIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder? with 100% of #signs; é", "catalog.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	origin := models.Origin{ID: "a", Kind: models.Feed, URI: "u"}
	if _, err := s.AddOrigin(context.Background(), origin); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := openStore(t, path).Origin(context.Background(), "a")
	if err != nil || got.URI != "u" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestASecondHandleIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openStore(t, path)
	refused(t, path, fault.ErrConflict, "another process or handle")
	if _, err := s.Totals(context.Background()); err != nil {
		t.Fatalf("the first handle: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}

// TestASecondProcessIsRefused runs this test again in another process, which
// tells what became of it.
func TestASecondProcessIsRefused(t *testing.T) {
	const key = "CATALOG_TO_OPEN"
	if path := os.Getenv(key); path != "" {
		refused(t, path, fault.ErrConflict)
		return
	}
	path := newPath(t)
	for _, state := range []string{"new", "reopened, only read"} {
		s := openStore(t, path)
		if _, err := s.Totals(context.Background()); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestASecondProcessIsRefused$")
		cmd.Env = append(os.Environ(), key+"="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", state, err, out)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNotACatalogIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"a word": []byte("hello"),
		"text":   bytes.Repeat([]byte("these are not the bytes you are looking for\n"), 500),
		"zeros":  make([]byte, 8192),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, path, fault.ErrCorrupt)
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
				t.Fatalf("the file was changed (%v)", err)
			}
		})
	}
}

func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	raw(t, path, "CREATE TABLE recipe (name TEXT)")
	refused(t, path, fault.ErrCorrupt, "not a catalog")
}

func TestADamagedCatalogIsCorrupt(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(content); i++ {
		content[i] = 0xa5
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = openStore(t, path).Totals(context.Background())
	if !errors.Is(err, fault.ErrCorrupt) {
		t.Fatalf("got %v", err)
	}
}

func TestADamagedBitmapIsCorrupt(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openStore(t, path)
	fill(t, s, 1, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "INSERT OR REPLACE INTO researched VALUES (1, x'0badbadbadbad0')")
	s = openStore(t, path)
	if _, _, err := s.Select(context.Background(), nil, 1); !errors.Is(err, fault.ErrCorrupt) {
		t.Fatalf("got %v", err)
	}
}

func TestAFolderOrAMissingFolderIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	refused(t, t.TempDir(), nil)
	refused(t, filepath.Join(t.TempDir(), "no", "such", "catalog.db"), nil)
}
