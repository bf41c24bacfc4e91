package code

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/gitrepo"
)

// sharing is a manager on this machine that has a mirror.
type sharing struct {
	files  []models.BatchFile
	mirror *gitrepo.Mirror
	dir    string // that it names
	nonce  string
	asked  []string // files that workers read over HTTP
}

// newSharing makes a repository with contents, and the mirror of it.
func newSharing(t testing.TB, contents ...string) *sharing {
	t.Helper()
	origin := t.TempDir()
	git := func(input string, args ...string) string {
		c := exec.Command("git", append([]string{"-C", origin, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Stdin = strings.NewReader(input)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q", "-b", "main")
	m := &sharing{}
	var tree strings.Builder
	for i, content := range contents {
		f := models.BatchFile{OID: git(content, "hash-object", "-w", "--stdin"), Path: fmt.Sprintf("f%d.txt", i), Size: int64(len(content))}
		m.files = append(m.files, f)
		fmt.Fprintf(&tree, "100644 blob %s\t%s\n", f.OID, f.Path)
	}
	git("", "update-ref", "refs/heads/main", git("", "commit-tree", "-m", "x", git(tree.String(), "mktree")))
	store, err := gitrepo.Open(gitrepo.Config{Dir: filepath.Join(t.TempDir(), "mirrors")})
	require.NoError(t, err)
	m.mirror, err = store.Mirror("m", origin, true)
	require.NoError(t, err)
	t.Cleanup(m.mirror.Close)
	_, err = m.mirror.Fetch(t.Context(), gitrepo.Wanted{})
	require.NoError(t, err)
	m.dir, m.nonce, err = m.mirror.Share()
	require.NoError(t, err)
	return m
}

func (m *sharing) serve(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Lease l7 7" {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodGet {
			w.Header().Set(models.HeaderMirror, url.PathEscape(m.dir))
			w.Header().Set(models.HeaderNonce, m.nonce)
			_ = json.NewEncoder(w).Encode(m.files)
			return
		}
		var oids []string
		if err := json.NewDecoder(r.Body).Decode(&oids); err != nil {
			t.Error(err)
		}
		m.asked = append(m.asked, oids...)
		_ = m.mirror.Blobs(r.Context(), oids, 1<<20, func(oid string, content []byte, err error) error {
			if err != nil {
				fmt.Fprintf(w, "%s - %s\n", oid, err)
			} else {
				fmt.Fprintf(w, "%s %d\n%s", oid, len(content), content)
			}
			return nil
		})
		fmt.Fprint(w, "end\n")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAWorkerOnTheManagersMachineReadsTheMirror(t *testing.T) {
	t.Parallel()
	m := newSharing(t, "one\n", "two\n")
	x := &index{Naive: codetest.NewNaive()}
	j, err := handle(t, x, m.serve(t))
	require.NoError(t, err)
	require.Equal(t, 2, j.result.Files)
	require.Empty(t, m.asked, "no content over HTTP")
	missing, err := x.Missing(t.Context(), []code.OID{code.OID(m.files[0].OID), code.OID(m.files[1].OID)})
	require.NoError(t, err)
	require.Empty(t, missing)
}

func TestAWorkerReadsOverHTTPWhatItCannotReadInTheMirror(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sharing){
		"another machine":  func(m *sharing) { m.dir = "/nowhere/m.git" },
		"another nonce":    func(m *sharing) { m.nonce = strings.Repeat("x", len(m.nonce)) },
		"no nonce":         func(m *sharing) { m.nonce = "" },
		"no mirror":        func(m *sharing) { m.dir = "" },
		"a relative path":  func(m *sharing) { m.dir = "../m.git" },
		"not a mirror":     func(m *sharing) { m.dir = filepath.Dir(m.dir) },
		"a file is absent": func(m *sharing) { m.files = append(m.files, models.BatchFile{OID: strings.Repeat("1", 40), Path: "x"}) },
	} {
		m := newSharing(t, "one\n", "two\n")
		change(m)
		j, err := handle(t, &index{Naive: codetest.NewNaive()}, m.serve(t))
		require.NoError(t, err, name)
		require.Equal(t, 2, j.result.Files, name)
		if name == "a file is absent" {
			require.Equal(t, []string{m.files[2].OID}, m.asked)
			require.Contains(t, j.result.Unreadable[0].Reason, "missing")
		} else {
			require.Len(t, m.asked, 2, name)
		}
	}
}

func BenchmarkContent(b *testing.B) {
	contents := make([]string, 1000)
	for i := range contents {
		contents[i] = strings.Repeat(fmt.Sprintf("line %d of a file\n", i), 8<<20/1000/20)
	}
	m := newSharing(b, contents...)
	dir := m.dir
	for _, from := range []string{"http", "mirror"} {
		b.Run(from, func(b *testing.B) {
			m.dir = dir
			if from == "http" {
				m.dir = ""
			}
			c := content{client: newClient(nil), url: m.serve(b), batch: "b1", lease: "l7", token: 7}
			defer c.client.http.CloseIdleConnections()
			for b.Loop() {
				files, err := c.listFiles(b.Context())
				require.NoError(b, err)
				require.NoError(b, c.readFiles(b.Context(), files, func(_ models.BatchFile, content []byte, problem string) error {
					b.SetBytes(int64(len(content)) * int64(len(files)))
					if problem != "" {
						return errors.New(problem)
					}
					return nil
				}))
			}
		})
	}
}
