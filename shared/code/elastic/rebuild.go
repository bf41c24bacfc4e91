package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"leasehold/shared/fault"
)

// rebuilt are the indices that Rebuild writes again: the large ones.
var rebuilt = []string{blobs, files}

// next returns the alias of the unfinished copy of an index.
func next(alias string) string { return alias + "-next" }

// Rebuilding is how far Rebuild has come, and at its end what it has done.
type Rebuilding struct {
	Indices   []string      // names of the new ones
	Blobs     int           // in the new index, or found there
	AllBlobs  int           // about
	Files     int           // copied
	AllFiles  int           // about
	Took      time.Duration // until now
	NoWriting time.Duration // how long the server refused writes; 0 before the end
}

// Rebuild copies blobs and files into new indices with the mappings of this version and the shards and replicas of c.
// Meanwhile searches and publications use the indices before. At the end the server refuses writes for a moment, and
// clients repeat them: further writes are copied, and one request gives the aliases to the new indices. Run removes the
// ones before, Grace later. Views stay as they are.
//
// It may run in any process, and calls report from time to time. If it fails, or ctx ends, searches and publications go
// on as before; another call continues the copy, unless shards or replicas are to be others now.
func Rebuild(ctx context.Context, c Config, report func(Rebuilding)) (Rebuilding, error) {
	x, err := New(c)
	if err != nil {
		return Rebuilding{}, err
	}
	defer x.Close()
	return x.rebuild(ctx, report)
}

// rebuild is Rebuild for a new index, which it changes.
func (x *Index) rebuild(ctx context.Context, report func(Rebuilding)) (Rebuilding, error) {
	x.views, x.anyMapping = false, true
	r := rebuild{Index: x, began: time.Now(), report: report, old: map[string]string{}, new: map[string]string{}, copied: map[string]bool{}}
	err := r.run(ctx)
	r.state.Took = time.Since(r.began)
	if err != nil {
		return r.state, fmt.Errorf("rebuild of the code index: %w", err)
	}
	return r.state, nil
}

// rebuild is one call of Rebuild. It is for one goroutine.
type rebuild struct {
	*Index
	began    time.Time
	old, new map[string]string // names of the indices by alias
	copied   map[string]bool   // ids of generations that are complete in the new index
	report   func(Rebuilding)
	state    Rebuilding
}

// maxRounds is how often further publications are copied before writes are refused.
const maxRounds = 5

