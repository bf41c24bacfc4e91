package elastic

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// restTime is how long a node gets no requests after it has failed, if others can take them.
const restTime = 30 * time.Second

// nodes are the addresses of a server. Requests go to them in turn. One that fails rests for restTime;
// if all rest, the one whose rest ends first is asked.
type nodes struct {
	all []node

	mu    sync.Mutex  // guards next and rests
	next  int         // whose turn it is
	rests []time.Time // until when each rests
}

// node is one address.
type node struct {
	base string // without credentials and the last slash
	user *url.Userinfo
}

// newNodes reads URLs that commas separate. Each may have a user and a password.
func newNodes(urls string) (*nodes, error) {
	n := &nodes{}
	for _, text := range strings.Split(urls, ",") {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
			// The text is not repeated, because it may have a password.
			return nil, fmt.Errorf("URL of the search server: %w: want one such as http://127.0.0.1:9200, or several with commas between them", fault.ErrInvalid)
		}
		user := u.User
		u.User = nil
		n.all = append(n.all, node{strings.TrimSuffix(u.String(), "/"), user})
	}
	n.rests = make([]time.Time, len(n.all))
	return n, nil
}

// String returns the addresses without users and passwords.
func (n *nodes) String() string {
	var all []string
	for _, node := range n.all {
		all = append(all, node.base)
	}
	return strings.Join(all, ",")
}

// pick returns the number of the node for a request.
func (n *nodes) pick() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, best := time.Now(), n.next
	for range n.all {
		i := n.next
		n.next = (n.next + 1) % len(n.all)
		if !n.rests[i].After(now) {
			return i
		}
		if n.rests[i].Before(n.rests[best]) {
			best = i
		}
	}
	return best
}

// rest lets a node rest, and reports whether another one does not.
func (n *nodes) rest(i int) (others bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.rests[i] = now.Add(restTime)
	for j := range n.all {
		others = others || !n.rests[j].After(now)
	}
	return others
}

// isAway reports whether err is about a node that does not answer, or that has lost its cluster.
func isAway(err error) bool {
	if !errors.Is(err, fault.ErrUnavailable) {
		return false
	}
	failed := (*statusError)(nil)
	return !errors.As(err, &failed) || failed.status >= http.StatusBadGateway && failed.status <= http.StatusGatewayTimeout
}
