package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// earlier is the alias that an earlier version kept: files, filtered by the current generations. openLog takes
// them over, and the collector removes the alias then.
const earlier = "leasehold-current"

// aliasFilter returns the ids of the generations that the filter of the alias earlier lists; exists is
// false if there is no such alias.
func (x *Index) aliasFilter(ctx context.Context) (ids []string, exists bool, err error) {
	var found map[string]struct {
		Aliases map[string]struct {
			Filter json.RawMessage `json:"filter"`
		} `json:"aliases"`
	}
	alias := x.prefix + earlier
	err = x.do(ctx, call{method: http.MethodGet, path: "_alias/" + alias, answer: &found})
	if errors.Is(err, fault.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if len(found) != 1 {
		return nil, false, fmt.Errorf("alias %s: %w: want it on 1 index; it is on %d", alias, fault.ErrCorrupt, len(found))
	}
	var filter struct {
		Terms struct {
			Generation []string `json:"generation"`
		} `json:"terms"`
	}
	for _, index := range found { // the only one
		if err := decode(index.Aliases[alias].Filter, &filter); err != nil {
			return nil, false, fmt.Errorf("alias %s: %w", alias, err)
		}
	}
	return filter.Terms.Generation, true, nil
}

// readBefore returns the current generations if the log is empty: those that an earlier version showed or, without its
// alias, those of a log that was deleted.
func (x *Index) readBefore(ctx context.Context, at home) ([]*generation, error) {
	ids, exists, err := x.aliasFilter(ctx)
	if err != nil {
		return nil, err
	}
	if !exists {
		return x.lostGenerations(ctx)
	}
	return x.readGenerations(ctx, ids, at)
}

// lostGenerations returns a generation for each repository that has files. All of its files count as lost, because it
// has no home: nothing tells any more which files are current and in which refs they are. The next visit of the repository
// replaces it.
func (x *Index) lostGenerations(ctx context.Context) (all []*generation, err error) {
	byRepo := map[string]*generation{}
	err = x.eachCount(ctx, everyDocument, []string{"repo_id", "repository", "generation"}, func(f filesCount) {
		g := byRepo[f.repoID]
		if g == nil {
			g = &generation{ID: "lost-" + f.generation, RepoID: f.repoID, Repo: f.repository, Refs: []code.Ref{}}
			byRepo[f.repoID], all = g, append(all, g)
		}
		g.Files = max(g.Files, f.files)
	})
	return all, err
}

// readGenerations returns the generations with these ids, with the counts that an earlier version did not keep.
func (x *Index) readGenerations(ctx context.Context, ids []string, at home) (all []*generation, err error) {
	byID := map[string]*generation{}
	for part := range slices.Chunk(ids, idsAtOnce) {
		found, err := readMany[generationDocument](ctx, x, generations, part, "manifest")
		if err != nil {
			return nil, err
		}
		for i, d := range found {
			if d == nil || d.Manifest == nil {
				return nil, fmt.Errorf("generation %s: %w: the search server lost its document; remove the alias %s, and visits index all again", part[i], fault.ErrCorrupt, x.prefix+earlier)
			}
			d.Manifest.FilesIndex, d.Manifest.Skipped = at.files, map[string]int{}
			all, byID[part[i]] = append(all, d.Manifest), d.Manifest
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	err = x.eachCount(ctx, object{"exists": object{"field": "skipped"}}, byReason, func(f filesCount) {
		if g := byID[f.generation]; g != nil {
			g.Skipped[f.reason] += f.files
		}
	})
	return all, err
}

// removeAlias removes the alias of the earlier version, if it exists.
func (x *Index) removeAlias(ctx context.Context) error {
	_, exists, err := x.aliasFilter(ctx)
	if err != nil || !exists {
		return err
	}
	return x.changeAliases(ctx, []object{{"remove": object{"index": x.prefix + files + version, "alias": x.prefix + earlier}}})
}

// changeAliases does several changes of aliases at once: a search sees all of them or none. After
// fault.ErrUnavailable some nodes may not have acknowledged them; repeating them is harmless.
func (x *Index) changeAliases(ctx context.Context, actions []object) error {
	var answer struct {
		Acknowledged bool `json:"acknowledged"`
	}
	err := x.do(ctx, call{method: http.MethodPost, path: "_aliases", body: asJSON(object{"actions": actions}), answer: &answer})
	if err == nil && !answer.Acknowledged {
		err = fmt.Errorf("_aliases: %w: not all nodes of the search server have acknowledged it", fault.ErrUnavailable)
	}
	return err
}
