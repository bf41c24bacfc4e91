package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// version is the end of the names of the first indices. Rebuild makes those of blobs and files with higher numbers.
const version = "-1"

// The aliases that requests name, without the prefix.
const (
	blobs       = "leasehold-blobs"
	files       = "leasehold-files"
	generations = "leasehold-generations"
	lines       = "leasehold-lines"
	reports     = "leasehold-reports"
	published   = "leasehold-published"
	filesView   = "files"  // lines, filtered by the current generations
	reportView  = "report" // reports, filtered in the same way
)

// object is an object of JSON.
type object = map[string]any

// The types of fields. Stored is in the document only, and is neither parsed nor indexed.
var (
	keyword  = object{"type": "keyword"}
	number   = object{"type": "long"}
	fraction = object{"type": "double"}
	truth    = object{"type": "boolean"}
	stored   = object{"type": "object", "enabled": false}
	trigrams = object{"type": "text", "analyzer": "trigrams", "norms": false, "index_options": "docs"}
	text     = object{"type": "text", "norms": false}
)

// mappings are the fields of each index. A document with another field is refused.
var mappings = map[string]object{
	blobs: {
		"oid": keyword, "put": number, "size": number, "lang": keyword, "skipped": keyword, "tri": trigrams, "symbol_tri": trigrams, "defines": keyword,
		"info": stored, "text": stored, "raw": stored, "symbols": stored, "functions": stored,
	},
	files: {
		"generation": keyword, "repo_id": keyword, "key": keyword, "oid": keyword, "filename": keyword, "path_tri": trigrams, "repository": keyword,
		"language": keyword, "lang": keyword, "vendored": truth, "skipped": keyword, "place": stored,
	},
	generations: {"generation": keyword, "repo_id": keyword, "repository": keyword, "manifest": stored},
	published:   {"number": number, "log": keyword, "repo_id": keyword, "generation": keyword, "manifest": stored, "base": stored},
	lines:       {"generation": keyword, "repo_id": keyword, "filename": keyword, "repository": keyword, "language": keyword, "lines": text},
	reports: {"generation": keyword, "repo_id": keyword, "repository": keyword, "report": object{"properties": object{
		"file": keyword, "line": number, "function": keyword, "receiver": keyword, "assignments": number, "branches": number, "conditions": number, "score": fraction,
	}}},
}

// excluded are the fields that documents do not return, because they follow from others.
var excluded = map[string][]string{blobs: {"tri", "symbol_tri"}, files: {"path_tri"}}

// views are the aliases whose filter lists the current generations, by index.
var views = map[string]string{lines: filesView, reports: reportView}

// shownBy is the filter of an alias that shows generations.
func shownBy(ids []string) object {
	return object{"terms": object{"generation": ids}}
}

// aliasesOf returns the aliases of an index; requests use only these.
func (x *Index) aliasesOf(index string) object {
	aliases := object{x.prefix + index: object{}}
	if view := views[index]; view != "" {
		aliases[x.prefix+view] = object{"filter": shownBy([]string{})}
	}
	return aliases
}

// createBody returns the request that creates an index: with fields that may not be others than ours, and without the
// source of fields that are only searched. meta is a note in the mapping, or nil.
func (x *Index) createBody(index string, aliases object, meta *copyNote) object {
	mapping := object{"dynamic": "strict", "properties": x.mappings[index]}
	if meta != nil {
		mapping["_meta"] = meta
	}
	if fields := excluded[index]; fields != nil {
		mapping["_source"] = object{"excludes": fields}
	}
	settings := object{
		"index.translog.durability": durable,
		"analysis":                  object{"analyzer": object{"trigrams": object{"type": "custom", "tokenizer": "whitespace"}}},
	}
	if hasOneShard(index) {
		settings["index.number_of_shards"] = 1
	} else if x.shards > 0 {
		settings["index.number_of_shards"] = x.shards
	}
	if x.replicas != nil {
		settings["index.number_of_replicas"] = *x.replicas
	}
	return object{"settings": settings, "mappings": mapping, "aliases": aliases}
}

