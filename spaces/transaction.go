package spaces

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// Transact carries out operations on several spaces, all or none (package transaction). It waits until there is a
// tuple for each Get, Query and Renew. The spaces must belong to one program: the host, or the one whose spaces Join
// has added; otherwise it fails with fault.ErrInvalid.
func (r *Repository) Transact(ctx context.Context, ops ...transaction.Op) ([]tuple.Tuple, error) {
	client, ops, err := r.route(ops)
	if err != nil {
		return nil, err
	}
	return client.Run(ctx, ops...)
}

// TransactP is Transact, but does not wait: if a condition does not hold, it fails with transaction.ErrUnmet.
func (r *Repository) TransactP(ctx context.Context, ops ...transaction.Op) ([]tuple.Tuple, error) {
	client, ops, err := r.route(ops)
	if err != nil {
		return nil, err
	}
	return client.RunP(ctx, ops...)
}

// PutIfAbsent puts a tuple into a space if no visible tuple of the space matches p, and reports whether it did. The
// tuple is removed after ttl, or never if ttl is 0.
func (r *Repository) PutIfAbsent(ctx context.Context, name string, p tuple.Template, t tuple.Tuple, ttl time.Duration) (put bool, err error) {
	repo, there, _ := r.owner(name)
	return transaction.Client{Repo: repo}.PutIfAbsent(ctx, there, p, t, ttl)
}

// Browse returns a page of the tuples of a space, of any length or type and held ones too, without taking them.
func (r *Repository) Browse(ctx context.Context, q browse.Query) (browse.Page, error) {
	var repo space.Repository
	repo, q.Space, _ = r.owner(q.Space)
	return browse.Client{Repo: repo}.Page(ctx, q)
}

// route returns the client of the program that has the spaces of ops, and the operations with the names that the
// spaces have there. It refuses spaces of two programs. Without operations it returns the client of the own spaces,
// which refuses them.
func (r *Repository) route(ops []transaction.Op) (client transaction.Client, there []transaction.Op, err error) {
	var address string
	there = make([]transaction.Op, len(ops))
	for i, op := range ops {
		repo, name, at := r.owner(op.Space)
		if i == 0 {
			client.Repo, address = repo, at
		} else if at != address {
			return client, nil, fmt.Errorf("operation %d of %d, %s: the space is not of the same program as %.100q: %w", i+1, len(ops), op, ops[0].Space, fault.ErrInvalid)
		}
		there[i] = op
		there[i].Space = name
	}
	if len(ops) == 0 {
		client.Repo = r.Repository
	}
	return client, there, nil
}

// owner returns the session at the program that has a space, the name of the space there, and
// the address of the program; an own space has none.
func (r *Repository) owner(name string) (repo space.Repository, there, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j, ok := r.joined[name]; ok {
		return j.repo, j.Name(), j.address
	}
	return r.Repository, name, ""
}
