package elastic

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"leasehold/shared/fault"
)

// Layout is how the indices are on the server.
type Layout struct {
	Server  string // name and version
	Cluster string // the id of the cluster: processes with one id use one cluster
	Indices []IndexLayout
}

// IndexLayout is how one index is.
type IndexLayout struct {
	Name     string
	Shards   int
	Replicas int
	Fixed    bool // it has one shard, whatever is configured
}

// Layout reads how the indices are, and creates none. Those that do not exist yet are left out.
func (x *Index) Layout(ctx context.Context) (l Layout, err error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	server, err := x.readServer(ctx)
	if err != nil {
		return l, err
	}
	l.Server, l.Cluster = server.name(), server.Cluster
	for _, index := range x.indices() {
		var found map[string]indexState
		err := x.client.do(ctx, call{method: http.MethodGet, path: x.prefix + index, answer: &found})
		if errors.Is(err, fault.ErrNotFound) {
			continue
		}
		if err != nil {
			return l, err
		}
		for name, state := range found {
			i := IndexLayout{Name: name, Fixed: hasOneShard(index)}
			i.Shards, _ = strconv.Atoi(state.Settings.Index.Shards) // 0: a serverless server tells neither
			i.Replicas, _ = strconv.Atoi(state.Settings.Index.Replicas)
			l.Indices = append(l.Indices, i)
		}
	}
	return l, nil
}