// hasOneShard reports whether an index has one shard always: it is small, and that of publications is read in their order.
func hasOneShard(index string) bool { return index == generations || index == published }

// durable is the setting with which a server answers a write when it is on disk.
const durable = "request"

// indices returns the indices that x uses.
func (x *Index) indices() []string {
	if x.views {
		return []string{blobs, files, generations, published, lines, reports}
	}
	return []string{blobs, files, generations, published}
}

// perGeneration returns the indices of x whose documents belong to one generation each. Blobs are shared.
func (x *Index) perGeneration() []string {
	if x.views {
		return []string{files, lines, reports}
	}
	return []string{files}
}

// prepareIndices creates the indices that do not exist, gives those an alias that have lost it, and checks all. Once that has succeeded, it
// does nothing until noteDeleted or the collector resets prepared. Another process may create an
// index at the same time, which counts as created. After an error the next call begins again.
func (x *Index) prepareIndices(ctx context.Context) error {
	x.preparing.Lock()
	defer x.preparing.Unlock()
	if x.prepared.Load() {
		return nil
	}
	if _, err := x.readServer(ctx); err != nil {
		return err
	}
	for _, index := range x.indices() {
		err := x.checkIndex(ctx, index)
		if errors.Is(err, fault.ErrNotFound) {
			if err = x.createAlias(ctx, index); err == nil {
				err = x.checkIndex(ctx, index)
			}
		}
		if err != nil {
			return err
		}
	}
	x.prepared.Store(true)
	return nil
}

// createAlias creates the index of an alias, or gives the alias to the index that has lost it.
func (x *Index) createAlias(ctx context.Context, index string) error {
	all, err := x.statesOf(ctx, index)
	if err != nil {
		return err
	}
	name := all.newest()
	if name == "" {
		return x.createIndex(ctx, x.prefix+index+"-"+all.nextNumber(), x.createBody(index, x.aliasesOf(index), nil))
	}
	action := object{"add": object{"index": name, "alias": x.prefix + index}}
	return x.client.do(ctx, call{method: http.MethodPost, path: "_aliases", body: asJSON(object{"actions": []object{action}})})
}

// createIndex creates an index, unless it exists. A serverless server, which sets shards, replicas and durability itself,
// refuses these settings; then it creates the index without them.
func (x *Index) createIndex(ctx context.Context, name string, body object) error {
	c := call{method: http.MethodPut, path: name, body: asJSON(body)}
	err := x.client.do(ctx, c)
	failed := (*statusError)(nil)
	if errors.As(err, &failed) && failed.status == http.StatusBadRequest && strings.Contains(failed.text, "serverless") {
		body["settings"] = object{"analysis": body["settings"].(object)["analysis"]}
		c.body = asJSON(body)
		err = x.client.do(ctx, c)
	}
	if errors.As(err, &failed) && failed.errorType == "resource_already_exists_exception" {
		return nil
	}
	return err
}

// server is what a server tells about itself.
type server struct {
	Cluster string `json:"cluster_uuid"`
	Version struct {
		Number       string `json:"number"`
		Distribution string `json:"distribution"`
	} `json:"version"`
}

func (s server) name() string {
	if s.Version.Distribution == "opensearch" {
		return "OpenSearch " + s.Version.Number
	}
	return "Elasticsearch " + s.Version.Number
}

// wantedServers are the servers that this package knows.
const wantedServers = "want OpenSearch, or Elasticsearch 7.10 or later"

