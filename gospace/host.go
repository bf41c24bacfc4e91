package gospace

import (
	"context"
	"log/slog"
	"net"
	"sync"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// A host is an engine of this process: one for each space with a name alone, and one for each
// address at which this process listens.
type host struct {
	key     string
	handles int // of NewSpace and NewRemoteSpace that are open; guarded by registry.mu
	engine  *engine.Engine
	running *stage // the engine
	open    *stage // the gate; nil without an address
}

// stage is a goroutine that is stopped and waited for.
type stage struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func begin(run func(context.Context)) *stage {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stage{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		run(ctx)
	}()
	return s
}

func (s *stage) stop() {
	s.cancel()
	<-s.ended
}

// registry has the hosts of this process, by address or by name.
type registry struct {
	mu    sync.Mutex
	hosts map[string]*host
}

var hosts = registry{hosts: map[string]*host{}}

// join returns the host of a space; nil if create is false and there is none, or if this
// process cannot listen at the address.
func (r *registry) join(address, name string, create bool) (*host, error) {
	key := "tcp://" + address
	if address == "" {
		key = "name " + name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[key]
	if h == nil {
		if !create {
			return nil, nil
		}
		var listener net.Listener
		if address != "" {
			var err error
			if listener, err = net.Listen("tcp", address); err != nil {
				return nil, nil // another program has the address, or another machine
			}
		}
		var err error
		if h, err = start(key, listener); err != nil {
			return nil, err
		}
		r.hosts[key] = h
	}
	h.handles++
	return h, nil
}

// leave ends the host after its last handle.
func (r *registry) leave(h *host) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.handles--; h.handles > 0 {
		return
	}
	delete(r.hosts, h.key)
	h.running.stop() // first, because then the gate tells its clients that their sessions have ended
	if h.open != nil {
		h.open.stop()
	}
}

// start runs an engine and, with a listener, the gate before it.
func start(key string, l net.Listener) (*host, error) {
	e, err := engine.Open(context.Background(), engine.Config{Journal: &journal.Memory{}})
	if err != nil {
		if l != nil {
			_ = l.Close()
		}
		return nil, err
	}
	h := &host{key: key, engine: e}
	h.running = begin(func(ctx context.Context) {
		if err := e.Run(ctx); err != nil {
			slog.Error("gospace: the space has stopped", "space", key, "error", err)
		}
	})
	if l != nil {
		h.open = begin(func(ctx context.Context) {
			if err := native.New(native.Config{Engine: e}).Serve(ctx, l); err != nil && ctx.Err() == nil {
				slog.Error("gospace: the space is no longer open to the network", "space", key, "error", err)
			}
		})
	}
	return h, nil
}
