package git_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/manager/git"
	"leasehold/models"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func visit(t testing.TB, uri string, v models.Visit) (models.Outcome, error) {
	t.Helper()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	flow := git.Flow{Catalog: &catalogtest.OneOrigin{Only: models.Origin{ID: "o", Kind: models.Git, URI: uri}}, Fetch: f}
	return flow.Visit(t.Context(), v)
}

const (
	one = "1111111111111111111111111111111111111111"
	two = "2222222222222222222222222222222222222222"
)

// repository is what git would make, by hand, so that tests need no git.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"objects", "refs/heads", "refs/tags", "logs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", folder), 0o755))
	}
	write(t, dir, "HEAD", "ref: refs/heads/main\n")
	for name, content := range files {
		write(t, dir, name, content)
	}
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", name), []byte(content), 0o644))
}

func TestACatalogThatIsAwayIsNoFailureOfTheRepository(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"refs/heads/main": one + "\n"})
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	synctest.Test(t, func(t *testing.T) {
		away := &catalogtest.OneOrigin{Only: models.Origin{ID: "o", Kind: models.Git, URI: dir}, Away: 5}
		flow := git.Flow{Catalog: away, Fetch: f, Log: slog.New(slog.DiscardHandler)}
		outcome, err := flow.Visit(t.Context(), models.Visit{})
		require.NoError(t, err)
		require.Equal(t, models.Eventful, outcome.Status)
	})
}

func TestARepositoryIsVisitedByItsRefs(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{
		"refs/heads/main": one + "\n", "packed-refs": "# pack-refs with: peeled\n" + two + " refs/tags/v1\n^" + one + "\n" + two + " refs/heads/main\n",
		"logs/HEAD": strings.Repeat("0", 40) + " " + one + " A B <a@b> 1700000000 +0100\tcommit: one\ncut off",
	})
	first, err := visit(t, dir, models.Visit{})
	require.NoError(t, err)
	require.Equal(t, models.Eventful, first.Status)
	require.Equal(t, 3, first.Items, "HEAD, main, v1")
	require.Equal(t, []time.Time{time.Unix(1700000000, 0).UTC()}, first.ChangedAt)
	known := models.Visit{Known: models.Known{Digest: first.Digest}}
	again, err := visit(t, dir, known)
	require.NoError(t, err)
	require.Equal(t, models.Uneventful, again.Status)
	write(t, dir, "refs/heads/main", two+"\n")
	changed, err := visit(t, dir, known)
	require.NoError(t, err)
	require.Equal(t, models.Eventful, changed.Status)
}

func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

func TestARepositoryBehindHTTPIsAskedForItsRefs(t *testing.T) {
	t.Parallel()
	answer := packet("# service=git-upload-pack\n") + "0000" + packet(one+" HEAD\x00multi_ack symref=HEAD:refs/heads/main\n") +
		packet(one+" refs/heads/main\n") + packet(two+" refs/tags/v1^{}\n") + "0000"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/repo.git/info/refs?service=git-upload-pack" {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	o, err := visit(t, server.URL+"/repo.git", models.Visit{})
	require.NoError(t, err)
	require.Equal(t, 3, o.Items)
	require.EqualValues(t, len(answer), o.Size)
	busy, err := visit(t, server.URL+"/busy", models.Visit{})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.EqualValues(t, 120, busy.RetryAfter)
	_, err = visit(t, server.URL+"/repo.git", models.Visit{Listed: true})
	require.ErrorContains(t, err, "private", "an origin that a lister names is not trusted")
}

// Row 51 of the catalogue of faults, as far as refs go.
func TestFault51NoURLStartsAProgramAndNoPathLeadsOut(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"ext::sh -c id", "ssh://host/x", "git://host/x", "-rf", "file:///etc", "host:path", "--upload-pack=id"} {
		_, err := visit(t, uri, models.Visit{})
		require.Error(t, err, uri)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(one), 0o600))
	dir := repository(t, nil)
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, ".git", "refs", "heads", "leak")))
	o, err := visit(t, dir, models.Visit{})
	require.NoError(t, err)
	require.Equal(t, 1, o.Items, "a link is not followed")
	require.NoError(t, os.Remove(filepath.Join(dir, ".git", "HEAD")))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, ".git", "HEAD")))
	_, err = visit(t, dir, models.Visit{})
	require.Error(t, err)
}

func TestWhatIsNoRepositoryIsToldSo(t *testing.T) {
	t.Parallel()
	_, err := visit(t, t.TempDir(), models.Visit{})
	require.ErrorContains(t, err, "not a git repository")
	_, err = visit(t, filepath.Join(t.TempDir(), "none"), models.Visit{})
	require.ErrorIs(t, err, fault.ErrNotFound)
	for name, content := range map[string]string{"refs/heads/main": "nonsense", "packed-refs": "nonsense here\n", "refs/heads/sp ace": one} {
		_, err := visit(t, repository(t, map[string]string{name: content}), models.Visit{})
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
}

func TestARepositoryMovesWhereItsServerRedirectsForGood(t *testing.T) {
	t.Parallel()
	answer := packet("# service=git-upload-pack\n") + "0000" + packet(one+" HEAD\x00symref=HEAD:refs/heads/main\n") + packet(one+" refs/heads/main\n") + "0000"
	for status, moves := range map[int]bool{301: true, 308: true, 302: false, 307: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/old.git/info/refs":
				http.Redirect(w, r, "/new.git/info/refs?"+r.URL.RawQuery, status)
			case "/odd.git/info/refs":
				http.Redirect(w, r, "/refs", status)
			default:
				fmt.Fprint(w, answer)
			}
		}))
		t.Cleanup(server.Close)
		o, err := visit(t, server.URL+"/old.git", models.Visit{})
		require.NoError(t, err)
		if moves {
			require.Equal(t, &models.Move{To: server.URL + "/new.git", Answers: true}, o.Move, status)
		} else {
			require.Nil(t, o.Move, status)
		}
		o, err = visit(t, server.URL+"/odd.git", models.Visit{})
		require.NoError(t, err)
		require.Nil(t, o.Move, "a repository has another URL")
	}
}
