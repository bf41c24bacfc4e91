package gitrepo

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"leasehold/shared/fault"
)

// IsBlob reports whether a blob with this content has the id oid, in a repository with
// SHA-1 or SHA-256.
func IsBlob(oid string, content []byte) bool {
	var h hash.Hash = sha1.New()
	if len(oid) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil)) == oid
}

// Blobs reads blobs and calls visit with each, in the order of oids. content is valid until visit
// returns. A blob that is missing, damaged, or larger than maxBytes bytes is visited with an error
// (fault.ErrCorrupt, fault.ErrTooLarge) and no content. An error of visit ends the reading and is
// returned. Blobs fails with fault.ErrInvalid for a malformed id.
func (m *Mirror) Blobs(ctx context.Context, oids []string, maxBytes int64, visit func(oid string, content []byte, err error) error) error {
	for _, oid := range oids {
		if !objectID.MatchString(oid) {
			return fmt.Errorf("blob %.80q: %w: want 40 or 64 hexadecimal digits", oid, fault.ErrInvalid)
		}
	}
	return m.engine.blobs(ctx, oids, maxBytes, visit)
}

// blobs reads blobs with git cat-file; see Mirror.Blobs. Git ends at an object that it cannot read:
// that is the first blob without an answer. blobs visits it as fault.ErrCorrupt and starts git
// again with the next one.
func (m command) blobs(ctx context.Context, oids []string, maxBytes int64, visit func(oid string, content []byte, err error) error) error {
	for len(oids) > 0 {
		n, err := m.readBlobs(ctx, oids, maxBytes, visit)
		if oids = oids[n:]; err == nil {
			continue
		}
		var ended *endedEarly
		if !errors.As(err, &ended) || len(oids) == 0 {
			return err
		}
		if err := visit(oids[0], nil, fmt.Errorf("blob %s: %w: %s", oids[0], fault.ErrCorrupt, ended.message)); err != nil {
			return err
		}
		oids = oids[1:]
	}
	return nil
}

// endedEarly is the error of a git that has ended before it answered all questions.
type endedEarly struct{ message string }

func (e *endedEarly) Error() string { return e.message }

// readBlobs runs one git cat-file, and returns how many blobs it visited, in the order of oids. If
// git ended before it answered for all, the error is an *endedEarly.
func (m command) readBlobs(ctx context.Context, oids []string, maxBytes int64, visit func(string, []byte, error) error) (n int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, messages := m.gitCommand(ctx, "--git-dir="+m.dir, "cat-file", "--batch", "--buffer")
	c.Stdin = strings.NewReader(strings.Join(oids, "\n") + "\n")
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return 0, fmt.Errorf("git cat-file: %w: %w", fault.ErrUnavailable, err)
	}
	r := blobReader{in: bufio.NewReaderSize(pipe, 64<<10), maxBytes: maxBytes}
	var failed error
	for n < len(oids) && failed == nil {
		var content []byte
		var problem error
		content, problem, failed = r.nextBlob(oids[n])
		if failed == nil {
			failed = visit(oids[n], content, problem)
			n++
		}
	}
	gitEnded := errors.As(failed, new(*cutOff))
	if failed != nil && !gitEnded {
		cancel(failed) // kills git, which has more to write
	}
	exit := c.Wait()
	switch {
	case gitEnded && context.Cause(ctx) == nil:
		message := messages.summary()
		if message == "" {
			message = "git cat-file ended before it was read"
		}
		return n, &endedEarly{message}
	case ctx.Err() != nil:
		return n, context.Cause(ctx)
	case n == len(oids) && errors.As(exit, new(*exec.ExitError)):
		return n, nil // all answers were complete
	}
	return n, exit
}

// cutOff is the error of an incomplete answer.
type cutOff struct{ error }

// A blobReader reads the answers of git cat-file --batch: "OID TYPE SIZE\nCONTENT\n", or
// "OID missing\n".
type blobReader struct {
	in       *bufio.Reader
	maxBytes int64
	content  []byte // reused
}

// nextBlob reads the answer about a blob. content is valid until the next call. problem is why the
// blob has no content, fault.ErrCorrupt or fault.ErrTooLarge; the next answer can be read then.
// failed is an error of the stream, after which no answer can be read.
func (r *blobReader) nextBlob(oid string) (content []byte, problem, failed error) {
	line, err := r.in.ReadSlice('\n')
	if err != nil {
		return nil, nil, &cutOff{err}
	}
	words := strings.Fields(string(line))
	if len(words) == 2 && words[0] == oid {
		return nil, fmt.Errorf("blob %s: %w: it is %s in the repository", oid, fault.ErrCorrupt, words[1]), nil
	}
	if len(words) != 3 || words[0] != oid {
		return nil, nil, fmt.Errorf("git cat-file: %w: not an answer about %s: %.80q", fault.ErrCorrupt, oid, line)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size < 0 {
		return nil, nil, fmt.Errorf("git cat-file: %w: size %.40q", fault.ErrCorrupt, words[2])
	}
	switch {
	case words[1] != "blob":
		problem = fmt.Errorf("object %s: %w: it is a %s, want a blob", oid, fault.ErrCorrupt, words[1])
	case size > r.maxBytes:
		problem = fmt.Errorf("blob %s: %w: %d bytes, more than %d", oid, fault.ErrTooLarge, size, r.maxBytes)
	}
	if problem != nil {
		if _, err := io.CopyN(io.Discard, r.in, size+1); err != nil {
			return nil, nil, &cutOff{err}
		}
		return nil, problem, nil
	}
	if int64(cap(r.content)) < size {
		r.content = make([]byte, size)
	}
	r.content = r.content[:size]
	if _, err := io.ReadFull(r.in, r.content); err != nil {
		return nil, nil, &cutOff{err}
	}
	if end, err := r.in.ReadByte(); err != nil || end != '\n' {
		return nil, nil, &cutOff{errors.New("an answer without its end")}
	}
	return r.content, nil, nil
}
