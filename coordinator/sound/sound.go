// Package sound serves the sound of episodes to the page, so that the browser loads nothing from elsewhere.
//
// A local file is read below the folders of the operator's origins, and only if this machine has it. A remote one is read
// from its server by range, with the guards of package fetch, and only one at a time: a page with many players must not
// flood the server of a podcast. A range is at most maxPart bytes; players ask for the next one by themselves.
//
// The package checks no roles; the page does before it calls Serve.
package sound

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

const (
	// maxPart is the maximum size of a part in bytes: a minute of an MP3 of 128 kbit/s.
	maxPart = 1 << 20
	// maxQueue is how long a request waits for the remote recording that is being read.
	maxQueue = 10 * time.Second
)

// Source serves the sound of episodes. Its methods may be called concurrently.
type Source struct {
	fetch   *fetch.Fetcher
	catalog catalog.Catalog
	remote  chan struct{} // has an element while a remote recording is read
}

// New returns the source of the episodes in a catalog of this process, whose origins have their users and passwords.
func New(f *fetch.Fetcher, c catalog.Catalog) *Source {
	return &Source{fetch: f, catalog: c, remote: make(chan struct{}, 1)}
}

// Serve answers with the sound of an episode, or the part that the request asks for. After an error nothing was written:
// fault.ErrNotFound if the episode or its recording is gone, fault.ErrOverloaded if others listen, and those of package
// fetch. An error while the sound is sent ends the answer early; the player sees that it is short.
func (s *Source) Serve(w http.ResponseWriter, r *http.Request, episode string) error {
	e, err := s.catalog.Episode(r.Context(), episode)
	if err != nil {
		return err
	}
	origin, err := s.catalog.Origin(r.Context(), e.Origin)
	if err != nil {
		return err
	}
	if err := s.fetch.Trust(origin); err != nil {
		return err
	}
	uri := models.WithUserOf(origin.URI, e.Media.URI)
	if strings.HasPrefix(uri, "file:") {
		return s.serveLocal(w, r, uri, e.Media.Type)
	}
	return s.serveRemote(w, r, uri, e.Media.Type)
}

// serveLocal serves a file of this machine.
func (s *Source) serveLocal(w http.ResponseWriter, r *http.Request, uri, kind string) error {
	file, info, err := s.fetch.Local(uri)
	if err != nil {
		return err
	}
	defer file.Close()
	w.Header().Set("Content-Type", typeOf(kind, uri))
	if first, last, ok := partOf(r); ok {
		r = r.Clone(r.Context())
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
	return nil
}

// serveRemote serves a recording at a web server: the part that the request asks for, or all of it, part by part.
func (s *Source) serveRemote(w http.ResponseWriter, r *http.Request, uri, kind string) error {
	first, last, ranged := partOf(r)
	if !ranged {
		last = maxPart - 1
	}
	part, done, err := s.read(r.Context(), uri, first, last)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", typeOf(kind, uri))
	h.Set("Accept-Ranges", "bytes")
	if ranged {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", part.First, part.Last, part.Total))
		h.Set("Content-Length", strconv.FormatInt(part.Last-part.First+1, 10))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		h.Set("Content-Length", strconv.FormatInt(part.Total, 10))
	}
	for r.Method != http.MethodHead {
		_, err := io.Copy(w, part)
		done()
		next := part.Last + 1
		if err != nil || ranged || next >= part.Total { // after an error the player sees a short answer
			return nil
		}
		if part, done, err = s.read(r.Context(), uri, next, next+maxPart-1); err != nil {
			return nil
		}
	}
	done()
	return nil
}

// read requests a part when no other one is being read. The caller calls done.
func (s *Source) read(ctx context.Context, uri string, first, last int64) (_ *fetch.Part, done func(), err error) {
	wait, cancel := context.WithTimeout(ctx, maxQueue)
	defer cancel()
	select {
	case s.remote <- struct{}{}:
	case <-wait.Done():
		return nil, nil, fmt.Errorf("another recording is being read, one at a time: try again: %w", fault.ErrOverloaded)
	}
	part, err := s.fetch.Part(ctx, uri, first, last)
	if err != nil {
		<-s.remote
		return nil, nil, err
	}
	return part, func() { _ = part.Close(); <-s.remote }, nil
}

var oneRange = regexp.MustCompile(`^bytes=(\d{1,15})-(\d{0,15})$`)

// partOf returns the part that a request asks for, at most maxPart bytes of it; false for other forms of ranges, and for
// none.
func partOf(r *http.Request) (first, last int64, ok bool) {
	match := oneRange.FindStringSubmatch(r.Header.Get("Range"))
	if match == nil {
		return 0, 0, false
	}
	first, _ = strconv.ParseInt(match[1], 10, 64)
	last = first + maxPart - 1
	if end, err := strconv.ParseInt(match[2], 10, 64); err == nil {
		last = min(last, end)
	}
	return first, last, last >= first
}

// typeOf returns the type of a recording if it is one of sound, because a browser must not take it for a document.
func typeOf(kind, uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	for _, t := range []string{kind, mime.TypeByExtension(strings.ToLower(path.Ext(uri)))} {
		if t, _, err := mime.ParseMediaType(t); err == nil && (strings.HasPrefix(t, "audio/") || strings.HasPrefix(t, "video/")) {
			return t
		}
	}
	return "application/octet-stream"
}
