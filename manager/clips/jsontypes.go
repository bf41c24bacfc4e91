package clips

import (
	"encoding/json"
	"maps"
	"slices"

	feedjson "github.com/mmcdole/gofeed/json"
)

// fixTypes returns a JSON Feed whose members have the types that the parser wants, and how many had others: a number
// for a text and an object for a list are converted, other values are left out. It returns 0 for any other document.
func fixTypes(doc []byte) (fixed []byte, wrong int) {
	var feed map[string]json.RawMessage
	if len(doc) == 0 || doc[0] != '{' || json.Unmarshal(doc, &feed) != nil {
		return nil, 0
	}
	var items []json.RawMessage
	if json.Unmarshal(feed["items"], &items) != nil {
		return nil, 0
	}
	delete(feed, "items")
	wrong = fixMembers(feed, func(member []byte) error { return json.Unmarshal(member, &feedjson.Feed{}) })
	kept := items[:0]
	for _, raw := range items {
		var item map[string]json.RawMessage
		if json.Unmarshal(raw, &item) != nil || item == nil {
			wrong++
			continue
		}
		if n := fixMembers(item, func(member []byte) error { return json.Unmarshal(member, &feedjson.Item{}) }); n > 0 {
			wrong += n
			raw, _ = json.Marshal(item) // what was parsed can be written
		}
		kept = append(kept, raw)
	}
	feed["items"], _ = json.Marshal(kept)
	fixed, _ = json.Marshal(feed)
	return fixed, wrong
}

// fixMembers converts or drops the members that accept refuses, each as an object of its own, and counts them.
func fixMembers(object map[string]json.RawMessage, accept func(member []byte) error) (wrong int) {
	alone := func(name string, value []byte) []byte {
		key, _ := json.Marshal(name)
		return slices.Concat([]byte("{"), key, []byte(":"), value, []byte("}"))
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		if accept(alone(name, value)) == nil {
			continue
		}
		wrong++
		delete(object, name)
		for _, other := range [][]byte{slices.Concat([]byte(`"`), value, []byte(`"`)), slices.Concat([]byte("["), value, []byte("]"))} {
			if json.Valid(other) && accept(alone(name, other)) == nil {
				object[name] = other
				break
			}
		}
	}
	return wrong
}
