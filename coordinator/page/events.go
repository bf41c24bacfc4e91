package page

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"leasehold/coordinator/api"
)

// maxVisitors is the maximum number of concurrent event streams.
const maxVisitors = 200

// heartbeat is the longest pause between two writes to a visitor, so that a lost
// connection is detected.
const heartbeat = 15 * time.Second

// events streams the sections of the page: each as an event of its name when it changes.
// It ends when the visitor disconnects or does not read, or when the server stops.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	if p.visitors.Add(1) > maxVisitors {
		p.visitors.Add(-1)
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many visitors follow this page. Reload it to see changes.", http.StatusServiceUnavailable)
		return
	}
	defer p.visitors.Add(-1)
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // the visitor sends nothing more
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	send := func(data []byte) error {
		if err := c.SetWriteDeadline(time.Now().Add(p.WriteTimeout)); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		return c.Flush()
	}
	tick := time.NewTicker(maxAge)
	defer tick.Stop()
	seen, sent := map[string]template.HTML{}, time.Time{}
	for {
		data, err := p.collectChanges(r, seen)
		switch {
		case err != nil:
			p.Log.Warn("dashboard: no snapshot", "error", err)
			return
		case len(data) == 0 && time.Since(sent) < heartbeat: // nothing to send
		default:
			if len(data) == 0 {
				data = []byte(": still here\n\n")
			}
			if err := send(data); err != nil {
				return
			}
			sent = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-api.Draining(r.Context()):
			return
		case <-tick.C:
		}
	}
}

// collectChanges returns the events of the sections that differ from seen, and updates seen. It returns none if
// nothing has changed.
func (p *Page) collectChanges(r *http.Request, seen map[string]template.HTML) ([]byte, error) {
	s, err := p.cache.get(r.Context())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, name := range sections {
		html := s.HTML[name]
		if seen[name] == html {
			continue
		}
		seen[name] = html
		fmt.Fprintf(&b, "event: %s\n", name)
		for line := range strings.SplitSeq(strings.ReplaceAll(string(html), "\r", ""), "\n") {
			fmt.Fprintf(&b, "data: %s\n", line)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}
