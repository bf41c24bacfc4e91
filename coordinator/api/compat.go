package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
)

// maxCompatURL is how long the URL of a repository may be, in bytes.
const maxCompatURL = 4096

// maxLogLines is how many lines of the log one answer has.
const maxLogLines = 1000

// NewCompat returns the handler of the control endpoints of the indexer that inspired code search, for scripts
// that call them: POST /add, GET /repo, /tasks, /status and /log. It answers as the API does, with JSON objects
// and problem documents. It has slots and quotas of its own, and the same guards as New. It starts nothing.
func NewCompat(c Config) http.Handler {
	s := newServer(c)
	mux := http.NewServeMux()
	for _, r := range s.compatRoutes() {
		mux.Handle(r.method+" "+r.path, s.serve(r))
		mux.Handle(r.path, refuseMethod([]string{r.method}))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, fault.Of(fault.ErrNotFound), fmt.Sprintf("%.100q does not exist: use POST /add, or GET /repo, /tasks, /status or /log", r.URL.Path))
	})
	return s.guard(mux)
}

// compatRoutes declares the control endpoints: handlers of the API at paths without v1.
func (s *server) compatRoutes() []route {
	add := on("addRepository", "POST", "/add", "Add the repository whose URL is the body, or visit it again.", s.compatAdd).returns(201, 200)
	add.body = reflect.TypeFor[string]()
	all := []route{
		add,
		on("listRepositories", "GET", "/repo", "List the repositories.", s.compatRepos, page(maxPage)...),
		on("listTasks", "GET", "/tasks", "List the tasks.", s.listTasks, append(slices.Clone(byTask), byState)...),
		on("listStatus", "GET", "/status", "List the sessions and what they do.", s.listSessions, page(maxPage)...),
		on("listLog", "GET", "/log", "List the latest lines of the log, the oldest first.", s.compatLog, limit(100, maxLogLines)),
	}
	for i := range all {
		all[i].path = strings.TrimPrefix(all[i].path, v1)
	}
	return all
}

// compatAdd adds a repository by its URL; a path is refused with fault.ErrInvalid, because the endpoint has no
// means to tell whether the caller is the operator. A known repository is visited again.
func (s *server) compatAdd(ctx context.Context, q *request) (models.Origin, error) {
	text, err := io.ReadAll(io.LimitReader(q.Body, maxCompatURL+1))
	if err != nil {
		return models.Origin{}, fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	uri := strings.TrimSpace(string(text))
	if len(text) > maxCompatURL || !models.IsWebURL(uri) && !models.IsSSHURL(uri) {
		return models.Origin{}, fmt.Errorf("body %.100q: %w: want the URL of a repository, such as https://example.org/x.git or ssh://example.org/x.git, in at most %d bytes",
			models.Redact(uri), fault.ErrInvalid, maxCompatURL)
	}
	o, err := s.addOrigin(ctx, q, types.NewOrigin{Kind: models.Git, URI: uri})
	q.location = "" // the origin has no address here
	if wasKnown := q.status == http.StatusOK; err == nil && wasKnown {
		_, err = s.addVisit(ctx, q, types.NewVisit{Origin: o.ID})
	}
	return o, err
}

// compatRepos lists the origins whose files are indexed.
func (s *server) compatRepos(ctx context.Context, q *request) (types.Page[models.Origin], error) {
	all, err := s.Catalog.Origins(ctx)
	return cut(q, slices.DeleteFunc(all, func(o models.Origin) bool { return o.Kind.Info().Flow != models.IndexFlow })), err
}

// compatLog lists the latest lines of the space "log", which drops its oldest.
func (s *server) compatLog(ctx context.Context, q *request) (types.Page[types.LogLine], error) {
	lines, err := status.Lines(ctx, s.repo)
	slices.SortStableFunc(lines, func(a, b status.Line) int { return a.At.Compare(b.At) })
	latest := lines[max(0, len(lines)-q.number("limit")):]
	return toPage(latest, len(lines), func(l status.Line) types.LogLine {
		return types.LogLine{At: l.At, Session: l.ID, Level: l.Level, Message: l.Message}
	}), err
}