// readServer returns what the server tells about itself. It returns fault.ErrInvalid if it is something else, or a version
// that is too old.
func (x *Index) readServer(ctx context.Context) (s server, err error) {
	err = x.client.do(ctx, call{method: http.MethodGet, answer: &s})
	if err == nil && s.Version.Number == "" {
		err = errors.New("its answer has no version")
	} else if err != nil && !errors.Is(err, fault.ErrInvalid) && !errors.Is(err, fault.ErrNotFound) {
		return s, err
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w: want the URL of a search server: %s: %w", x.client.nodes, fault.ErrInvalid, wantedServers, err)
	}
	if s.isTooOld() {
		return s, fmt.Errorf("search server %s: version %.40q: %w: %s", x.client.nodes, s.Version.Number, fault.ErrInvalid, wantedServers)
	}
	x.cluster.Store(&s.Cluster)
	return s, nil
}

// isTooOld reports whether the server is older than Elasticsearch 7.10. No OpenSearch is, because the first one is a later
// fork.
func (s server) isTooOld() bool {
	major, minor := 0, 0
	_, _ = fmt.Sscanf(s.Version.Number, "%d.%d", &major, &minor) // a number that cannot be read is too old
	return s.Version.Distribution != "opensearch" && (major < 7 || major == 7 && minor < 10)
}

// checkIndex returns fault.ErrCorrupt if an index has other fields than this version writes, or
// acknowledges writes before they are durable.
func (x *Index) checkIndex(ctx context.Context, index string) error {
	var found map[string]indexState
	if err := x.client.do(ctx, call{method: http.MethodGet, path: x.prefix + index, answer: &found}); err != nil {
		return err
	}
	for name, state := range found {
		if got := state.Settings.Index.Translog.Durability; got != durable && got != "" { // durable is the default
			return fmt.Errorf("index %s: %w: its setting translog.durability is %q: want %q, so that acknowledged writes are on disk", name, fault.ErrCorrupt, got, durable)
		}
		if field := x.otherField(index, state); field != "" && !x.anyMapping {
			advice := "delete the index, or set search-prefix"
			if slices.Contains(rebuilt, index) {
				advice += "; if it is of another version of Leasehold, run leasehold index rebuild"
			}
			return fmt.Errorf("index %s: %w: another program made it, or another version: its field %s has another mapping: %s", name, fault.ErrCorrupt, field, advice)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("index %s: %w: the name stands for %d indices: want 1", x.prefix+index, fault.ErrCorrupt, len(found))
	}
	return nil
}

// otherField returns a field that an index has not as this version writes it; "" if there is none.
func (x *Index) otherField(index string, state indexState) string {
	for field, want := range x.mappings[index] {
		if !sameField(state.Mappings.Properties[field], want.(object)) || state.Mappings.Dynamic != "strict" {
			return field
		}
	}
	return ""
}

// sameField reports whether a field of the server has the type and the analyzer of want. A field
// that the server does not have, nil, is different.
func sameField(got, want object) bool {
	return got != nil && got["analyzer"] == want["analyzer"] && (want["type"] == nil || got["type"] == want["type"])
}

// do prepares the indices, unless they are prepared, and sends a request. If an index does not
// exist, it fails with fault.ErrUnavailable, and the next request creates it.
func (x *Index) do(ctx context.Context, c call) error {
	if !x.prepared.Load() {
		if err := x.prepareIndices(ctx); err != nil {
			return err
		}
	}
	err := x.client.do(ctx, c)
	if failed := (*statusError)(nil); errors.As(err, &failed) && failed.errorType == indexNotFound {
		return x.noteDeleted(err)
	}
	return err
}

// indexNotFound is the type of the error of a request for an index that does not exist.
const indexNotFound = "index_not_found_exception"

// noteDeleted makes the next request create the indices that were deleted. It returns err as
// fault.ErrUnavailable, because repeating the request may succeed.
func (x *Index) noteDeleted(err error) error {
	x.prepared.Store(false)
	return fmt.Errorf("%w: an index was deleted, and will be created again: %w", fault.ErrUnavailable, err)
}

// decode decodes a part of an answer into to. Numbers in it stay json.Number.
func decode(data json.RawMessage, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("answer of the search server: %w: %w", fault.ErrInvalid, err)
	}
	return nil
}
