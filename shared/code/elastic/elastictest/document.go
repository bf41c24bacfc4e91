package elastictest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a server.
const (
	maxBody  = 100 << 20 // http.max_content_length
	maxTerm  = 32_766    // bytes of a keyword
	maxID    = 512       // bytes
	maxToken = 255       // of the tokenizer whitespace; longer ones are split
)

// bulk is POST /_bulk. A malformed request is refused as a whole; the refusal of one write is in
// its item.
func (s *Server) bulk(r request) (any, *refusal) {
	if r.parameter("require_alias") != "true" {
		return nil, refuse(http.StatusBadRequest, "elastictest", "without require_alias a write creates an index")
	}
	if len(r.body) == 0 || r.body[len(r.body)-1] != '\n' {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
	}
	rows := bytes.Split(bytes.TrimSuffix(r.body, []byte("\n")), []byte("\n"))
	items, failed := []any{}, false
	for at := 0; at < len(rows); at++ {
		var head map[string]struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
		}
		if err := (request{body: rows[at]}).decode(&head); err != nil || len(head) != 1 {
			return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "Malformed action/metadata line [%d]", at+1)
		}
		for action, to := range head {
			if to.ID == "" || len(to.ID) > maxID {
				return nil, refuse(http.StatusBadRequest, "action_request_validation_exception", "Validation Failed: 1: id [%.40s] has a wrong length;", to.ID)
			}
			var source []byte
			if action != "delete" {
				if at++; at == len(rows) {
					return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "no document for line [%d]", at)
				}
				source = rows[at]
			}
			status, err := s.write(action, to.Index, to.ID, source)
			item := map[string]any{"_index": to.Index, "_id": to.ID, "status": status}
			if err != nil {
				failed = true
				item["error"] = map[string]any{"type": err.kind, "reason": err.reason}
			}
			items = append(items, map[string]any{action: item})
		}
	}
	return map[string]any{"took": 1, "errors": failed, "items": items}, nil
}

// write does one write, and returns the status of its item. As on a real server, a write through a
// name other than an alias is refused, because require_alias is set. A test may refuse any write
// with FailItem.
func (s *Server) write(action, name, id string, source []byte) (status int, failed *refusal) {
	if s.FailItem != nil {
		if status, kind := s.FailItem(action, name, id); status != 0 {
			return status, refuse(status, kind, "a test")
		}
	}
	if s.indices[name] != nil || s.aliases[name] == nil {
		return http.StatusNotFound, refuse(http.StatusNotFound, "index_not_found_exception", "no such index [%s] and [require_alias] request flag is [true] and [%s] is not an alias", name, name)
	}
	i, _, err := s.find(name)
	if err != nil {
		return err.status, err
	}
	if i.readOnly {
		return http.StatusForbidden, refuse(http.StatusForbidden, "cluster_block_exception", "index [%s] blocked by: [FORBIDDEN/8/index write (api)];", name)
	}
	known := i.docs[id] != nil
	switch action {
	case "delete":
		delete(i.docs, id)
		if !known {
			return http.StatusNotFound, nil
		}
		return http.StatusOK, nil
	case "create", "index":
	default:
		return http.StatusBadRequest, refuse(http.StatusBadRequest, "illegal_argument_exception", "unknown action [%s]", action)
	}
	if action == "create" && known {
		return http.StatusConflict, refuse(http.StatusConflict, "version_conflict_engine_exception", "[%s]: version conflict, document already exists (current version [1])", id)
	}
	d, err := i.parse(id, source)
	if err != nil {
		return err.status, err
	}
	i.docs[id] = d
	if known {
		return http.StatusOK, nil
	}
	return http.StatusCreated, nil
}