func (r *rebuild) run(ctx context.Context) error {
	now, err := r.openLog(ctx)
	if err != nil {
		return err
	}
	for _, t := range now.totals {
		r.state.AllFiles += t.files
	}
	if r.state.AllBlobs, err = r.count(ctx, blobs, everyDocument); err != nil {
		return err
	}
	for _, index := range rebuilt {
		if err := r.begin(ctx, index); err != nil {
			return err
		}
	}
	if err := r.copyBlobs(ctx, everyDocument); err != nil {
		return err
	}
	for range maxRounds {
		n, err := r.copyCurrent(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	return r.finish(ctx)
}

// begin creates the new index of an alias, or finds the one that an earlier call has begun.
func (r *rebuild) begin(ctx context.Context, index string) error {
	all, err := r.statesOf(ctx, index)
	if err != nil {
		return err
	}
	of := ""
	for name, s := range all {
		if _, ok := s.Aliases[r.prefix+index]; ok {
			r.old[index], of = name, s.id()
		}
	}
	if of == "" {
		return fmt.Errorf("alias %s: %w: want it on an index %s-NUMBER", r.prefix+index, fault.ErrCorrupt, r.prefix+index)
	}
	for name, s := range all {
		if _, ok := s.Aliases[r.prefix+next(index)]; !ok {
			continue
		}
		goesOn, err := r.isWanted(ctx, index, name, of)
		if err != nil {
			return err
		}
		if goesOn {
			r.new[index] = name
		} else if err := r.delete(ctx, name); err != nil {
			return err
		}
	}
	if r.new[index] == "" {
		r.new[index] = r.prefix + index + "-" + all.nextNumber()
		body := r.createBody(index, object{r.prefix + next(index): object{}}, &copyNote{Of: of})
		if err := r.createIndex(ctx, r.new[index], body); err != nil {
			return err
		}
	}
	r.state.Indices = append(r.state.Indices, r.new[index])
	return nil
}

// isWanted reports whether an unfinished copy is of the index with the id of, and has the mapping, the shards and the
// replicas that it should have.
func (r *rebuild) isWanted(ctx context.Context, index, name, of string) (bool, error) {
	var found indexStates
	if err := r.client.do(ctx, call{method: http.MethodGet, path: name, answer: &found}); err != nil {
		return false, err
	}
	s := found[name]
	return s.isUnfinished() && s.Mappings.Meta.Of == of && r.otherField(index, s) == "" &&
		(r.shards == 0 || s.Settings.Index.Shards == strconv.Itoa(r.shards)) &&
		(r.replicas == nil || s.Settings.Index.Replicas == strconv.Itoa(*r.replicas)), nil
}

// delete removes an index.
func (x *Index) delete(ctx context.Context, name string) error {
	return x.client.do(ctx, call{method: http.MethodDelete, path: name})
}

// finish copies further writes, while the server refuses writes, and gives the aliases to the new indices.
// If that fails, it allows writes again.
func (r *rebuild) finish(ctx context.Context) (err error) {
	stopped := time.Now()
	defer func() {
		r.state.NoWriting = time.Since(stopped)
		if err != nil {
			err = r.allowWrites(ctx, err)
		}
	}()
	for _, index := range rebuilt {
		if err := r.client.do(ctx, call{method: http.MethodPut, path: r.old[index] + "/_block/write"}); err != nil {
			return err
		}
	}
	if err := r.refresh(ctx, blobs, files, next(blobs), next(files)); err != nil {
		return err
	}
	// A clock may be wrong by a day. Blobs of files are copied whenever they were put.
	since := object{"range": object{"put": object{"gte": r.began.Add(-keep).UnixMilli()}}}
	if err := r.copyBlobs(ctx, since); err != nil {
		return err
	}
	if err := r.copyRest(ctx); err != nil {
		return err
	}
	if err := r.refresh(ctx, next(blobs), next(files)); err != nil {
		return err
	}
	return r.moveAliases(ctx)
}

// allowWrites makes the server accept writes again after failed, which it returns. If ctx has ended, it takes half a
// minute at most.
func (r *rebuild) allowWrites(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	for _, index := range rebuilt {
		err := r.client.do(ctx, call{method: http.MethodPut, path: r.old[index] + "/_settings", body: asJSON(object{"index.blocks.write": nil})})
		if err != nil {
			return fmt.Errorf("%w; writes to %s may still be refused; to accept them, run it again, or set index.blocks.write to null: %w", failed, r.old[index], err)
		}
	}
	return failed
}

// moveAliases notes that the copies are complete, and gives them the aliases of the indices before. If the answer of
// the server is lost, it looks whether they have them.
func (r *rebuild) moveAliases(ctx context.Context) error {
	var actions []object
	for _, index := range rebuilt {
		if err := r.noteCopy(ctx, index); err != nil {
			return err
		}
		for _, a := range []struct{ action, index, alias string }{
			{"remove", r.old[index], index}, {"add", r.new[index], index}, {"remove", r.new[index], next(index)},
		} {
			actions = append(actions, object{a.action: object{"index": a.index, "alias": r.prefix + a.alias}})
		}
	}
	failed := r.changeAliases(ctx, actions)
	if failed == nil {
		return nil
	}
	for _, index := range rebuilt {
		all, err := r.statesOf(ctx, index)
		if _, ok := all[r.new[index]].Aliases[r.prefix+index]; err != nil || !ok {
			return failed
		}
	}
	return nil
}

// noteCopy notes in the mapping of the new index by which id generations name it, and in that of the old one that it is
// replaced.
func (r *rebuild) noteCopy(ctx context.Context, index string) error {
	all, err := r.statesOf(ctx, index)
	if err != nil {
		return err
	}
	old, copied := all[r.old[index]], all[r.new[index]]
	complete := copyNote{Of: old.id(), Index: copied.id(), Identity: old.identity()}
	replaced := copyNote{Replaced: true}
	if old.Mappings.Meta != nil {
		replaced = *old.Mappings.Meta
		replaced.Replaced = true
	}
	return errors.Join(r.note(ctx, r.new[index], complete), r.note(ctx, r.old[index], replaced))
}

// note writes a note into the mapping of an index.
func (r *rebuild) note(ctx context.Context, name string, n copyNote) error {
	return r.client.do(ctx, call{method: http.MethodPut, path: name + "/_mapping", body: asJSON(object{"_meta": n})})
}
