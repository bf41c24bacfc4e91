package code

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
)

// Bounds of the answers of a manager.
const (
	maxList      = 64 << 20 // bytes of the list of files
	maxFiles     = 10_000   // of a batch
	maxBatch     = 64 << 20 // bytes of the contents of a batch
	maxErrorText = 400      // bytes of an answer that an error quotes
	dialTimeout  = 10 * time.Second
	callTimeout  = 10 * time.Minute
)

// client calls managers.
type client struct {
	http   *http.Client
	scheme string // of their URLs
}

// newClient returns a client for the managers' contents. It uses no proxy, because managers are
// on the same machine or network, and follows no redirect, because a manager sends none. With a configuration of TLS
// it calls managers over TLS only.
func newClient(secured *tls.Config) *client {
	dialer := net.Dialer{Timeout: dialTimeout}
	c := &client{scheme: "http", http: &http.Client{
		Timeout:       callTimeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: secured, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if secured != nil {
		c.scheme = "https"
	}
	return c
}

// Close closes the idle connections; it always returns nil.
func (h *Handler) Close() error {
	h.client.http.CloseIdleConnections()
	return nil
}

// unreachableError is the error of a manager that does not serve a batch any more.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// content is a batch at the manager that serves it.
type content struct {
	client     *client
	url, batch string
	lease      string
	token      int64

	mirror *gitrepo.Mirror // on this machine; nil: files are read from url
}

// request sends a request about the batch with the lease of the task, and returns the answer, whose body the
// caller closes. Any status but 200 means that this manager does not serve the batch to this worker; the error is
// an unreachableError then, as it is if the manager does not answer.
func (c content) request(ctx context.Context, method string, body any) (*http.Response, error) {
	u, err := url.Parse(c.url)
	if err != nil || u.Scheme != c.client.scheme || u.Host == "" || !models.ValidID(c.batch) {
		return nil, fmt.Errorf("content %.80q of batch %.40q: %w: want the URL of a manager, with %s", c.url, c.batch, fault.ErrInvalid, c.client.scheme)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, u.JoinPath("batches", c.batch).String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Lease "+c.lease+" "+strconv.FormatInt(c.token, 10))
	answer, err := c.client.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &unreachableError{fmt.Errorf("the manager's files: %w: %w", fault.ErrUnavailable, err)}
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorText)) // a part of the reason is enough
		answer.Body.Close()
		return nil, &unreachableError{fmt.Errorf("the manager's files: %s: %s", answer.Status, strings.TrimSpace(string(text)))}
	}
	return answer, nil
}

// listFiles returns the files of the batch. If the manager names a mirror that is on this machine, it sets
// c.mirror; otherwise readFiles asks the manager. The manager answers only if the lease is current. An answer
// that breaks off is an unreachableError.
func (c *content) listFiles(ctx context.Context) (files []models.BatchFile, err error) {
	answer, err := c.request(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxList)).Decode(&files); err != nil {
		return nil, c.brokenOff(ctx, err)
	}
	if len(files) > maxFiles {
		return nil, fmt.Errorf("batch of %d files: %w: at most %d", len(files), fault.ErrTooLarge, maxFiles)
	}
	for _, f := range files {
		if err := code.OID(f.OID).Check(); err != nil {
			return nil, err
		}
	}
	dir, err := url.PathUnescape(answer.Header.Get(models.HeaderMirror))
	if err == nil && dir != "" {
		// An error means that the mirror is not on this machine; then c.mirror is nil.
		c.mirror, _ = gitrepo.OpenShared(dir, answer.Header.Get(models.HeaderNonce))
	}
	return files, nil
}

// readMirror calls visit with the content of each file that it reads from the mirror, and returns the others:
// those that cannot be read, and if the mirror disappears all that remain. The manager is asked for them, because
// it knows the reason. Without a mirror it returns all files.
func (c content) readMirror(ctx context.Context, files []models.BatchFile, visit func(f models.BatchFile, content []byte, problem string) error) (others []models.BatchFile, err error) {
	if c.mirror == nil {
		return files, nil
	}
	byID := make(map[string]models.BatchFile, len(files))
	oids := make([]string, len(files))
	for i, f := range files {
		byID[f.OID], oids[i] = f, f.OID
	}
	var failed error // of visit
	err = c.mirror.Blobs(ctx, oids, code.MaxBlobBytes, func(oid string, data []byte, problem error) error {
		f := byID[oid]
		// byID keeps the files without an answer.
		if delete(byID, oid); problem != nil || !gitrepo.IsBlob(oid, data) {
			others = append(others, f)
			return nil
		}
		failed = visit(f, bytes.Clone(data), "") // data is reused, and visit keeps the content
		return failed
	})
	switch {
	case failed != nil || ctx.Err() != nil:
		return nil, errors.Join(failed, context.Cause(ctx))
	case err != nil: // the mirror was removed
		for _, f := range byID {
			others = append(others, f)
		}
	}
	return others, nil
}

// brokenOff returns the error of an incomplete answer: the cause of ctx if ctx ended, else an unreachableError.
func (c content) brokenOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &unreachableError{fmt.Errorf("the manager's answer is broken off: %w: %w", fault.ErrUnavailable, err)}
}

// readFiles calls visit with the content of each file, or with the problem why the manager cannot read it;
// problem is "" if there is content. visit may keep the content. The files come in any order.
func (c content) readFiles(ctx context.Context, files []models.BatchFile, visit func(f models.BatchFile, content []byte, problem string) error) error {
	files, err := c.readMirror(ctx, files, visit)
	if err != nil || len(files) == 0 {
		return err
	}
	oids := make([]string, len(files))
	for i, f := range files {
		oids[i] = f.OID
	}
	answer, err := c.request(ctx, http.MethodPost, oids)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	in := bufio.NewReaderSize(io.LimitReader(answer.Body, maxBatch), 64<<10)
	for _, f := range files {
		data, problem, err := readFile(in, f.OID)
		if err != nil {
			return c.brokenOff(ctx, err)
		}
		if err := visit(f, data, problem); err != nil {
			return err
		}
	}
	// Without the last line the manager may have failed after the last file that it wrote.
	if line, err := in.ReadString('\n'); err != nil || line != "end\n" {
		return c.brokenOff(ctx, errors.New("it has no end"))
	}
	return nil
}

// readFile reads the answer about one file: "OID SIZE\n" and the content, or "OID - REASON\n". It returns the
// content or, if the content is missing or has another hash than oid, the problem. An error means that the rest
// of the answer cannot be read.
func readFile(in *bufio.Reader, oid string) (content []byte, problem string, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, "", err
	}
	words := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 3)
	if len(words) < 2 || words[0] != oid {
		return nil, "", fmt.Errorf("not about %s: %.80q", oid, line)
	}
	if words[1] == "-" && len(words) == 3 {
		return nil, words[2], nil
	}
	size, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil || size < 0 || size > code.MaxBlobBytes {
		return nil, "", fmt.Errorf("size %.40q of %s", words[1], oid)
	}
	content = make([]byte, size)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, "", err
	}
	if !gitrepo.IsBlob(oid, content) {
		return nil, "the content that the manager read has another hash", nil
	}
	return content, "", nil
}
