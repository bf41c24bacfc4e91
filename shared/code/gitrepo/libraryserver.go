package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A server speaks git's protocol, version 0, about one repository.
type server interface {
	// advertise returns the list of refs.
	advertise(ctx context.Context) (io.ReadCloser, error)
	// upload sends a request and returns the answer, once, after advertise.
	upload(ctx context.Context, request []byte) (io.ReadCloser, error)
	close()
}

// dial returns the server of the source. It connects when advertise is called.
func (m library) dial() server {
	if m.src.url.Scheme == "ssh" {
		return &sshServer{library: m}
	}
	return newWebServer(m.store, m.src)
}

// stalledAfter is how long a server may send nothing.
const stalledAfter = time.Minute

// withServer connects to the server, calls talk with it and the refs that it advertises, and closes
// the connection.
func (m library) withServer(ctx context.Context, talk func(context.Context, server, *packp.AdvRefs) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := m.dial()
	defer s.close()
	answer, err := s.advertise(ctx)
	if err != nil {
		return err
	}
	watch := newWatchdog(answer, cancel)
	defer watch.stop()
	refs, err := decodeRefs(watch)
	answer.Close()
	watch.stop() // talk has a watchdog of its own
	if err == nil {
		err = talk(ctx, s, refs)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // why reading failed, such as a server that stalls
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.src.uri, err)
	}
	return nil
}

// decodeRefs reads the list of refs, which is empty for an empty repository.
func decodeRefs(in io.Reader) (*packp.AdvRefs, error) {
	var start prefix
	limited := &io.LimitedReader{R: io.TeeReader(in, &start), N: maxRefBytes}
	refs := packp.NewAdvRefs()
	err := refs.Decode(limited)
	switch {
	case bytes.Contains(start.kept, []byte("object-format=sha256")):
		return nil, needsGit("a repository with SHA-256")
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return refs, nil
	case limited.N == 0:
		return nil, fmt.Errorf("refs: %w: more than %d bytes", fault.ErrTooLarge, maxRefBytes)
	case err != nil:
		return nil, serverFault("refs", err)
	}
	return refs, nil
}

// serverFault returns the error of an answer of the server that cannot be read; what names the
// answer. The server may have written the text of err, so it is cut, cleaned, and searched for the
// kind of error. Errors of ssh and fault.ErrTooLarge are returned as they are.
func serverFault(what string, err error) error {
	if known := new(sshError); errors.As(err, &known) || errors.Is(err, fault.ErrTooLarge) {
		return err
	}
	text := &tail{}
	_, _ = text.Write([]byte(err.Error())) // a tail takes all
	return fmt.Errorf("%s of the server: %w: %.200s", what, kindOfMessage(err.Error()), models.Redact(text.summary()))
}

// prefix keeps the first bytes that are written.
type prefix struct{ kept []byte }

func (p *prefix) Write(b []byte) (int, error) {
	p.kept = append(p.kept, b[:min(len(b), max(0, maxStderr-len(p.kept)))]...)
	return len(b), nil
}

// listServerRefs is listRefs for a server. Refs with ^{} are the commits that annotated tags name.
func (m library) listServerRefs(ctx context.Context) (refs map[string]string, target string, err error) {
	refs = map[string]string{}
	err = m.withServer(ctx, func(_ context.Context, _ server, ad *packp.AdvRefs) error {
		if ad.Head != nil {
			refs[headRef] = ad.Head.String()
		}
		for name, hash := range ad.References {
			refs[name] = hash.String()
		}
		for name, hash := range ad.Peeled {
			refs[name+"^{}"] = hash.String()
		}
		for _, link := range ad.Capabilities.Get(capability.SymRef) {
			if to, ok := strings.CutPrefix(link, headRef+":"); ok {
				target = to
			}
		}
		return nil
	})
	return refs, target, err
}

// copyServer copies the wanted commits from a server: all their objects that the mirror lacks. The
// error is errNeedsGit for a server without a capability that the library relies on. The watchdog
// ends a slow transfer.
func (m library) copyServer(ctx context.Context, c *copying) error {
	return m.withServer(ctx, func(ctx context.Context, s server, ad *packp.AdvRefs) error {
		for _, need := range []capability.Capability{capability.Sideband64k, capability.Shallow, capability.OFSDelta} {
			if !ad.Capabilities.Supports(need) {
				return needsGit("the repository of a server without %s", need)
			}
		}
		request, err := c.request()
		if err != nil {
			return err
		}
		var body bytes.Buffer
		err = errors.Join(request.UploadRequest.Encode(&body), request.UploadHaves.Encode(&body, false))
		body.WriteString("0009done\n") // the packet that ends the list of haves
		if err != nil {
			return fmt.Errorf("request: %w: %w", fault.ErrInvalid, err)
		}
		answer, err := s.upload(ctx, body.Bytes())
		if err != nil {
			return err
		}
		defer answer.Close()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := newWatchdog(answer, func(cause error) { cancel(cause); answer.Close() })
		defer watch.stop()
		return c.receive(ctx, request, watch)
	})
}

// request returns the request for the wanted commits. It names the commits that the mirror's refs
// have, so that the server sends only the difference. errUnusable: the refs of the mirror cannot be
// read. Without history it asks for the commits alone (depth 1).
func (c *copying) request() (*packp.UploadPackRequest, error) {
	r := packp.NewUploadPackRequest()
	for _, name := range []capability.Capability{capability.Sideband64k, capability.OFSDelta, capability.NoProgress, capability.Shallow, capability.ThinPack} {
		if err := r.Capabilities.Set(name); err != nil {
			return nil, err
		}
	}
	r.Wants, r.Shallows = c.wants, c.shallow
	if !c.history {
		r.Depth = packp.DepthCommits(1)
	}
	refs, err := c.into.IterReferences()
	if err != nil {
		return nil, errors.Join(errUnusable, err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference && c.into.HasEncodedObject(ref.Hash()) == nil {
			r.Haves = append(r.Haves, ref.Hash())
		}
		return nil
	})
	return r, err
}

// receive reads the answer to request, adds its pack to the mirror, and notes which commits are
// without parents now. A request for the last commits only has answers that name such commits.
func (c *copying) receive(ctx context.Context, request *packp.UploadPackRequest, answer io.Reader) error {
	in := bufio.NewReaderSize(answer, 64<<10)
	response := packp.NewUploadPackResponse(request)
	if err := response.Decode(io.NopCloser(in)); err != nil {
		return serverFault("answer", err)
	}
	err := c.addPack(ctx, func(out *os.File) error {
		_, err := io.Copy(&boundedWriter{out, c.packBytes}, sideband.NewDemuxer(sideband.Sideband64k, response))
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return serverFault("pack", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.shallow = append(c.shallow, response.Shallows...)
	return c.markShallow(response.Unshallows)
}

// watchdog reads from a server, and calls a function if it sends nothing for stalledAfter.
type watchdog struct {
	in    io.Reader
	timer *time.Timer
}

// newWatchdog returns a reader of in that calls stalled, once, if nothing has come for
// stalledAfter.
func newWatchdog(in io.Reader, stalled func(error)) *watchdog {
	return &watchdog{in, time.AfterFunc(stalledAfter, func() {
		stalled(fmt.Errorf("the server has sent nothing for %s: %w", stalledAfter, fault.ErrUnavailable))
	})}
}

// Read reads from the server. The time begins again after it.
func (w *watchdog) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	w.timer.Reset(stalledAfter)
	return n, err
}

func (w *watchdog) stop() { w.timer.Stop() }
