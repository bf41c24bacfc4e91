package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"leasehold/coordinator/auth"
	"leasehold/coordinator/peer"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// serve returns the handler of a route: it limits the time and the size of each request,
// and the number of concurrent ones. A request takes a slot after its body was read, and gives
// it back before its answer is written, so that slow clients take none.
func (s *server) serve(rt route) http.Handler {
	timeout, maxBytes := callTimeout, int64(maxBody)
	if rt.isBulk {
		timeout, maxBytes = bulkTimeout, maxListing
	}
	bodies := &s.bodies
	if rt.isForManagers() {
		bodies = &s.fleetBodies
	}
	h := func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		c := http.NewResponseController(w)
		// The server's own deadline of reading would end a bulk request without a body: the server reads on meanwhile,
		// and takes any error for a lost connection.
		_ = c.SetReadDeadline(time.Now().Add(timeout)) // a test's recorder has none
		_ = c.SetWriteDeadline(time.Now().Add(timeout))
		freeBody := func() {}
		if rt.body != nil {
			release, err := bodies.readBody(w, r, maxBytes, timeout)
			if err != nil {
				s.fail(w, r, err)
				return
			}
			freeBody = sync.OnceFunc(release)
			defer freeBody()
		}
		place, err := s.admit(ctx, r, rt)
		if err != nil {
			freeBody()
			s.fail(w, r, err)
			return
		}
		defer place.leave()
		free := func() { freeBody(); place.freeSlot() }
		q, err := rt.newRequest(r)
		if err != nil {
			free()
			s.fail(w, r, err)
			return
		}
		answer, err := rt.handle(ctx, q)
		if s.Auth != nil && rt.isAudited() {
			s.note(ctx, r, rt.id, err)
		}
		if err != nil {
			free()
			s.fail(w, r, err)
			return
		}
		q.free = free
		s.write(w, q, answer, rt.isForManagers() || rt.isExact)
	}
	handler := s.inSpan(rt, s.needing(rt.id, roles[rt.id], http.HandlerFunc(h)))
	if rt.isWaiting || rt.isBeat || rt.isStream {
		return handler // it lasts as long as the client wants, which would hide slow requests
	}
	return s.metrics.measure(rt.method+" "+rt.path, handler)
}

// inSpan returns next with a span around each request by which a person or a program changes something. Other requests
// that change something have the span in their context that they name.
func (s *server) inSpan(rt route, next http.Handler) http.Handler {
	if rt.method == http.MethodGet {
		return next
	}
	spans := s.Spans
	if !rt.isAudited() {
		spans = nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		ctx, end := spans.BeginRequest(r, rt.path)
		defer func() { end(recorded.status) }()
		next.ServeHTTP(recorded, r.WithContext(ctx))
	})
}

// place is what an admitted request has: freeSlot gives back its slot, and leave that and its peer's. Both
// may be called again.
type place struct{ freeSlot, leave func() }

// admit takes one of the slots for a request, and one of its peer's. A bulk request waits for its turn
// first, without a slot; others never wait. With an error nothing is taken: fault.ErrOverloaded
// (refusedSlot), or ctx.Err() of a bulk request.
func (s *server) admit(ctx context.Context, r *http.Request, rt route) (admitted place, err error) {
	slots, peers := s.slots, s.peers
	if rt.isForManagers() {
		slots, peers = s.fleetSlots, nil
	} else if rt.isWaiting {
		slots, peers = s.waitSlots, s.waitPeers
	} else if rt.isBeat {
		slots, peers = s.beatSlots, s.beatPeers
	}
	if rt.isBulk {
		select {
		case s.listings <- struct{}{}:
			defer func() {
				if err != nil {
					<-s.listings
				}
			}()
		case <-ctx.Done():
			return place{}, ctx.Err()
		}
	}
	if err := takeSlot(slots); err != nil {
		return place{}, refusedSlot(rt, err)
	}
	p := peer.OfText(r.RemoteAddr, s.Exempt)
	if peers != nil {
		if err := peers.Take(p); err != nil {
			<-slots
			return place{}, refusedSlot(rt, err)
		}
	}
	freeSlot := sync.OnceFunc(func() {
		<-slots
		if rt.isBulk {
			<-s.listings
		}
	})
	return place{freeSlot, sync.OnceFunc(func() {
		freeSlot()
		if peers != nil {
			peers.Return(p)
		}
	})}, nil
}

// takeSlot takes a slot without waiting.
func takeSlot(slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
		return fmt.Errorf("%w: %d requests are already in progress, the maximum", fault.ErrOverloaded, cap(slots))
	}
}

// errTooMany is why a request that may wait is refused. Its status is 429, because
// common HTTP clients repeat that by themselves after Retry-After.
var errTooMany = errors.New("too many requests wait")

// refusedSlot returns the error of a request that got no slot; a route that may wait gets
// errTooMany too.
func refusedSlot(rt route, err error) error {
	if rt.isWaiting || rt.isBeat {
		return fmt.Errorf("%w: %w", errTooMany, err)
	}
	return err
}

