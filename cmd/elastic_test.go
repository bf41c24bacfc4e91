//go:build unix

package cmd

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/shared/code/elastic/elastictest"
)

// searchServer is a search server in memory that remembers which users have written blobs.
type searchServer struct {
	*elastictest.Server
	url string // without its scheme

	mu      sync.Mutex // guards writers
	writers map[string]bool
}

func newSearchServer(t *testing.T) *searchServer {
	s := &searchServer{Server: elastictest.New(), writers: map[string]bool{}}
	s.Fail = func(r *http.Request, body string) *elastictest.Answer {
		if user, _, _ := r.BasicAuth(); strings.HasSuffix(r.URL.Path, "/_bulk") && strings.Contains(body, "leasehold-blobs") {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.writers[user] = true
		}
		return nil
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = strings.TrimPrefix(server.URL, "http://")
	return s
}

// as is the URL of the server with a user and a password.
func (s *searchServer) as(user string) string { return "http://" + user + ":s3cret@" + s.url }

// sourceRepository makes a repository with code in two languages, and a file that is left out.
func sourceRepository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "lib"), 0o755))
	for path, text := range map[string]string{
		"main.go":     "package main\n\ntype Server struct{ n int }\n\nfunc (s *Server) Start() {\n\tif f() == 1 {\n\t\ts.n++\n\t}\n}\n",
		"lib/tool.py": "class Tool:\n    def start(self):\n        return 'Start'\n",
		"lib/latin":   "caf\xe9 Start\n",
		"zero":        "a\x00",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}} {
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

// codeCommands are the commands of code search.
var codeCommands = [][]string{
	{"search", "Start"}, {"search", "-i", "-C", "1", "start lang:go"}, {"search", "--json", "/(St|f)art?/"}, {"search", "sym:Start or file:latin"},
	{"search", "-o", "csv", "-file:lib start or Tool"}, {"search", "nothingHasThis"}, {"search", "/caf. S/"}, {"search", "/(/"}, {"symbols", "start"},
	{"report", "repo"}, {"report", "repo", "--json"}, {"report", "repo", "--skipped"}, {"report", "elsewhere"},
}

// answers runs the commands, and returns their output without its order, and their exit codes.
func answers(t *testing.T, dir string, environment []string, flags ...string) (all [][]string) {
	t.Helper()
	for _, args := range codeCommands {
		c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), append(slices.Clone(args), flags...)...)
		c.Dir, c.Env = dir, append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, environment...)
		out, err := c.Output()
		if err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError))
		}
		rows := strings.Split(string(out), "\n")
		slices.Sort(rows)
		all = append(all, append(rows, c.ProcessState.String()))
	}
	return all
}

func TestASearchServerGivesTheAnswersOfTheEmbeddedIndex(t *testing.T) {
	t.Parallel()
	dir, repo, server := t.TempDir(), sourceRepository(t), newSearchServer(t)
	program := filepath.Join(realBinary(t), "leasehold")
	run := func(environment []string, args ...string) string {
		c := exec.CommandContext(t.Context(), program, append([]string{"run", repo, "--until-idle", "--log-level", "warn"}, args...)...)
		c.Dir, c.Env = dir, append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, environment...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	run(nil, "--data", "embedded")
	environment := []string{"ELASTICSEARCH_URL=" + server.as("run"), "LEASEHOLD_SEARCH_VIEWS=true"}
	out := run(environment, "--data", "server")
	require.Contains(t, out, "4 files indexed")
	require.NotContains(t, out, "s3cret")
	require.NoDirExists(t, filepath.Join(dir, "server", "index", "segments"))
	want := answers(t, dir, nil, "--data", "embedded")
	require.Contains(t, strings.Join(want[0], "\n"), "main.go:5:")
	require.Equal(t, want, answers(t, dir, environment, "--data", "server"))
	require.Equal(t, want[0], answers(t, dir, nil, "--data", "server", "--search", server.as("run"))[0])

	found := server.Documents("files")
	require.Len(t, found, 3, "the view has all files that are indexed")
	for _, d := range found {
		if d["filename"] == "lib/tool.py" {
			require.Equal(t, "Python", d["language"])
			require.Equal(t, []any{"class Tool:", "    def start(self):", "        return 'Start'"}, d["lines"])
			require.True(t, strings.HasSuffix(d["repository"].(string), "/repo"))
		}
	}
	require.Len(t, server.Documents("report"), 1)

	c := exec.CommandContext(t.Context(), program, "index", "rebuild", "--search-shards", "3")
	c.Dir, c.Env = dir, append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, environment...)
	rebuilt, err := c.CombinedOutput()
	require.NoError(t, err, "%s", rebuilt)
	require.Regexp(t, `^leasehold-blobs-2, leasehold-files-2: 4 blobs, 4 files in .*s; writes were refused for .*s\n$`, string(rebuilt))
	require.Equal(t, want, answers(t, dir, environment, "--data", "server"))
}

