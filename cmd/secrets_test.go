package cmd

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A feed that needs a password is visited, one fails, and an episode of it is fetched for
// research with the password. The passwords are in no output, page, metric or file but the
// rows of the origins; no other user can read a file.
func TestFault54PasswordsOfOriginsAppearNowhere(t *testing.T) {
	t.Parallel()
	const user, password = "bob-marked", "s3cret-marked"
	server := privateFeed(t, user, password)
	secret := func(path string) string {
		return strings.Replace(server.URL, "://", "://"+user+":"+password+"@", 1) + path
	}
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	var seen bytes.Buffer
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator", "--trace", "trace.jsonl", "--log-level", "debug"}, anyPorts...)...)
	run := func(args ...string) {
		c := exec.Command(leasehold, append(args, "--data", "other", "--host", h.at.Gate)...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		out, _ := c.CombinedOutput() // some commands fail
		fmt.Fprintf(&seen, "leasehold %s: %s\n", args[0], out)
	}
	clips, err := filepath.Abs("../examples/podcast/clips")
	require.NoError(t, err)
	run("origin", "add", "--kind", "clips", clips)
	run("origin", "add", "--kind", "feed", secret("/feed.xml"))
	run("origin", "add", "--kind", "feed", secret("/missing.xml"))
	run("origin", "add", "--kind", "feed", secret("/feed.xml")+"%zz")
	m := start(t, dir, leasehold, "manager", "--data", "m", "--log-level", "debug", "--host", h.at.Gate)
	w := start(t, dir, leasehold, "worker", "--data", "w", "--log-level", "debug", "--host", h.at.Gate)
	h.awaitAnswer("/api/v1/episodes", "one.wav")
	h.awaitAnswer("/api/v1/problems", "404")
	h.awaitAnswer("/api/v1/problems", "410")
	for _, output := range []string{"table", "json", "jsonl", "csv"} {
		for _, args := range [][]string{
			{"origin", "list"}, {"origin", "show", secret("/feed.xml")}, {"problems"}, {"visits", "next"}, {"status"}, {"findings"}, {"episode", "list"}, {"log"},
			{"space", "query", "visit", "..."}, {"space", "query", "task", "..."},
		} {
			run(append(args, "-o", output)...)
		}
	}
	run("origin", "disable", secret("/missing.xml"))
	for _, path := range []string{
		"/", "/metrics", "/healthz", "/readyz", "/api/v1/origins", "/api/v1/episodes", "/api/v1/problems", "/api/v1/status", "/api/v1/visits/next",
		"/api/v1/visits", "/api/v1/tasks", "/api/v1/dead", "/api/v1/spaces/visit/tuples?held=true", "/api/v1/spaces/task/tuples?held=true", "/api/v1/listers",
	} {
		fmt.Fprintf(&seen, "GET %s: %s\n", path, h.ask(path))
	}
	for _, p := range []*process{w, m, h.process} {
		p.signal(syscall.SIGTERM)
		p.end()
		fmt.Fprintf(&seen, "log: %s\n", p.text())
	}
	require.Contains(t, seen.String(), "://xxxxx@", "what is printed is redacted")
	for line := range strings.Lines(seen.String()) {
		require.NotContains(t, line, password)
		require.NotContains(t, line, user)
	}
	requireNoFileContains(t, dir, password)
}

// privateFeed is a server of a feed with one episode, which is gone.
func privateFeed(t *testing.T, user, password string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, pass, _ := r.BasicAuth()
		switch {
		case name != user || pass != password:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/feed.xml":
			fmt.Fprint(w, `<rss version="2.0"><channel><title>x</title><item><title>one</title><guid>1</guid>`+
				`<enclosure url="one.wav" type="audio/wav" length="9"/></item></channel></rss>`)
		case r.URL.Path == "/one.wav" && r.Method == http.MethodGet:
			w.WriteHeader(http.StatusGone)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// requireNoFileContains sees that no file below a folder has a text except the rows of the
// origins, and that no other user can read a file.
func requireNoFileContains(t *testing.T, dir, text string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		if path != dir {
			require.Zero(t, info.Mode().Perm()&0o077, "%s has mode %s", path, info.Mode())
		}
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		if name == filepath.Join("c", "catalog.db") {
			requireOnlyOriginsContain(t, path, text)
		}
		if e.IsDir() || strings.HasPrefix(name, filepath.Join("c", "catalog.db")) {
			return nil
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(data), text, name)
		return nil
	}))
}

// requireOnlyOriginsContain sees that no table of a database has a text except the table of origins.
func requireOnlyOriginsContain(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	tables, err := db.Query("SELECT m.name, group_concat(quote(c.name), ' || char(10) || ') FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY 1")
	require.NoError(t, err)
	found := map[string]int{}
	for tables.Next() {
		var table, columns string
		require.NoError(t, tables.Scan(&table, &columns))
		columns = strings.ReplaceAll(columns, "'", "\"")
		columns = "coalesce(" + strings.ReplaceAll(columns, " || char(10) || ", ", '') || char(10) || coalesce(") + ", '')"
		var n int
		require.NoError(t, db.QueryRow("SELECT count(*) FROM \""+table+"\" WHERE instr("+columns+", ?) > 0", text).Scan(&n), table)
		if n > 0 {
			found[table] = n
		}
	}
	require.NoError(t, tables.Err())
	require.Equal(t, map[string]int{"origin": 2}, found, "rows with a password, by table")
}
