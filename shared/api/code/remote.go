// Package code is the code index of a coordinator, as managers and workers use it over
// the coordinator's API.
//
// A worker builds a segment in a folder of its own and uploads it by its SHA-256 in parts.
// If an upload breaks off, it continues where the coordinator has received it. The
// coordinator checks the hash and the content, and answers when the segment is durable in
// its index. Every call may be repeated, and is repeated if the coordinator cannot be
// reached for a while.
//
// Errors have the kinds that the index returns (package code).
package code

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// Bounds of calls.
const (
	idsAtOnce   = 10_000          // of Missing: less than 1 MiB of JSON
	partBytes   = 1 << 20         // of a segment in one request: what a body may have
	bulkTimeout = 5 * time.Minute // of one request
	uploadTries = 3               // of a segment that arrived damaged
)

// Client is the code index of a coordinator. It may be used concurrently.
type Client struct {
	api *client.Client
	dir string
}

// New returns a client of the API at base, which builds segments in the folder dir. It connects on
// first use. It removes the contents of dir, because a crash may have left segments there. It fails
// with fault.ErrFolder if dir cannot be made, or one for an invalid base.
func New(base, dir string) (*Client, error) {
	api, err := client.New(base)
	if err != nil {
		return nil, err
	}
	return Over(api, dir)
}

// Over is New with a client that calls the API, which it closes.
func Over(api *client.Client, dir string) (*Client, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("segments: %w: %w", fault.ErrFolder, err)
	}
	return &Client{api: api, dir: dir}, nil
}

// Close waits for calls in progress and closes the connections.
func (c *Client) Close() error { return c.api.Close() }

// call sends a request, which may be repeated, and decodes the answer into answer, unless it is
// nil.
func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	return c.do(ctx, client.Call{Method: method, Path: path, Body: body, Answer: answer})
}

// do is call for a request with a query.
func (c *Client) do(ctx context.Context, x client.Call) error {
	x.Path, x.Timeout, x.Repeat = "index/"+x.Path, bulkTimeout, true
	if _, err := c.api.Do(ctx, x); err != nil {
		return fmt.Errorf("code index: %w", err)
	}
	return nil
}

// Missing is code.Searcher.Missing, in requests of at most idsAtOnce ids.
func (c *Client) Missing(ctx context.Context, ids []code.OID) (missing []code.OID, err error) {
	for len(ids) > 0 {
		n := min(len(ids), idsAtOnce)
		asked := types.BlobIDs{IDs: make([]string, n)}
		for i, id := range ids[:n] {
			asked.IDs[i] = string(id)
		}
		var found types.BlobIDs
		if err := c.call(ctx, "POST", "missing", asked, &found); err != nil {
			return nil, err
		}
		for _, id := range found.IDs {
			missing = append(missing, code.OID(id))
		}
		ids = ids[n:]
	}
	return missing, nil
}

// Complete reports whether an origin was published, and no file of it was lost.
func (c *Client) Complete(ctx context.Context, id string) (bool, error) {
	var state types.GenerationState
	err := c.call(ctx, "GET", "generations/"+url.PathEscape(id), nil, &state)
	return state.Complete, err
}

// Publish is code.Searcher.Publish. It fails with fault.ErrNotFound if the origin was removed, and
// fault.ErrTooLarge for more files than one request holds (64 MiB).
func (c *Client) Publish(ctx context.Context, m code.Manifest) error {
	g := types.Generation{ID: m.RepoID, Repo: m.Repo, Refs: []types.GenerationRef{}, Files: make([]types.GenerationFile, len(m.Files))}
	number := map[string]int{}
	for i, r := range m.Refs {
		number[r.Name] = i
		g.Refs = append(g.Refs, types.GenerationRef{Name: r.Name, Commit: r.Commit, Time: r.Time})
	}
	for i, f := range m.Files {
		g.Files[i] = types.GenerationFile{Ref: number[f.Ref], Path: []byte(f.Path), OID: string(f.OID), Vendored: f.Vendored}
	}
	return c.call(ctx, "POST", "generations", g, nil)
}

// Put builds a segment of a batch of blobs, uploads it, and returns its SHA-256. The segment is
// durable in the coordinator's index then. If the segment arrives damaged, or the coordinator has
// lost received parts (fault.ErrConflict), Put uploads it again, uploadTries times in all.
func (c *Client) Put(ctx context.Context, batch string, blobs []code.Blob) (hash string, err error) {
	path, err := segment.Write(ctx, c.dir, blobs, segment.Options{})
	if err != nil {
		return "", fmt.Errorf("batch %s: %w", batch, err)
	}
	defer os.Remove(path)
	hash = segment.Hash(path)
	for try := 1; ; try++ {
		err = c.upload(ctx, batch, path)
		if !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrConflict) || try == uploadTries {
			return hash, err
		}
	}
}

// upload sends the parts of the segment at path that the coordinator lacks, and commits it. The
// coordinator answers each part with the bytes that it has by then.
func (c *Client) upload(ctx context.Context, batch, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("segment %s: %w: %w", filepath.Base(path), fault.ErrFolder, err)
	}
	defer f.Close()
	at := "segments/" + url.PathEscape(segment.Hash(path))
	var state types.SegmentState
	if err := c.call(ctx, "GET", at, nil, &state); err != nil {
		return err
	}
	part := make([]byte, partBytes)
	for {
		n, err := f.ReadAt(part, state.Received)
		if n == 0 && errors.Is(err, io.EOF) {
			return c.call(ctx, "POST", at+"/commit", types.SegmentCommit{Batch: batch}, nil)
		}
		if n == 0 {
			return fmt.Errorf("segment %s: %w: %w", filepath.Base(path), fault.ErrFolder, err)
		}
		before := state.Received
		offset := url.Values{"offset": {strconv.FormatInt(before, 10)}}
		if err := c.do(ctx, client.Call{Method: "POST", Path: at + "/parts", Query: offset, Body: types.Octets(part[:n]), Answer: &state}); err != nil {
			return err
		}
		if state.Received <= before {
			return fmt.Errorf("segment %s: %w: the coordinator has received %d bytes, and had %d", filepath.Base(path), fault.ErrConflict, state.Received, before)
		}
	}
}