func TestOnlyAnIndexOnASearchServerIsRebuilt(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), "index", "rebuild")
	c.Dir, c.Env = t.TempDir(), nil
	out, err := c.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 2, c.ProcessState.ExitCode())
	require.Contains(t, string(out), "--search URL is needed: only an index on a search server is rebuilt")
}

// TestTheSummaryOfARunWaitsForASearchServerThatIsBrieflyAway has a server that refuses the list of files twice, and asks for
// a longer pause than a request waits.
func TestTheSummaryOfARunWaitsForASearchServerThatIsBrieflyAway(t *testing.T) {
	t.Parallel()
	dir, repo, server := t.TempDir(), sourceRepository(t), newSearchServer(t)
	refused := 0
	server.Fail = func(r *http.Request, body string) *elastictest.Answer {
		server.mu.Lock()
		defer server.mu.Unlock()
		if !strings.Contains(body, `"sort":[{"filename"`) || refused == 2 {
			return nil
		}
		refused++
		return &elastictest.Answer{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}},
			Body: `{"error":{"type":"no_shard_available_action_exception","reason":"a test"},"status":503}`}
	}
	c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), "run", repo, "--until-idle", "--data", "d", "--search", server.as("run"))
	c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Start")
	server.mu.Lock()
	defer server.mu.Unlock()
	require.Equal(t, 2, refused)
}

func TestARunTellsThatTheSearchServerRefusesWrites(t *testing.T) {
	t.Parallel()
	dir, repo, server := t.TempDir(), sourceRepository(t), newSearchServer(t)
	var accepts atomic.Bool
	server.Fail = func(r *http.Request, body string) *elastictest.Answer {
		if !strings.HasSuffix(r.URL.Path, "/_bulk") || accepts.Load() {
			return nil
		}
		return &elastictest.Answer{Status: http.StatusTooManyRequests}
	}
	p := start(t, dir, filepath.Join(realBinary(t), "leasehold"), "run", repo, "--until-idle", "--data", "d", "--search", server.as("run"))
	p.awaitText("the search server refuses requests or does not answer; they are repeated")
	accepts.Store(true)
	require.Zero(t, p.end().ExitCode(), p.text())
	require.NotEmpty(t, server.Documents("leasehold-blobs"))
}

func TestWorkersWriteToTheSearchServerThemselves(t *testing.T) {
	t.Parallel()
	dir, repo, server := t.TempDir(), sourceRepository(t), newSearchServer(t)
	program := filepath.Join(realBinary(t), "leasehold")
	h := startCoordinatorProcess(t, dir, program, "coordinator", "--data", "c", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--search", server.as("coordinator"))
	start(t, dir, program, "manager", "--data", "m", "--host", h.at.Gate)
	start(t, dir, program, "worker", "--data", "w", "--host", h.at.Gate, "--search", server.as("worker"))
	out, err := exec.CommandContext(t.Context(), program, "origin", "add", repo, "--host", h.at.Gate, "--http", h.at.HTTP, "--data", filepath.Join(dir, "c")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	h.awaitAnswer("/api/v1/search?q=Start", `"path":"main.go"`)
	h.awaitAnswer("/api/v1/search?q=Start", `"done":{"matches":3`)
	h.awaitAnswer("/api/v1/files", `"path":"zero"`)
	h.awaitAnswer("/api/v1/report?repo=repo", `"receiver":"Server"`)
	server.mu.Lock()
	require.Equal(t, map[string]bool{"worker": true}, server.writers)
	server.mu.Unlock()
	require.NotContains(t, h.text(), "s3cret")

	other := newSearchServer(t)
	other.Cluster = "another-cluster"
	doctor := func(search string) string {
		c := exec.CommandContext(t.Context(), program, "doctor", "--host", h.at.Gate, "--http", h.at.HTTP, "--data", filepath.Join(dir, "c"), "--search", search)
		out, err := c.CombinedOutput()
		if err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError), "%s", out)
		}
		require.NotContains(t, string(out), "s3cret")
		return strings.Join(strings.Fields(string(out)), " ")
	}
	require.Contains(t, doctor(server.as("worker")), "search cluster ok this machine and the coordinator use cluster cluster-in-memory")
	require.Contains(t, doctor(other.as("worker")), "this machine uses cluster another-cluster, and the coordinator cluster-in-memory")
}

