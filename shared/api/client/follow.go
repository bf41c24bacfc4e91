package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// member is one of the coordinators of a client, which stand by for each other.
type member struct {
	url  *url.URL
	host string // of requests; empty: the host of url
}

// membersOf returns the coordinators at bases, URLs that are separated by commas.
func membersOf(bases string) (all []*member, err error) {
	for base := range strings.SplitSeq(bases, ",") {
		u, err := url.Parse(strings.TrimSpace(base))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%q: %w: want the URL of a coordinator, such as http://127.0.0.1:7412, or several, separated by commas", bases, fault.ErrInvalid)
		}
		all = append(all, &member{url: u, host: hostOf(u)})
	}
	return all, nil
}

// hostOf returns the Host of requests to base; empty if it is base's own. The API refuses a name with a dot,
// because a web page of an attacker has one after DNS rebinding. A program knows its coordinator, so it calls it
// localhost; but not over https, because a proxy may choose by the name.
func hostOf(base *url.URL) string {
	name := base.Hostname()
	if _, err := netip.ParseAddr(name); err == nil || base.Scheme != "http" || !strings.Contains(name, ".") {
		return ""
	}
	return "localhost"
}

// newRequest returns a request to the API of a coordinator.
func (c *Client) newRequest(ctx context.Context, m *member, method, path string, query url.Values, body []byte) (*http.Request, error) {
	u := m.url.JoinPath("/api/v1/", path)
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	r.Host = m.host
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// follow calls ask with the coordinator that answered last and, while they are unavailable, with the others: with all of
// them if the request may be repeated, else until one may have executed it. ask returns the status of the response, 0
// without one. While coordinators stand by and none serves, follow asks them again for takeOverTime. The error of one that
// stands by is returned only if no other coordinator gave an error.
func (c *Client) follow(ctx context.Context, mayRepeat bool, ask func(*member) (int, error)) (status int, err error) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		status, takeOver, err := c.inTurn(ctx, mayRepeat, ask)
		if !takeOver || len(c.members) == 1 || time.Since(began) > takeOverTime {
			return status, err
		}
		select {
		case <-time.After(retry.Jitter(pause)):
		case <-ctx.Done():
			return status, err
		}
	}
}

// inTurn asks each coordinator at most once, as follow does. takeOver reports that another one may serve soon: one stands
// by, none that serves has answered, and the request may be sent again.
func (c *Client) inTurn(ctx context.Context, mayRepeat bool, ask func(*member) (int, error)) (status int, takeOver bool, err error) {
	left, stands := c.inOrder(), false
	for {
		at := left[0]
		left = left[1:]
		s, failed := ask(at)
		var by standsBy
		isStandby := errors.As(failed, &by)
		if err == nil || !isStandby {
			status, err = s, failed
		}
		if !errors.Is(failed, fault.ErrUnavailable) {
			if s > 0 {
				c.first.Store(at)
			}
			return s, false, failed
		}
		stands = stands || isStandby
		mayGoOn := mayRepeat || isUntouched(failed)
		if len(left) == 0 || ctx.Err() != nil || !mayGoOn {
			served := status > 0 && !errors.As(err, new(standsBy))
			return status, stands && mayGoOn && !served, err
		}
		if i := slices.IndexFunc(left, func(m *member) bool { return by.owner == strings.TrimRight(m.url.String(), "/") }); i > 0 {
			left[0], left[i] = left[i], left[0]
		}
	}
}

// inOrder returns the coordinators, from the one that answered last on.
func (c *Client) inOrder() []*member {
	n := slices.Index(c.members, c.first.Load())
	return slices.Concat(c.members[n:], c.members[:n])
}

// isUntouched reports whether a request was executed by no coordinator for sure: it was not sent, or the one that got it
// stands by.
func isUntouched(err error) bool { return errors.As(err, new(standsBy)) || isDialError(err) }

// isDialError reports whether a connection could not be opened.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// takeOverTime is how long a call waits for a take-over. An owner that falls silent has lost its realm after --owner-lost
// (5 s), and the next one needs a moment to load it.
const (
	takeOverTime = 15 * time.Second
	longestPause = time.Second
)

// standsBy is the refusal of a coordinator that stands by. owner is the URL of the one that serves.
type standsBy struct {
	refusal
	owner string
}
