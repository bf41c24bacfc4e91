package elastic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/retry"
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
	replace action = "index"
	remove  action = "delete"
)

// bulk collects writes and sends them in requests of bounded size. It is for one goroutine.
type bulk struct {
	*Index
	items []item
	size  int
}

// item is one write.
type item struct {
	alias string
	id    string
	lines []byte // as the request has them
}

// add adds a write, and sends those collected if they are many.
func (b *bulk) add(ctx context.Context, a action, alias, id string, document any) error {
	i := item{alias: alias, id: id, lines: asJSON(object{string(a): object{"_index": b.prefix + alias, "_id": id}})}
	if a != remove {
		i.lines = append(i.lines, asJSON(document)...)
	}
	if b.size += len(i.lines); b.size > bulkBytes && len(b.items) > 0 || len(b.items) == bulkItems {
		if err := b.flush(ctx); err != nil {
			return err
		}
		b.size = len(i.lines)
	}
	b.items = append(b.items, i)
	return nil
}

// flush sends what was collected. All of it is durable when flush returns nil.
func (b *bulk) flush(ctx context.Context) error {
	backoff := retry.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}.WithDefaults()
	began := time.Now()
	for pause := backoff.First(); len(b.items) > 0; pause = backoff.Next(pause) {
		left, err := b.send(ctx)
		if err != nil && !retry.CanPass(err) || len(left) == 0 && err != nil {
			return err
		}
		b.items = left
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

// send sends the writes once. It returns those that the server refused because it is busy,
// with the error of the first of them, or the error of one that can never be written.
func (b *bulk) send(ctx context.Context) (left []item, err error) {
	var body bytes.Buffer
	for _, i := range b.items {
		body.Write(i.lines)
	}
	var answer bulkAnswer
	err = b.do(ctx, call{method: http.MethodPost, path: "_bulk", query: url.Values{"require_alias": {"true"}}, body: body.Bytes(), lines: true, answer: &answer})
	if err != nil {
		return nil, err
	}
	if len(answer.Items) != len(b.items) {
		return nil, fmt.Errorf("_bulk: %w: the search server answers for %d of %d documents", fault.ErrUnavailable, len(answer.Items), len(b.items))
	}
	for n, of := range answer.Items {
		for a, result := range of {
			failed := b.failed(b.items[n], a, result)
			if failed != nil && !retry.CanPass(failed) {
				return nil, failed
			}
			if failed != nil {
				left, err = append(left, b.items[n]), failed
			}
		}
	}
	return left, err
}

// failed returns why a write is not done; nil if it is.
func (b *bulk) failed(i item, a action, result itemAnswer) error {
	switch {
	case result.ID != i.id:
		return fmt.Errorf("_bulk: %w: the search server answers for document %.100q instead of %s", fault.ErrUnavailable, result.ID, i.id)
	case result.Status >= 200 && result.Status < 300,
		result.Status == http.StatusConflict && a == create, // the same document is there
		result.Status == http.StatusNotFound && a == remove && result.Error.Type == "":
		return nil
	}
	failed := &statusError{status: result.Status, kind: kindOf(result.Status), what: "document " + i.id + " of " + i.alias, text: result.Error.String(), errorType: result.Error.Type}
	if result.Error.Type == indexNotFound {
		return b.wasDeleted(failed)
	}
	return failed
}

// refresh makes what was written visible to searches.
func (x *Index) refresh(ctx context.Context, alias ...string) error {
	for _, a := range alias {
		var answer struct {
			Shards shards `json:"_shards"`
		}
		if err := x.do(ctx, call{method: http.MethodPost, path: x.prefix + a + "/_refresh", answer: &answer}); err != nil {
			return err
		}
		if err := answer.Shards.check("refresh of " + a); err != nil {
			return err
		}
	}
	return nil
}