// TestAWorkerOfTheOriginalIndexerStarts reads the configuration of
// docker run -e mode=worker -e host=coordinator -e ELASTICSEARCH_URL=URL leasehold.
func TestAWorkerOfTheOriginalIndexerStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(environment ...string) (string, int) {
		c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), "config", "show")
		c.Dir, c.Env = dir, append([]string{"HOME=" + dir}, environment...)
		out, err := c.CombinedOutput()
		if err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError))
		}
		return string(out), c.ProcessState.ExitCode()
	}
	out, code := run("mode=worker", "host=coordinator", "ELASTICSEARCH_URL=http://elastic:s3cret@elasticsearch:9200")
	require.Zero(t, code, out)
	require.Regexp(t, `(?m)^mode +worker +environment variable mode$`, out)
	require.Regexp(t, `(?m)^search +http://elasticsearch:9200/… +environment variable ELASTICSEARCH_URL$`, out)
	require.NotContains(t, out, "s3cret")
	for _, wrong := range []string{"elastic:s3cret@elasticsearch:9200", "ftp://elastic:s3cret@elasticsearch", "http://elastic:s3cret@"} {
		out, code = run("mode=worker", "host=coordinator", "ELASTICSEARCH_URL="+wrong)
		require.Equal(t, 2, code, out)
		require.Contains(t, out, "search must be a URL")
		require.NotContains(t, out, "s3cret")
	}
}

// TestTheComposeFileOfElasticsearchIsValid reads the settings of each container of
// compose.yaml with compose.elasticsearch.yaml over it.
func TestTheComposeFileOfElasticsearchIsValid(t *testing.T) {
	t.Parallel()
	type service struct {
		Image       string
		Environment map[string]any
		Healthcheck struct{ Test []string }
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	}
	read := func(file string) map[string]service {
		data, err := os.ReadFile(filepath.Join("../docker", file))
		require.NoError(t, err)
		var doc struct{ Services map[string]service }
		require.NoError(t, yaml.Unmarshal(data, &doc))
		return doc.Services
	}
	base, over := read("compose.yaml"), read("compose.elasticsearch.yaml")
	require.NotEmpty(t, over["elasticsearch"].Image)
	require.NotEmpty(t, over["elasticsearch"].Healthcheck.Test)
	require.Equal(t, "single-node", over["elasticsearch"].Environment["discovery.type"])
	for name, s := range over {
		if name == "elasticsearch" {
			continue
		}
		require.Contains(t, base, name, "it only adds to the services of compose.yaml")
		require.Equal(t, "service_healthy", s.DependsOn["elasticsearch"].Condition)
		c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), "config", "show")
		c.Dir, c.Env = t.TempDir(), []string{"HOME=" + t.TempDir()}
		for _, environment := range []map[string]any{base[name].Environment, s.Environment} {
			for key, value := range environment {
				c.Env = append(c.Env, key+"="+toText(value))
			}
		}
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Regexp(t, `(?m)^search +http://elasticsearch:9200/… `, string(out))
	}
	require.Contains(t, over, "coordinator")
	require.Contains(t, over, "worker")
}

func toText(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return strings.Trim(strings.TrimSpace(string(text)), `"`)
}
