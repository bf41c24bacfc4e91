package fetch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Local opens a file for reading that a file:// URI names, without copying it. The caller closes it. Errors are as
// those of Fetch.
func (f *Fetcher) Local(uri string) (*os.File, fs.FileInfo, error) {
	u, err := f.parse(uri)
	if err == nil && u.Scheme != "file" {
		err = fmt.Errorf("fetch %s: want a file:// URI: %w", shorten(u.Redacted()), fault.ErrInvalid)
	}
	if err != nil {
		return nil, nil, err
	}
	file, info, err := f.roots.open(filepath.Clean(platform.FilePath(u)))
	if err != nil {
		return nil, nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return file, info, nil
}

// A Part is some bytes of the content of a web server. The reader closes it.
type Part struct {
	io.Reader
	First, Last, Total int64 // as in Content-Range; Last is the last byte of the part
	Type               string
	transfer           *transfer
}

// Close ends the transfer. It always returns nil.
func (p *Part) Close() error {
	p.transfer.close()
	return nil
}

var contentRange = regexp.MustCompile(`^bytes (\d{1,18})-(\d{1,18})/(\d{1,18})$`)

// Part requests the bytes first to last of an http(s) URL from its server; the content may end before last. Nothing is
// cached. It fails with fault.ErrInvalid if the server does not send parts, otherwise as Fetch does.
func (f *Fetcher) Part(ctx context.Context, uri string, first, last int64) (*Part, error) {
	u, err := f.parse(uri)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Part, error) { return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err) }
	if u.Scheme == "file" || first < 0 || last < first {
		return fail(fmt.Errorf("bytes %d to %d: want a part of an http(s) URL: %w", first, last, fault.ErrInvalid))
	}
	header := http.Header{"Accept-Encoding": {"identity"}, "Range": {fmt.Sprintf("bytes=%d-%d", first, last)}}
	t, err := f.send(ctx, http.MethodGet, uri, header, nil, math.MaxInt64)
	if err != nil {
		return fail(err)
	}
	p := &Part{Reader: io.LimitReader(t.body, last-first+1), Type: t.Header.Get("Content-Type"), transfer: t}
	sent := contentRange.FindStringSubmatch(t.Header.Get("Content-Range"))
	if sent != nil {
		p.First, _ = strconv.ParseInt(sent[1], 10, 64)
		p.Last, _ = strconv.ParseInt(sent[2], 10, 64)
		p.Total, _ = strconv.ParseInt(sent[3], 10, 64)
	}
	if t.StatusCode != http.StatusPartialContent || sent == nil || p.First != first || p.Last < first || p.Last > last || p.Total <= p.Last {
		t.close()
		return fail(fmt.Errorf("the server does not send parts of it: %w", fault.ErrInvalid))
	}
	return p, nil
}