// write sends a response, and reports to q.finish whether it was written. It was not if the client had gone
// before the first byte, or if a write failed; a client may close its connection as soon as it has read the
// last byte. exact leaves the users and passwords of URLs in the answer, for managers and workers, because they
// fetch them.
func (s *server) write(w http.ResponseWriter, q *request, answer any, exact bool) {
	written := false
	if q.finish != nil {
		defer func() { q.finish(written) }()
	}
	var data []byte
	var err error
	switch answer := answer.(type) {
	case none:
	case stream:
		s.writeLines(w, q, answer)
		return
	case yamlText:
		data = answer
		w.Header().Set("Content-Type", yamlType)
	default:
		if data, err = encode(answer); err != nil {
			s.fail(w, q.Request, err)
			return
		}
		if !exact {
			data = []byte(models.Redact(string(data)))
		}
		w.Header().Set("Content-Type", "application/json")
	}
	if q.Context().Err() != nil && q.finish != nil { // a client that only ended its sending half must not take an empty answer for what it asked for
		w.Header().Del("Content-Type")
		s.fail(w, q.Request, fmt.Errorf("%w: the client ended its side of the connection before the answer, so what was taken is back", fault.ErrUnavailable))
		return
	}
	if q.location != "" {
		w.Header().Set("Location", q.location)
	}
	if len(data) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	}
	defer s.beginAnswer(w, q, len(data))()
	w.WriteHeader(q.status)
	_, err = w.Write(data)
	if err == nil && q.finish != nil {
		err = http.NewResponseController(w).Flush()
	}
	written = err == nil
}

// Limits of answers that wait for their readers.
const (
	maxAnswers = 64 << 20 // bytes; further ones keep their slots while they are written

	// An answer must be read at answerRate on average, and begin to be read within answerSlack.
	answerRate  = 16 << 10 // bytes a second
	answerSlack = 5 * time.Second
)

// beginAnswer sets the time until which an answer must be read, and gives back the slot and the body of its request,
// so that slow readers stop no others. The answer counts to the memory until done is called. If there is none for it,
// the request keeps its slot: so the number of slots bounds the memory beyond maxAnswers.
func (s *server) beginAnswer(w http.ResponseWriter, q *request, size int) (done func()) {
	allowed := answerSlack + time.Duration(float64(size)/answerRate*float64(time.Second))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(min(allowed, bulkTimeout))) // a test's recorder has none
	if q.free == nil || s.answers.take(size, 0) != nil {
		return func() {}
	}
	q.free()
	return func() { s.answers.giveBack(size) }
}

// encode returns the JSON of v, with a line feed. It leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// fail sends an error as a problem document. One that has no kind is a mistake of ours:
// it is logged, and its text is not sent, because it may contain internals.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w: it took too long; repeat it", fault.ErrUnavailable)
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: the request was cancelled", fault.ErrUnavailable)
	}
	row := fault.Of(err)
	detail := wording.WithoutProcedure(models.RedactSecrets(err.Error()))
	if row.Kind == fault.ErrOverloaded {
		w.Header().Set("Retry-After", "1")
	}
	if errors.Is(err, errTooMany) || isGuessing(w, err) {
		row.HTTPStatus = http.StatusTooManyRequests
	}
	if row.Kind == fault.ErrUnauthenticated {
		w.Header().Set("Connection", "close") // a process that joins again connects with its next certificate
	}
	if row.Kind == nil {
		s.Log.Error("api: a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		detail = "see the coordinator's log"
	}
	writeProblem(w, row, detail)
}

// isGuessing reports whether err is about an address that has sent too many wrong tokens, and sets the header that
// tells when it may send another one.
func isGuessing(w http.ResponseWriter, err error) bool {
	var guess *auth.TooManyGuesses
	if !errors.As(err, &guess) {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(guess.After.Seconds()))))
	return true
}

// writeProblem sends a problem document with the status and code of row. A row without a kind is
// an internal error. Headers that are set already stay.
func writeProblem(w http.ResponseWriter, row fault.Row, detail string) {
	sendProblem(w, problemOf(row, detail))
}

// problemOf returns the problem document of a row.
func problemOf(row fault.Row, detail string) types.Problem {
	title := "internal error"
	if row.Kind != nil {
		title = row.Kind.Error()
	}
	return types.Problem{Type: "urn:leasehold:problem:" + row.Code, Title: title, Status: row.HTTPStatus, Code: types.ErrorCode(row.Code), Detail: detail}
}

func sendProblem(w http.ResponseWriter, p types.Problem) {
	data, err := encode(p)
	if err != nil {
		data = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerSlack)) // a test's recorder has none
	w.WriteHeader(p.Status)
	_, _ = w.Write(data) // the client may be gone
}

func notFound(w http.ResponseWriter, r *http.Request) {
	writeProblem(w, fault.Of(fault.ErrNotFound), fmt.Sprintf("%s does not exist; see /api/v1/openapi.yaml", r.URL.Path))
}

// refuseMethod refuses the methods that no route of a path has. The error is a usage
// error, with the status that HTTP defines for it.
func refuseMethod(allowed []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, m := range allowed {
			w.Header().Add("Allow", m)
		}
		row := fault.Of(fault.ErrUsage)
		row.HTTPStatus = http.StatusMethodNotAllowed
		writeProblem(w, row, fmt.Sprintf("method %s of this path: use %s", r.Method, wording.Or(allowed...)))
	})
}
