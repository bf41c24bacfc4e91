package elastictest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// index is one index.
type index struct {
	uuid     string
	settings map[string]any
	mapping  mapping
	docs     map[string]*document
	visible  []*document // what searches see, by id
	readOnly bool        // writes are refused
}

// document is one document. It does not change.
type document struct {
	id     string
	source map[string]any
	values map[string][]string // of indexed fields: texts of keywords and terms
}

// mapping is the fields of an index.
type mapping struct {
	Dynamic    string           `json:"dynamic"`
	Properties map[string]field `json:"properties"`
	Meta       map[string]any   `json:"_meta,omitempty"`
	Source     *struct {
		Excludes []string `json:"excludes"`
	} `json:"_source,omitempty"`
}

// field is the type of a field.
type field struct {
	Type         string           `json:"type,omitempty"`
	Analyzer     string           `json:"analyzer,omitempty"`
	Norms        *bool            `json:"norms,omitempty"`
	IndexOptions string           `json:"index_options,omitempty"`
	Enabled      *bool            `json:"enabled,omitempty"`
	Properties   map[string]field `json:"properties,omitempty"`
}

// isDisabled reports whether the field is stored and not indexed.
func (f field) isDisabled() bool { return f.Enabled != nil && !*f.Enabled }

// alias shows an index, or the documents that a filter matches.
type alias struct {
	exists bool
	filter json.RawMessage
	match  matcher
}

type aliasBody struct {
	Filter json.RawMessage `json:"filter"`
}

// create is PUT /INDEX. It refuses names that a real server refuses, an index or alias that
// exists, and other settings and types than those that package elastic sends.
func (s *Server) create(r request) (any, *refusal) {
	var body struct {
		Settings settings             `json:"settings"`
		Mappings mapping              `json:"mappings"`
		Aliases  map[string]aliasBody `json:"aliases"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	if r.name == "" || r.name != strings.ToLower(r.name) || strings.HasPrefix(r.name, "_") || strings.ContainsAny(r.name, ` ,"*\<|>/?#:`) {
		return nil, refuse(http.StatusBadRequest, "invalid_index_name_exception", "Invalid index name [%s]", r.name)
	}
	if s.indices[r.name] != nil {
		return nil, refuse(http.StatusBadRequest, "resource_already_exists_exception", "index [%s] already exists", r.name)
	}
	if s.aliases[r.name] != nil {
		return nil, refuse(http.StatusBadRequest, "invalid_index_name_exception", "Invalid index name [%s], already exists as alias", r.name)
	}
	want := map[string]any{"analyzer": map[string]any{"trigrams": map[string]any{"type": "custom", "tokenizer": "whitespace"}}}
	if !reflect.DeepEqual(body.Settings.Analysis, want) {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "analysis %v", body.Settings.Analysis)
	}
	if err := body.Settings.check(s.Serverless); err != nil {
		return nil, err
	}
	if err := checkFields(body.Mappings.Properties); err != nil {
		return nil, err
	}
	s.created++
	i := &index{uuid: fmt.Sprint("uuid-", s.created), mapping: body.Mappings, docs: map[string]*document{}}
	i.settings = map[string]any{"index": body.Settings.shown(i.uuid, s.Serverless)}
	for name, a := range body.Aliases {
		if s.indices[name] != nil {
			return nil, refuse(http.StatusBadRequest, "invalid_alias_name_exception", "Invalid alias name [%s]: an index or data stream exists with the same name as the alias", name)
		}
		if err := s.addAlias(name, r.name, i, a.Filter); err != nil {
			return nil, err
		}
	}
	s.indices[r.name] = i
	return map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": r.name}, nil
}

// settings are those of an index that package elastic sends.
type settings struct {
	Durability string         `json:"index.translog.durability"`
	Shards     int            `json:"index.number_of_shards"`
	Replicas   *int           `json:"index.number_of_replicas"`
	Analysis   map[string]any `json:"analysis"`
}

// check refuses numbers out of range, and on a serverless server all but the analysis.
func (s settings) check(serverless bool) *refusal {
	if s.Shards < 0 || s.Shards > 1024 || s.Replicas != nil && *s.Replicas < 0 {
		return refuse(http.StatusBadRequest, "illegal_argument_exception", "Failed to parse value for setting [index.number_of_shards] or [index.number_of_replicas]")
	}
	if serverless && (s.Durability != "" || s.Shards > 0 || s.Replicas != nil) {
		return refuse(http.StatusBadRequest, "illegal_argument_exception", "Settings [index.number_of_shards,index.translog.durability] are not available when running in serverless mode")
	}
	return nil
}