// parse checks a document against the mapping, and finds its terms. The source is kept without the
// fields that the mapping excludes. It refuses text other than JSON in UTF-8, and what index
// refuses.
func (i *index) parse(id string, source []byte) (*document, *refusal) {
	d := &document{id: id, values: map[string][]string{}}
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.UseNumber()
	if err := decoder.Decode(&d.source); err != nil || !utf8.Valid(source) {
		return nil, refuse(http.StatusBadRequest, "document_parsing_exception", "failed to parse: %v", err)
	}
	if err := d.index(i.mapping.Properties, d.source, ""); err != nil {
		return nil, err
	}
	if i.mapping.Source != nil {
		for _, name := range i.mapping.Source.Excludes {
			delete(d.source, name)
		}
	}
	return d, nil
}

// index adds the terms of an object, whose path ends in a dot unless it is empty. Fields that the
// mapping lacks are refused; those that are not enabled are only stored.
func (d *document) index(fields map[string]field, object map[string]any, path string) *refusal {
	for name, value := range object {
		f, ok := fields[name]
		if !ok {
			return refuse(http.StatusBadRequest, "strict_dynamic_mapping_exception", "mapping set to strict, dynamic introduction of [%s%s] within [_doc] is not allowed", path, name)
		}
		if f.isDisabled() {
			continue
		}
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		for _, v := range values {
			if err := d.indexValue(f, path+name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexValue adds the terms of one value of a field, or refuses one of another type, and a
// keyword longer than maxTerm. Tokens of text are cut at maxToken, and kept sorted for
// compileTerms. A text without an analyser is only stored.
func (d *document) indexValue(f field, path string, v any) *refusal {
	text, isText := v.(string)
	_, isNumber := v.(json.Number)
	_, isBool := v.(bool)
	nested, isObject := v.(map[string]any)
	switch {
	case isObject && f.Properties != nil:
		return d.index(f.Properties, nested, path+".")
	case f.Type == "keyword" && isText && len(text) <= maxTerm:
		d.values[path] = append(d.values[path], text)
	case f.Type == "keyword" && isText:
		return refuse(http.StatusBadRequest, "document_parsing_exception", "Document contains at least one immense term in field=%q", path)
	case f.Type == "text" && isText && f.Analyzer != "":
		for _, token := range strings.Fields(text) {
			for ; len(token) > maxToken; token = token[maxToken:] {
				d.values[path] = append(d.values[path], token[:maxToken])
			}
			d.values[path] = append(d.values[path], token)
		}
		slices.Sort(d.values[path])
	case f.Type == "text" && isText:
	case f.Type == "long" && isNumber, f.Type == "double" && isNumber, f.Type == "boolean" && isBool:
		d.values[path] = append(d.values[path], fmt.Sprint(v))
	default:
		return refuse(http.StatusBadRequest, "document_parsing_exception", "failed to parse field [%s] of type [%s]: %.40v", path, f.Type, v)
	}
	return nil
}

// readMany is POST /INDEX/_mget. It sees documents before they are refreshed. Without ids it is
// refused; an unknown index is an error in each item, as with a real server.
func (s *Server) readMany(r request) (any, *refusal) {
	var body struct {
		IDs []string `json:"ids"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	if len(body.IDs) == 0 {
		return nil, refuse(http.StatusBadRequest, "action_request_validation_exception", "Validation Failed: 1: no documents to get;")
	}
	i, _, err := s.find(r.name)
	docs := []any{}
	for _, id := range body.IDs {
		answer := map[string]any{"_index": r.name, "_id": id}
		switch {
		case err != nil:
			answer["error"] = map[string]any{"type": err.kind, "reason": err.reason}
		case i.docs[id] == nil:
			answer["found"] = false
		default:
			answer["found"] = true
			var fields []string
			if names := r.parameter("_source_includes"); names != "" {
				fields = strings.Split(names, ",")
			}
			if r.parameter("_source") != "false" {
				answer["_source"] = i.docs[id].only(fields)
			}
		}
		docs = append(docs, answer)
	}
	return map[string]any{"docs": docs}, nil
}

// only returns some fields of a document; all of them if fields is nil.
func (d *document) only(fields []string) map[string]any {
	if fields == nil {
		return d.source
	}
	some := map[string]any{}
	for _, name := range fields {
		if v, ok := d.source[name]; ok {
			some[name] = v
		}
	}
	return some
}
