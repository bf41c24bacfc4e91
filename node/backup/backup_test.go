package backup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/node/backup"
	"leasehold/shared/fault"
)

// part is one file with a text.
func part(name, text string) backup.Part {
	return backup.Part{Name: name, Copy: func(_ context.Context, path string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}}
}

func Example() {
	dir, _ := os.MkdirTemp("", "backup")
	defer os.RemoveAll(dir)
	copied, restored := filepath.Join(dir, "copy"), filepath.Join(dir, "data")
	err := backup.Make(context.Background(), copied, backup.Source{}, part("catalog", "episodes"))
	fmt.Println(err, backup.Restore(context.Background(), copied, restored, asIs))
	text, _ := os.ReadFile(filepath.Join(restored, "catalog"))
	fmt.Printf("%s\n", text)
	// Output:
	// <nil> <nil>
	// episodes
}

func TestABackupIsThereWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir, odd := t.TempDir(), errors.New("odd")
	dest := filepath.Join(dir, "copy")
	fails := backup.Part{Name: "b", Copy: func(context.Context, string) error { return odd }}
	err := backup.Make(t.Context(), dest, backup.Source{}, part("a", "1"), fails)
	require.ErrorIs(t, err, odd)
	require.ErrorContains(t, err, "backup of b to "+dest)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	require.NoError(t, backup.Make(t.Context(), dest, backup.Source{}, part("a", "1")))
	require.ErrorIs(t, backup.Make(t.Context(), dest, backup.Source{}, part("a", "2")), fault.ErrConflict)
	require.ErrorIs(t, backup.Make(t.Context(), "relative", backup.Source{}, part("a", "2")), fault.ErrInvalid)
	require.ErrorIs(t, backup.Make(t.Context(), filepath.Join(dir, "no", "such", "copy"), backup.Source{}), fault.ErrFolder)
}

func TestPartsAreCopiedInOrder(t *testing.T) {
	t.Parallel()
	var order []string
	step := func(name string) backup.Part {
		return backup.Part{Name: name, Copy: func(ctx context.Context, path string) error {
			order = append(order, name)
			return part(name, "").Copy(ctx, path)
		}}
	}
	require.NoError(t, backup.Make(t.Context(), filepath.Join(t.TempDir(), "copy"), backup.Source{}, step("journal"), step("catalog")))
	require.Equal(t, []string{"journal", "catalog"}, order)
}

func TestWhatIsNotTheBackupThatWasMadeIsNotRestored(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "a", "b"), []byte("2"), 0o600) },
		"missing": func(dir string) error { return os.Remove(filepath.Join(dir, "a", "b")) },
		"more":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "c"), nil, 0o600) },
		"link":    func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "c")) },
		"garbled": func(dir string) error { return os.WriteFile(filepath.Join(dir, backup.Manifest), []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copied, data := filepath.Join(dir, "copy"), filepath.Join(dir, "data")
			require.NoError(t, backup.Make(t.Context(), copied, backup.Source{}, part("a/b", "1")))
			require.NoError(t, damage(copied))
			require.ErrorIs(t, backup.Restore(t.Context(), copied, data, asIs), fault.ErrCorrupt)
			require.NoDirExists(t, data)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

func TestABackupOfAnotherVersionAndWhatIsNoneAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	require.ErrorIs(t, backup.Restore(t.Context(), dir, data, asIs), fault.ErrInvalid)
	for text, has := range map[string]string{`{"version":2}`: "version 2", `{"version":0}`: "version 0", `{}`: "version 0"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, backup.Manifest), []byte(text), 0o600))
		err := backup.Restore(t.Context(), dir, data, asIs)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, "it has "+has+", this program reads version 1: use the leasehold that wrote it")
		require.NoDirExists(t, data)
	}
}

func TestABackupOfManyFilesIsRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copied, data := filepath.Join(dir, "copy"), filepath.Join(dir, "data")
	folder := strings.Repeat(strings.Repeat("d", 250)+"/", 14)
	var parts []backup.Part
	for n := range 350 { // their list has more than 1 MiB
		parts = append(parts, part(folder+fmt.Sprint(n), "1"))
	}
	require.NoError(t, backup.Make(t.Context(), copied, backup.Source{}, parts...))
	require.NoError(t, backup.Restore(t.Context(), copied, data, asIs))
	require.FileExists(t, filepath.Join(data, folder, "349"))
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copied, data := filepath.Join(dir, "copy"), filepath.Join(dir, "data")
	require.NoError(t, backup.Make(t.Context(), copied, backup.Source{}, part("a", "1")))
	require.NoError(t, os.Mkdir(data, 0o700))
	require.NoError(t, backup.Restore(t.Context(), copied, data, asIs), "an empty folder may be there")
	require.ErrorIs(t, backup.Restore(t.Context(), copied, data, asIs), fault.ErrConflict)
}

// asIs prepares nothing.
func asIs(string) error { return nil }

func TestABackupInsideTheDataFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, link := filepath.Join(dir, "data"), filepath.Join(dir, "link")
	require.NoError(t, os.MkdirAll(filepath.Join(data, "sub"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(data, "sub"), link))
	for _, dest := range []string{filepath.Join(data, "copy"), filepath.Join(data, "sub", "copy"), filepath.Join(link, "copy")} {
		err := backup.RequireOutside(dest, data)
		require.ErrorIs(t, err, fault.ErrInvalid, dest)
		require.ErrorContains(t, err, "inside the data folder")
	}
	require.NoError(t, backup.RequireOutside(filepath.Join(dir, "copy"), data))
	require.NoError(t, backup.RequireOutside(filepath.Join(dir, "data-copy"), data))
	require.ErrorIs(t, backup.RequireOutside(filepath.Join(dir, "no", "copy"), data), fault.ErrFolder)
}