// shown returns the settings of an index as the server tells them.
func (s settings) shown(uuid string, serverless bool) map[string]any {
	if serverless {
		return map[string]any{"uuid": uuid}
	}
	return map[string]any{"uuid": uuid, "translog": map[string]any{"durability": s.Durability},
		"number_of_shards": fmt.Sprint(max(1, s.Shards)), "number_of_replicas": fmt.Sprint(*cmp.Or(s.Replicas, new(1)))}
}

// checkFields refuses types that the server does not have.
func checkFields(fields map[string]field) *refusal {
	for name, f := range fields {
		switch {
		case f.Properties != nil && f.Type == "":
			if err := checkFields(f.Properties); err != nil {
				return err
			}
		case f.Type == "text" && (f.Analyzer == "" || f.Analyzer == "trigrams"):
		case f.Type == "object" && f.isDisabled():
		case slices.Contains([]string{"keyword", "long", "double", "boolean"}, f.Type) && f.Analyzer == "":
		default:
			return refuse(http.StatusBadRequest, "mapper_parsing_exception", "field [%s] has the type [%s]", name, f.Type)
		}
	}
	return nil
}

// get is GET /, the version, and GET /INDEX,INDEX, the indices with these names or aliases. If one does not exist, it
// refuses with not found. A name may end in *, and then stands for any number of indices.
func (s *Server) get(r request) (any, *refusal) {
	if r.name == "" {
		version := map[string]any{"number": cmp.Or(s.Number, "8.15.0")}
		if s.OpenSearch {
			version = map[string]any{"number": cmp.Or(s.Number, "2.11.0"), "distribution": "opensearch"}
		}
		return map[string]any{"name": "elastictest", "cluster_uuid": cmp.Or(s.Cluster, "cluster-in-memory"), "version": version}, nil
	}
	found := map[string]any{}
	for wanted := range strings.SplitSeq(r.name, ",") {
		beginning, isPattern := strings.CutSuffix(wanted, "*")
		exists := isPattern
		for name, i := range s.indices {
			if _, ok := s.aliases[wanted][name]; ok || name == wanted || isPattern && strings.HasPrefix(name, beginning) {
				exists = true
				found[name] = s.describe(name, i, r.parameter("filter_path") != "")
			}
		}
		if !exists {
			return nil, notFound(wanted)
		}
	}
	return found, nil
}

// describe returns an index as the server tells it: all, or only what filter_path asks for.
func (s *Server) describe(name string, i *index, only bool) any {
	if !only {
		return map[string]any{"aliases": s.aliasesOf(name), "mappings": i.mapping, "settings": i.settings}
	}
	described := map[string]any{"aliases": s.aliasesOf(name), "settings": map[string]any{"index": map[string]any{"uuid": i.uuid}}}
	if i.mapping.Meta != nil {
		described["mappings"] = map[string]any{"_meta": i.mapping.Meta}
	}
	return described
}

// delete is DELETE /INDEX.
func (s *Server) delete(r request) (any, *refusal) {
	if s.indices[r.name] == nil {
		return nil, notFound(r.name)
	}
	s.remove(r.name)
	return acknowledged, nil
}

var acknowledged = map[string]any{"acknowledged": true}

