package elastic

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// Config is how an index is kept.
type Config struct {
	// URL of the server, or of several of its nodes with commas between them. Each may have a user and a password.
	URL    string
	Prefix string // of the names of all indices and aliases; lower-case letters, digits, _ and -
	// Views also writes the text of each file and the report of each repository in the shape of
	// the original indexer, at each publication: about the size of the repository.
	Views bool
	// Gzip asks for compressed answers. That is slower, unless the network is: reading takes two thirds more time
	// of the server, and a part of that of this process.
	Gzip bool
	// Shards and Replicas are the numbers with which an index is created; 0 and nil: the server's defaults. The index of
	// generations has one shard.
	Shards   int
	Replicas *int
	Access   Access

	RetryFor  time.Duration     // how long a request is repeated that the server refuses or does not answer; 0: a minute
	Transport http.RoundTripper // nil: net/http's
	Log       *slog.Logger      // of waits for the server, and of files that it refuses; nil: none
}

// Limits of time.
const (
	// Grace is how long documents stay that searches do not find any more. A search ends
	// before.
	Grace = 10 * time.Minute
	keep  = 24 * time.Hour // of a blob that no generation names
)

// An Index is a code.Searcher and a code.Lister. It connects on first use. Close
// ends it.
type Index struct {
	client   *client
	log      *slog.Logger
	prefix   string
	views    bool
	shards   int // 0, and nil: as the server has it set
	replicas *int
	mappings map[string]object // the fields of each index

	anyMapping bool // indices may have other mappings, because they are copied into new ones

	preparing sync.Mutex // held while indices are created
	prepared  atomic.Bool
	trigrams  sync.Pool // *segment.Trigrams
	cluster   atomic.Pointer[string]

	publishing sync.Mutex // held while a generation is published, and while generations and blobs are removed
	viewed     viewed     // guarded by publishing

	mu         sync.Mutex        // guards all below
	ids        map[string]string // of the indices, by alias; nil: not read yet
	known      *known            // the current generations as they were read
	superseded []superseded
}

var (
	_ code.Searcher = (*Index)(nil)
	_ code.Lister   = (*Index)(nil)
)

var wellFormedPrefix = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]{0,49})?$`)

// New returns the index on the server at c.URL; it sends no request yet. It fails with
// fault.ErrInvalid for a malformed URL or prefix.
func New(c Config) (*Index, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	if c.RetryFor > 0 {
		client.retryFor = c.RetryFor
	}
	if !wellFormedPrefix.MatchString(c.Prefix) {
		return nil, fmt.Errorf("prefix %.80q of the indices: %w: want at most 50 of a-z 0-9 _ -, and a letter or digit first", c.Prefix, fault.ErrInvalid)
	}
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Index{client: client, log: log, prefix: c.Prefix, views: c.Views, shards: c.Shards, replicas: c.Replicas, mappings: mappings, known: &known{},
		trigrams: sync.Pool{New: func() any { return &segment.Trigrams{} }}}, nil
}

// Close closes the connections. It always returns nil.
func (x *Index) Close() error {
	x.client.http.CloseIdleConnections()
	return nil
}

// Cluster returns the id of the cluster that the server belongs to; empty until the server has answered. It sends no
// request.
func (x *Index) Cluster() string {
	if id := x.cluster.Load(); id != nil {
		return *id
	}
	return ""
}

// post sends body to an endpoint of an alias, such as _search, and decodes the answer.
func (x *Index) post(ctx context.Context, alias, action string, query url.Values, body, answer any) error {
	return x.do(ctx, call{method: http.MethodPost, path: x.prefix + alias + "/" + action, query: query, body: asJSON(body), answer: answer})
}

// Missing returns those of ids that the server does not have, each once. It sees blobs that
// searches do not find yet. It fails with fault.ErrInvalid if one is not an object id.
func (x *Index) Missing(ctx context.Context, ids []code.OID) ([]code.OID, error) {
	var asked, missing []code.OID
	seen := make(map[code.OID]bool, len(ids))
	for _, id := range ids {
		if err := id.Check(); err != nil {
			return nil, err
		}
		if !seen[id] {
			asked = append(asked, id)
		}
		seen[id] = true
	}
	err := x.eachBlob(ctx, asked, "", func(id code.OID, b *blob) error {
		if b == nil {
			missing = append(missing, id)
		}
		return nil
	})
	return missing, err
}

// Text returns the content of a blob. It fails with fault.ErrNotFound if the server does not have
// it, or if it was skipped, and with fault.ErrInvalid if id is not an object id.
func (x *Index) Text(ctx context.Context, id code.OID) (text []byte, err error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	err = x.eachBlob(ctx, []code.OID{id}, "info,text,raw", func(_ code.OID, b *blob) error {
		switch {
		case b == nil:
			return fmt.Errorf("blob %s is not indexed: %w", id, fault.ErrNotFound)
		case b.Info.Skipped != "":
			return fmt.Errorf("blob %s is not indexed: %s: %w", id, b.Info.Skipped, fault.ErrNotFound)
		}
		text = b.content()
		return nil
	})
	return text, err
}
