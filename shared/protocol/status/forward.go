package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
)

// Limits of a Forwarder.
const (
	forwardQueue   = 256             // lines that wait to be written
	forwardBurst   = 100             // lines at once
	forwardRate    = 10              // lines in a second, after a burst
	forwardTimeout = 2 * time.Second // of one attempt to write a line
	maxLogMessage  = 1000            // bytes of a line's message
)

// Forwarder copies the warnings and errors of a process, and the lines of Tell, to the
// space "log". It never blocks the code that logs: lines wait while the coordinator does not
// answer. If they come faster than forwardRate, or more than forwardQueue of them wait,
// lines are dropped, and the next one counts them. The log of the process itself has every
// line. Its methods may be called concurrently.
type Forwarder struct {
	lines chan Line

	mu        sync.Mutex // guards the fields below
	repo      space.Repository
	connected chan struct{} // closed when repo is set
	allowed   float64       // lines that may be written now
	last      time.Time     // when allowed was computed
	dropped   int           // lines since the last one that was queued
}

// NewForwarder returns a forwarder; Run writes its lines.
func NewForwarder() *Forwarder {
	return &Forwarder{lines: make(chan Line, forwardQueue), connected: make(chan struct{}), allowed: forwardBurst, last: time.Now()}
}

// Logger returns a logger that writes to log and copies warnings and errors.
func (f *Forwarder) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&forwardHandler{next: log.Handler(), to: f})
}

// Over returns a function that opens sessions as connect does, and remembers the last one: Run writes the lines over
// it. Run begins with the first one.
func (f *Forwarder) Over(connect Connect) Connect {
	return func(ctx context.Context) (space.Repository, error) {
		repo, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.repo == nil {
			close(f.connected)
		}
		f.repo = repo
		return repo, nil
	}
}

// Run writes lines until ctx ends. It repeats a call that fails, because the lines of the time
// in which the coordinator was away say why it was.
func (f *Forwarder) Run(ctx context.Context) {
	select {
	case <-f.connected:
	case <-ctx.Done():
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-f.lines:
			f.write(ctx, line)
		}
	}
}

// write writes a line over the session that was opened last, until it succeeds, the coordinator refuses
// the line, or ctx ends. A refused line counts as dropped. Each attempt asks for the session
// again, because the earlier one may be lost.
func (f *Forwarder) write(ctx context.Context, line Line) {
	pauses := retry.Backoff{}.WithDefaults()
	for pause := pauses.First(); ctx.Err() == nil; pause = pauses.Next(pause) {
		f.mu.Lock()
		repo := f.repo
		f.mu.Unlock()
		line.ID = cmp.Or(line.ID, repo.Session())
		attempt, cancel := context.WithTimeout(ctx, forwardTimeout)
		err := Write(attempt, repo, line)
		cancel()
		switch {
		case err == nil:
			return
		case errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge) || errors.Is(err, fault.ErrNotFound):
			f.mu.Lock()
			f.dropped++
			f.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// add queues a line, or drops it if lines come faster than forwardRate or the queue is full. The next queued line
// tells how many were dropped. It does not wait, and redacts passwords in addresses.
func (f *Forwarder) add(line Line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.allowed = min(forwardBurst, f.allowed+now.Sub(f.last).Seconds()*forwardRate)
	f.last = now
	line.Message = oneLine(models.Redact(line.Message))
	if f.dropped > 0 {
		line.Message += fmt.Sprintf(" (lines dropped before this one: %d)", f.dropped)
	}
	if f.allowed >= 1 {
		select {
		case f.lines <- line:
			f.allowed--
			f.dropped = 0
			return
		default: // Run is slow
		}
	}
	f.dropped++
}

// oneLine bounds a message to maxLogMessage bytes, at a whole character, and makes control
// characters spaces, so that a line of the log stays one line.
func oneLine(s string) string {
	s = withoutControls(s)
	if len(s) > maxLogMessage {
		s = strings.ToValidUTF8(s[:maxLogMessage-len("…")], "") + "…"
	}
	return s
}

func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// Tell writes a line about session id to the space "log", but not to the log of the
// process, because it is of interest for the fleet as a whole. An empty id stands for the
// session of this process. It does nothing if log is not of a Forwarder.
func Tell(log *slog.Logger, level slog.Level, id, format string, args ...any) {
	if h, ok := log.Handler().(*forwardHandler); ok {
		h.to.add(Line{time.Now(), id, strings.ToLower(level.String()), fmt.Sprintf(format, args...)})
	}
}

// sessionKey is the attribute of a record that names the session of the line; without it, the line belongs to this
// process's session.
const sessionKey = "session"

// contextAttrs is the key of the attributes of a context.
type contextAttrs struct{}

// WithAttrs returns a context that adds attributes to the lines of a log of a Forwarder that are logged with it, such as
// the task that a handler does.
func WithAttrs(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, contextAttrs{}, attrs)
}

// forwardHandler handles records with next, and copies warnings and errors to a Forwarder.
type forwardHandler struct {
	next    slog.Handler
	to      *Forwarder
	session string // empty: that of this process
	attrs   string // the others, formatted
	prefix  string // of the groups
}

// Enabled reports true for warnings and errors even if the log of the process does not accept
// them, because they are forwarded.
func (h *forwardHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.next.Enabled(ctx, level)
}

// Handle adds the attributes of the context to the record. It forwards a warning or an error as one text: the message and
// its attributes, as far as they fit. The session is left out of the text, because it is the id of the line. Then Handle
// passes the record to the next handler, if its level is enabled.
func (h *forwardHandler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(contextAttrs{}).([]slog.Attr); ok {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	if r.Level >= slog.LevelWarn {
		text, id := r.Message+h.attrs, h.session
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == sessionKey && h.prefix == "" {
				id = a.Value.String()
			} else {
				text += h.format(a)
			}
			return len(text) < maxLogMessage
		})
		level := "warn"
		if r.Level >= slog.LevelError {
			level = "error"
		}
		h.to.add(Line{r.Time, id, level, text})
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// format returns an attribute as it is in a forwarded text, with the names of its groups.
func (h *forwardHandler) format(a slog.Attr) string {
	return fmt.Sprintf(" %s%s=%v", h.prefix, a.Key, a.Value)
}

// WithAttrs returns a handler that adds attributes to each record. It formats them once.
func (h *forwardHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.next = h.next.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == sessionKey && h.prefix == "" {
			n.session = a.Value.String()
		} else {
			n.attrs += h.format(a)
		}
	}
	return &n
}

// WithGroup returns a handler whose further attributes are in a group.
func (h *forwardHandler) WithGroup(name string) slog.Handler {
	n := *h
	n.next, n.prefix = h.next.WithGroup(name), h.prefix+name+"."
	return &n
}
