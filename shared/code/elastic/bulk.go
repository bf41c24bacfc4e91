package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// Bounds of one request of writes. One document may be larger.
const (
	bulkBytes = 4 << 20
	bulkItems = 1000
)

// An action is how a document is written.
type action string

const (
	create  action = "create" // leaves a document that exists as it is
	replace action = "index"  // creates or replaces a document
	remove  action = "delete" // also succeeds for a document that is missing
)

// bulk collects writes and sends them in requests of bounded size. It is for one goroutine.
type bulk struct {
	*Index
	items []item
	size  int
	// smaller returns the document to write in place of one too large for the server; nil leaves it out. Without
	// this function flush fails for such a document.
	smaller func(id string) (document any, err error)
}

// item is one write.
type item struct {
	alias string
	id    string
	a     action
	lines []byte // of the request: the action, and the document unless it is removed
}

func (b *bulk) newItem(a action, alias, id string, document any) item {
	i := item{alias: alias, id: id, a: a, lines: asJSON(object{string(a): object{"_index": b.prefix + alias, "_id": id}})}
	if a != remove {
		i.lines = append(i.lines, asJSON(document)...)
	}
	return i
}

// add collects a write. If those collected before it fill a request, it sends them first. document
// is ignored for remove. After an error the write is lost.
func (b *bulk) add(ctx context.Context, a action, alias, id string, document any) error {
	i := b.newItem(a, alias, id, document)
	b.size += len(i.lines)
	if b.size > bulkBytes && len(b.items) > 0 || len(b.items) == bulkItems {
		if err := b.flush(ctx); err != nil {
			return err
		}
		b.size = len(i.lines)
	}
	b.items = append(b.items, i)
	return nil
}

// flush sends the collected writes. All are durable when flush returns nil. It repeats those that
// a busy server refuses, until retryFor has passed. After any other error some may be durable;
// the caller may repeat them, because a write that was done already is a success (failureOf).
func (b *bulk) flush(ctx context.Context) error {
	backoff := retry.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}.WithDefaults()
	began := time.Now()
	for pause := backoff.First(); len(b.items) > 0; pause = backoff.Next(pause) {
		busy, err := b.sendParts(ctx, b.items)
		// Without busy writes the request as a whole failed; the client has repeated that already.
		if err != nil && (!retry.CanPass(err) || len(busy) == 0) {
			return err
		}
		b.items = busy
		if err == nil {
			b.client.waits.accepted(true)
		} else {
			b.client.waits.refused(true, time.Now(), err)
		}
		if err != nil && (time.Since(began)+pause > b.client.retryFor || !sleep(ctx, pause)) {
			return err
		}
	}
	b.size = 0
	return nil
}

// bulkAnswer is the answer to many writes.
type bulkAnswer struct {
	Errors bool                    `json:"errors"`
	Items  []map[action]itemAnswer `json:"items"`
}

type itemAnswer struct {
	ID     string  `json:"_id"`
	Status int     `json:"status"`
	Error  failure `json:"error"`
}

// sendParts is send, in smaller requests if the server answers that one is too large. A document too large by
// itself is replaced.
func (b *bulk) sendParts(ctx context.Context, items []item) (busy []item, err error) {
	busy, err = b.send(ctx, items)
	if failed := (*statusError)(nil); !errors.As(err, &failed) || failed.status != http.StatusRequestEntityTooLarge {
		return busy, err
	}
	if len(items) == 1 {
		return b.sendSmaller(ctx, items[0], err)
	}
	for part := range slices.Chunk(items, (len(items)+1)/2) {
		refused, failed := b.sendParts(ctx, part)
		if failed != nil && len(refused) == 0 {
			return nil, failed
		}
		if busy = append(busy, refused...); failed != nil {
			err = failed
		}
	}
	if len(busy) == 0 {
		err = nil
	}
	return busy, err
}

// sendSmaller writes what stands for a document that the server refuses with tooLarge.
func (b *bulk) sendSmaller(ctx context.Context, i item, tooLarge error) (busy []item, err error) {
	tooLarge = fmt.Errorf("document %s of %s, %d bytes: %w", i.id, i.alias, len(i.lines), tooLarge)
	if b.smaller == nil || i.a == remove {
		return nil, tooLarge
	}
	document, err := b.smaller(i.id)
	if err != nil || document == nil {
		return nil, err
	}
	small := b.newItem(i.a, i.alias, i.id, document)
	if len(small.lines) >= len(i.lines) {
		return nil, tooLarge
	}
	return b.sendParts(ctx, []item{small})
}

// send sends writes in one request. If the server refuses some because it is busy, it
// returns these and the error of the last of them. If one can never be written, or the request
// failed, it returns nil and that error. Kinds come from kindOf.
func (b *bulk) send(ctx context.Context, items []item) (busy []item, err error) {
	var body bytes.Buffer
	for _, i := range items {
		body.Write(i.lines)
	}
	var answer bulkAnswer
	err = b.do(ctx, call{method: http.MethodPost, path: "_bulk", query: url.Values{"require_alias": {"true"}}, body: body.Bytes(), isNDJSON: true, answer: &answer})
	if err != nil {
		return nil, err
	}
	if len(answer.Items) != len(items) {
		return nil, fmt.Errorf("_bulk: %w: the answer of the search server has %d of %d documents", fault.ErrUnavailable, len(answer.Items), len(items))
	}
	for n, answers := range answer.Items {
		for done, result := range answers { // one entry: the action, with its result
			failed := b.failureOf(items[n], done, result)
			if failed != nil && !retry.CanPass(failed) {
				return nil, failed
			}
			if failed != nil {
				busy, err = append(busy, items[n]), failed
			}
		}
	}
	return busy, err
}

// failureOf returns why the write i was not done, by the server's result for it; nil if it was
// done. A document that exists already is a success for create, and a missing one a success for
// remove, because writes are repeated. kindOf gives the kind.
func (b *bulk) failureOf(i item, a action, result itemAnswer) error {
	switch {
	case result.ID != i.id:
		return fmt.Errorf("_bulk: %w: the answer of the search server has document %.100q in place of %s", fault.ErrUnavailable, result.ID, i.id)
	case result.Status >= 200 && result.Status < 300,
		result.Status == http.StatusConflict && a == create, // the same document is there
		result.Status == http.StatusNotFound && a == remove && result.Error.Type == "":
		return nil
	}
	failed := &statusError{status: result.Status, kind: kindOf(result.Status, result.Error.Type), what: "document " + i.id + " of " + i.alias, text: result.Error.String(), errorType: result.Error.Type}
	if result.Error.Type == indexNotFound {
		return b.noteDeleted(failed)
	}
	return failed
}

// refresh makes the documents of these aliases that were written visible to searches.
func (x *Index) refresh(ctx context.Context, alias ...string) error {
	for _, a := range alias {
		var answer struct {
			Shards shards `json:"_shards"`
		}
		if err := x.do(ctx, call{method: http.MethodPost, path: x.prefix + a + "/_refresh", answer: &answer}); err != nil {
			return err
		}
		if err := answer.Shards.requireAll("refresh of " + a); err != nil {
			return err
		}
	}
	return nil
}
