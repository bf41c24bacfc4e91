package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"leasehold/shared/fault"
)

// version is the end of the names of the indices. Another mapping gets another one.
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

// createBody returns the request that creates an index: with its aliases, so that requests use
// only these, with fields that may not be others than ours, and without the source of fields that
// are only searched.
func (x *Index) createBody(index string) object {
	aliases := object{x.prefix + index: object{}}
	if view := views[index]; view != "" {
		aliases[x.prefix+view] = object{"filter": shownBy([]string{})}
	}
	mapping := object{"dynamic": "strict", "properties": mappings[index]}
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
		if err := x.createIndex(ctx, index); err != nil {
			return err
		}
		err := x.checkIndex(ctx, index)
		if errors.Is(err, fault.ErrNotFound) { // somebody has removed its alias
			action := object{"add": object{"index": x.prefix + index + version, "alias": x.prefix + index}}
			err = errors.Join(x.client.do(ctx, call{method: http.MethodPost, path: "_aliases", body: asJSON(object{"actions": []object{action}})}), x.checkIndex(ctx, index))
		}
		if err != nil {
			return err
		}
	}
	x.prepared.Store(true)
	return nil
}

// createIndex creates an index, unless it exists. A serverless server, which sets shards, replicas and durability itself,
// refuses these settings; then it creates the index without them.
func (x *Index) createIndex(ctx context.Context, index string) error {
	body := x.createBody(index)
	c := call{method: http.MethodPut, path: x.prefix + index + version, body: asJSON(body)}
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
	return s, nil
}

// isTooOld reports whether the server is older than Elasticsearch 7.10. No OpenSearch is, because the first one is a later
// fork.
func (s server) isTooOld() bool {
	major, minor := 0, 0
	_, _ = fmt.Sscanf(s.Version.Number, "%d.%d", &major, &minor) // a number that cannot be read is too old
	return s.Version.Distribution != "opensearch" && (major < 7 || major == 7 && minor < 10)
}

// indexState describes an index of the server.
type indexState struct {
	Aliases  map[string]any `json:"aliases"`
	Mappings struct {
		Dynamic    string            `json:"dynamic"`
		Properties map[string]object `json:"properties"`
	} `json:"mappings"`
	Settings struct {
		Index struct {
			UUID     string `json:"uuid"`
			Shards   string `json:"number_of_shards"`
			Replicas string `json:"number_of_replicas"`
			Translog struct {
				Durability string `json:"durability"`
			} `json:"translog"`
		} `json:"index"`
	} `json:"settings"`
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
		for field, want := range mappings[index] {
			if got := state.Mappings.Properties[field]; !sameField(got, want.(object)) || state.Mappings.Dynamic != "strict" {
				return fmt.Errorf("index %s: %w: another program made it, or another version: its field %s has another mapping: delete the index, or set search-prefix",
					name, fault.ErrCorrupt, field)
			}
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("index %s: %w: the name stands for %d indices: want 1", x.prefix+index, fault.ErrCorrupt, len(found))
	}
	return nil
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
