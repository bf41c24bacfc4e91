package code

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/fault"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/lease"
)

// Bounds of the requests of workers.
const (
	contentReaders = 8       // batches that are read at a time
	contentRequest = 1 << 20 // bytes of a request
	contentHeader  = 16 << 10
	contentTimeout = 10 * time.Minute // of one batch
	contentGrace   = 5 * time.Second  // for requests in progress when the manager stops
)

// Content serves the files of batches to the workers that hold their leases. Its zero
// value is not usable; see NewContent.
type Content struct {
	url       string
	authorise func(ctx context.Context, batch, leaseID string, token int64) error // set by NewFlow
	readers   chan struct{}

	mu      sync.Mutex // guards batches
	batches map[string]served
}

// served is a batch that workers may read.
type served struct {
	plan   *plan
	source source
}

// NewContent returns a Content that workers reach at a URL, such as "http://manager.local:7413".
func NewContent(url string) *Content {
	return &Content{url: url, readers: make(chan struct{}, contentReaders), batches: map[string]served{}}
}

// URL returns the URL at which workers read files.
func (c *Content) URL() string { return c.url }

// add makes a batch readable. A batch with the same id, of an earlier visit, is replaced.
func (c *Content) add(p *plan, src source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches[p.id] = served{p, src}
}

// remove ends the serving of a batch that add was called with.
func (c *Content) remove(p *plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batches[p.id].plan == p { // else a later visit serves a batch with the same id
		delete(c.batches, p.id)
	}
}

func (c *Content) find(id string) (served, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.batches[id]
	if !ok {
		return s, fmt.Errorf("batch %.40q: %w", id, fault.ErrNotFound)
	}
	return s, nil
}

// Serve serves workers on ln until ctx ends, and closes ln. It returns nil when ctx ends.
func (c *Content) Serve(ctx context.Context, ln net.Listener) error {
	s := &http.Server{
		Handler: c, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: contentTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: contentHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	if err := supervisor.ServeHTTP(ctx, s, ln, contentGrace); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	return nil
}

// ServeHTTP answers GET /batches/ID with the list of the batch's files, and POST
// /batches/ID with the contents of those that the body names. A request must have the
// header "Authorization: Lease ID TOKEN" with the current token of the batch's lease.
func (c *Content) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, "/batches/")
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	s, err := c.admit(r, id)
	if err != nil {
		http.Error(w, err.Error(), fault.Of(err).HTTPStatus)
		return
	}
	if r.Method == http.MethodGet {
		s.writeList(w)
		return
	}
	select {
	case c.readers <- struct{}{}:
		defer func() { <-c.readers }()
	case <-r.Context().Done():
		return
	}
	if err := s.writeContents(w, r); err != nil {
		panic(http.ErrAbortHandler) // the worker must not take the answer for complete
	}
}

// admit returns the batch id if the request comes from the holder of its lease.
func (c *Content) admit(r *http.Request, id string) (served, error) {
	words := strings.Fields(r.Header.Get("Authorization"))
	if len(words) != 3 || words[0] != "Lease" {
		return served{}, fmt.Errorf("%w: want the header Authorization: Lease ID TOKEN", fault.ErrUnauthenticated)
	}
	token, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return served{}, fmt.Errorf("%w: token %.40q", fault.ErrUnauthenticated, words[2])
	}
	s, err := c.find(id)
	if err != nil {
		return served{}, err
	}
	return s, c.authorise(r.Context(), id, words[1], token)
}

// authorise returns nil if a lease with this token is live and has the batch, and fault.ErrForbidden otherwise.
func (f *Flow) authorise(ctx context.Context, batch, leaseID string, token int64) error {
	repo, err := f.awaitSession(ctx)
	if err != nil {
		return err
	}
	l, ok, err := lease.Current(ctx, repo, leaseID)
	if err == nil && (!ok || l.Token != token || !slices.Contains(l.Parts, batch)) {
		err = fmt.Errorf("lease %.40q: %w: it does not cover the batch", leaseID, fault.ErrForbidden)
	}
	return err
}

// writeList writes the files of a batch as JSON. If the source has a mirror, two headers name its
// folder and nonce, so that a worker on this machine reads the files there.
func (s served) writeList(w http.ResponseWriter) {
	files := make([]models.BatchFile, len(s.plan.entries))
	for i, e := range s.plan.entries {
		files[i] = models.BatchFile{OID: string(e.oid), Path: e.path, Size: e.size, Skip: e.skip}
	}
	w.Header().Set("Content-Type", "application/json")
	if dir, nonce := s.source.shared(); dir != "" {
		w.Header().Set(models.HeaderMirror, url.PathEscape(dir))
		w.Header().Set(models.HeaderNonce, nonce)
	}
	_ = json.NewEncoder(w).Encode(files) // an error is the worker's, which sees that the answer is cut off
}

// writeContents writes the files that a request names: for each "OID SIZE\n" and the content, or "OID - REASON\n"
// for one that cannot be read; and "end\n" after the last one. It answers an invalid request with status 400 and
// returns nil. An error means that the answer is incomplete.
func (s served) writeContents(w http.ResponseWriter, r *http.Request) error {
	var wanted []string
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, contentRequest)).Decode(&wanted); err != nil {
		http.Error(w, "body: "+err.Error(), http.StatusBadRequest)
		return nil
	}
	for _, oid := range wanted {
		if !slices.ContainsFunc(s.plan.entries, func(e entry) bool { return string(e.oid) == oid && e.skip == "" }) {
			http.Error(w, fmt.Sprintf("file %.80q is not in the batch", oid), http.StatusBadRequest)
			return nil
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	err := s.source.blobs(r.Context(), wanted, code.MaxBlobBytes, func(oid string, content []byte, err error) error {
		if err != nil {
			_, err = fmt.Fprintf(out, "%s - %s\n", oid, strings.Join(strings.Fields(err.Error()), " "))
			return err
		}
		if _, err := fmt.Fprintf(out, "%s %d\n", oid, len(content)); err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := out.WriteString("end\n"); err != nil {
		return err
	}
	return out.Flush()
}
