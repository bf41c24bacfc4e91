package gospace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"leasehold/shared/fault"
	"leasehold/spaces"
)

// maxNames is how many spaces in memory one host has. An engine has at most 1,000 spaces.
const maxNames = 900

// A host has the spaces of this process that belong together: all with one listening address, all with a name alone
// in one folder, or up to maxNames others with a name alone.
type host struct {
	*spaces.Host
	key, address, folder string
	handles              map[string]int // of open handles by name of the space; guarded by registry.mu
}

// registry has the hosts of this process.
type registry struct {
	mu    sync.Mutex
	hosts map[string]*host // by key
	named map[string]*host // by the name of a space without an address
}

var hosts = registry{hosts: map[string]*host{}, named: map[string]*host{}}

// Whether a missing host is opened.
const (
	findOnly   = false
	findOrOpen = true
)

// join returns the host of a space, and counts a handle of the space, for which leave must follow. It returns nil if
// create is false and there is none, or if this process cannot listen at the address and the space has no folder.
func (r *registry) join(address, name, folder string, create bool) (*host, error) {
	if folder != "" {
		var err error
		if folder, err = filepath.Abs(folder); err != nil {
			return nil, fmt.Errorf("folder %s: %w: %w", folder, fault.ErrFolder, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h, err := r.findOrOpenHost(address, name, folder, create)
	if err != nil || h == nil {
		return nil, err
	}
	h.handles[name]++
	if address == "" {
		r.named[name] = h
	}
	return h, nil
}

// findOrOpenHost returns the host of a space; nil as join does. If create is true it opens a missing one. The caller
// holds mu.
func (r *registry) findOrOpenHost(address, name, folder string, create bool) (*host, error) {
	key := r.key(address, folder)
	h := r.hosts[key]
	if address == "" {
		if named := r.named[name]; named != nil {
			h = named
		} else if !create {
			return nil, nil
		}
	}
	switch {
	case h != nil && folder != "" && folder != h.folder:
		return nil, fmt.Errorf("space %s: it is open already with the folder %q, not %q: %w", name, h.folder, folder, fault.ErrConflict)
	case h != nil || !create:
		return h, nil
	}
	return r.open(key, address, folder)
}

// key returns the key of the host for an unopened space. Spaces in memory share the first host that has fewer than
// maxNames.
func (r *registry) key(address, folder string) string {
	switch {
	case address != "":
		return "tcp://" + address
	case folder != "":
		return "folder " + folder
	}
	for i := 0; ; i++ {
		key := fmt.Sprintf("memory %d", i)
		if h := r.hosts[key]; h == nil || len(h.handles) < maxNames {
			return key
		}
	}
}

// open opens a host and registers it. It returns nil if the address cannot be opened and there is
// no folder. The caller holds mu.
func (r *registry) open(key, address, folder string) (*host, error) {
	served, err := spaces.Start(spaces.Config{Folder: folder, Insecure: true}) // the program chooses the address
	if err != nil {
		return nil, err
	}
	if address != "" {
		if _, err := served.OpenGate(spaces.Gate{Address: address}); err != nil {
			stopped := served.Stop()
			if folder == "" {
				return nil, stopped // another program has the address, or another machine
			}
			return nil, errors.Join(err, stopped)
		}
	}
	h := &host{Host: served, key: key, address: address, folder: folder, handles: map[string]int{}}
	r.hosts[key] = h
	return h, nil
}

// leave ends a space after its last handle, and the host after its last space.
func (r *registry) leave(h *host, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.handles[name]--; h.handles[name] > 0 {
		return
	}
	delete(h.handles, name)
	if r.named[name] == h {
		delete(r.named, name)
	}
	var err error
	switch {
	case len(h.handles) == 0:
		delete(r.hosts, h.key)
		err = h.Stop()
	case h.address == "" && h.folder == "":
		const withTuples = true
		if _, err = h.Delete(context.Background(), name, withTuples); errors.Is(err, fault.ErrNotFound) {
			err = nil // no operation has made it
		}
	}
	if err != nil {
		slog.Error("gospace: a space did not end in order", "space", name, "error", err)
	}
}
