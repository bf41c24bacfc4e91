package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bothEngines runs a test with the git command and with the library.
func bothEngines(t *testing.T, test func(t *testing.T, lib bool)) {
	t.Helper()
	t.Run("git", func(t *testing.T) { test(t, false) })
	t.Run("library", func(t *testing.T) { test(t, true) })
}

// repo is a repository that a test makes with the git command.
type repo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB, args ...string) *repo {
	t.Helper()
	r := &repo{t, t.TempDir()}
	r.git(append([]string{"init", "--quiet", "--initial-branch=main"}, args...)...)
	return r
}

// git runs a git command in the repository, and returns what it prints.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.gitWith("", args...)
}

// gitWith is git with standard input.
func (r *repo) gitWith(input string, args ...string) string {
	r.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = r.dir
	c.Stdin = strings.NewReader(input)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}
	out, err := c.CombinedOutput()
	require.NoError(r.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o644))
}

// commit commits all files.
func (r *repo) commit(files map[string]string) {
	r.t.Helper()
	for name, content := range files {
		r.write(name, content)
	}
	r.git("add", "--all", "--force", ".")
	r.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "x")
}

// commitTree commits a tree of entries as git mktree reads them.
func (r *repo) commitTree(entries string) {
	r.t.Helper()
	tree := r.gitWith(entries, "mktree", "-z", "--missing")
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "x", tree))
}

func (r *repo) blob(content string) string {
	r.t.Helper()
	return r.gitWith(content, "hash-object", "-w", "--stdin")
}

func openStore(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Dir == "" {
		c.Dir = filepath.Join(t.TempDir(), "mirrors")
	}
	if c.Schemes == nil {
		c.Schemes = []string{"http", "https", "ssh"}
	}
	s, err := Open(c)
	require.NoError(t, err)
	return s
}

func mirrorOf(t testing.TB, s *Store, uri string) *Mirror {
	t.Helper()
	m, err := s.Mirror("m", uri, true)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// filesOf fetches the wanted branches, and returns the files of the only branch by path.
func filesOf(t testing.TB, m *Mirror, w Wanted) map[string]File {
	t.Helper()
	found, err := m.Fetch(t.Context(), w)
	require.NoError(t, err)
	require.Len(t, found, 1)
	files, err := m.Files(t.Context(), found[0].Commit)
	require.NoError(t, err)
	all := map[string]File{}
	for _, f := range files {
		all[f.Path] = f
	}
	return all
}

// contents reads blobs; of a blob that cannot be read it returns the error's text.
func contents(t testing.TB, m *Mirror, oids ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, m.Blobs(t.Context(), oids, 1<<20, func(oid string, content []byte, err error) error {
		all[oid] = string(content)
		if err != nil {
			all[oid] = err.Error()
		}
		return nil
	}))
	return all
}
