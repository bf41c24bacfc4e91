package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatOneSystemLacksIsAnError checks a module whose package has a function on Windows only.
func TestWhatOneSystemLacksIsAnError(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module example\n\ngo 1.26\n",
		"a.go":             "package a\n\nfunc A() int { return only() }\n",
		"only_windows.go":  "package a\n\nfunc only() int { return 1 }\n",
		"a_darwin_test.go": "package a\n\nvar _ string = A()\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	errs, err := check("windows/amd64", []string{"./..."})
	require.NoError(t, err)
	require.Empty(t, errs)
	errs, err = check("darwin/arm64", []string{"./..."})
	require.NoError(t, err)
	require.Len(t, errs, 2)
	require.Contains(t, errs[0], "undefined: only")
	require.Contains(t, errs[1], "a_darwin_test.go:3", "tests are checked too")
	_, err = check("plan9", []string{"./..."})
	require.ErrorContains(t, err, "want GOOS/GOARCH")
}