// changeMapping is PUT /INDEX/_mapping with the notes of a mapping.
func (s *Server) changeMapping(r request) (any, *refusal) {
	var body struct {
		Meta map[string]any `json:"_meta"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	i, _, err := s.find(r.name)
	if err != nil {
		return nil, err
	}
	i.mapping.Meta = body.Meta
	return acknowledged, nil
}

// changeSettings is PUT /INDEX/_settings with whether writes are refused.
func (s *Server) changeSettings(r request) (any, *refusal) {
	var body struct {
		Refuses *bool `json:"index.blocks.write"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	i, _, err := s.find(r.name)
	if err != nil {
		return nil, err
	}
	i.readOnly = body.Refuses != nil && *body.Refuses
	return acknowledged, nil
}

// refuseWrites is PUT /INDEX/_block/write.
func (s *Server) refuseWrites(r request) (any, *refusal) {
	i, _, err := s.find(r.name)
	if err != nil {
		return nil, err
	}
	i.readOnly = true
	return map[string]any{"acknowledged": true, "shards_acknowledged": true, "indices": []any{map[string]any{"name": r.name, "blocked": true}}}, nil
}

// aliasesOf returns the aliases of an index, each with its filter if it has one.
func (s *Server) aliasesOf(index string) map[string]any {
	all := map[string]any{}
	for name, of := range s.aliases {
		if a, ok := of[index]; ok {
			all[name] = a.shown()
		}
	}
	return all
}

// shown returns how the server describes an alias.
func (a alias) shown() map[string]any {
	if a.filter == nil {
		return map[string]any{}
	}
	return map[string]any{"filter": a.filter}
}

// find returns the index of a name or of an alias, and the filter of the alias; nil: it shows
// all. An alias of several indices is refused, because writes need one.
func (s *Server) find(name string) (*index, matcher, *refusal) {
	if i := s.indices[name]; i != nil {
		return i, nil, nil
	}
	if len(s.aliases[name]) != 1 {
		return nil, nil, notFound(name)
	}
	for index, a := range s.aliases[name] {
		return s.indices[index], a.match, nil
	}
	return nil, nil, nil // not reached: the alias has one index
}

// addAlias adds an alias of an index, or replaces its filter. It refuses a filter that does not
// compile, and then changes nothing.
func (s *Server) addAlias(name, of string, i *index, filter json.RawMessage) *refusal {
	a := alias{exists: true, filter: filter}
	if filter != nil {
		var err *refusal
		if a.match, err = (&compiler{index: i}).compile(filter); err != nil {
			return err
		}
	}
	if s.aliases[name] == nil {
		s.aliases[name] = map[string]alias{}
	}
	s.aliases[name][of] = a
	return nil
}

// removeAlias removes an index from an alias. An alias without an index is gone.
func (s *Server) removeAlias(name, index string) {
	if delete(s.aliases[name], index); len(s.aliases[name]) == 0 {
		delete(s.aliases, name)
	}
}

// getAlias is GET /_alias/NAME: the indices of the alias with their filters. An unknown one is
// refused with 404.
func (s *Server) getAlias(r request) (any, *refusal) {
	if s.aliases[r.name] == nil {
		return nil, refuse(http.StatusNotFound, "", "alias [%s] missing", r.name)
	}
	found := map[string]any{}
	for index, a := range s.aliases[r.name] {
		found[index] = map[string]any{"aliases": map[string]any{r.name: a.shown()}}
	}
	return found, nil
}

// changeAliases is POST /_aliases. It does all actions or none: a refusal, for an action other
// than add and remove, an unknown index or a filter, puts back the aliases of before.
func (s *Server) changeAliases(r request) (any, *refusal) {
	var body struct {
		Actions []map[string]struct {
			Index  string          `json:"index"`
			Alias  string          `json:"alias"`
			Filter json.RawMessage `json:"filter"`
		} `json:"actions"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	before := map[string]map[string]alias{}
	for name, of := range s.aliases {
		before[name] = maps.Clone(of)
	}
	for _, one := range body.Actions {
		for kind, a := range one {
			var err *refusal
			switch i := s.indices[a.Index]; {
			case kind == "remove" && i != nil && s.aliases[a.Alias][a.Index].exists:
				s.removeAlias(a.Alias, a.Index)
			case kind == "remove" && i != nil:
				err = refuse(http.StatusNotFound, "aliases_not_found_exception", "aliases [%s] missing", a.Alias)
			case kind != "add" && kind != "remove":
				err = refuse(http.StatusBadRequest, "x_content_parse_exception", "unknown field [%s]", kind)
			case i == nil:
				err = notFound(a.Index)
			default:
				err = s.addAlias(a.Alias, a.Index, i, a.Filter)
			}
			if err != nil {
				s.aliases = before
				return nil, err
			}
		}
	}
	return map[string]any{"acknowledged": true}, nil
}

// refresh is POST /INDEX/_refresh: searches see the documents written so far. An unknown index is
// refused.
func (s *Server) refresh(r request) (any, *refusal) {
	i, _, err := s.find(r.name)
	if err != nil {
		return nil, err
	}
	i.refresh()
	return map[string]any{"_shards": map[string]any{"total": 2, "successful": 1, "failed": 0}}, nil
}

// refresh lets searches see all documents that were written.
func (i *index) refresh() {
	i.visible = make([]*document, 0, len(i.docs))
	for _, d := range i.docs {
		i.visible = append(i.visible, d)
	}
	slices.SortFunc(i.visible, func(a, b *document) int { return strings.Compare(a.id, b.id) })
}
