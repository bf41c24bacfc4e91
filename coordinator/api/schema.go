package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"leasehold/models"
	"leasehold/shared/api/strictjson"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/schedule"
)

// A generator collects the schemas of the types that operations use.
type generator struct {
	schemas object                  // by name, those of answers and of bodies
	names   map[reflect.Type]string // of the schemas that it added
	isBody  bool                    // its types are of bodies
	answers map[reflect.Type]string // names of the types of answers
}

func newGenerator() *generator {
	names := map[reflect.Type]string{}
	return &generator{schemas: object{}, names: names, answers: names}
}

// forBodies returns a generator of the same schemas for the types of bodies, for use after all answers.
func (g *generator) forBodies() *generator {
	return &generator{schemas: g.schemas, names: map[reflect.Type]string{}, isBody: true, answers: g.names}
}

// formats are constraints with a name, for the tag schema.
var formats = map[string]object{
	"id":        {"pattern": models.IDPattern},
	"maybeID":   {"pattern": "^([A-Za-z0-9._:-]{1,128})?$"},
	"name":      {"pattern": `^[^\x00-\x1f\x7f-\x9f]{0,200}$`},
	"someName":  {"pattern": namePattern},
	"shortLine": {"pattern": `^[^\x00-\x1f\x7f-\x9f]{0,255}$`},
	"text":      {"pattern": `^[^\x00]+$`},
	"anyText":   {"pattern": `^[^\x00]*$`},
	"every":     {"minimum": 0, "maximum": 876000 * 3600, "not": object{"exclusiveMinimum": 0, "exclusiveMaximum": 60}},
	"branches":  {"maxItems": 64, "items": object{"maxLength": 255, "pattern": models.BranchPattern}},
	"line":      {"pattern": linePattern},
	"url":       {"pattern": models.WebURLPattern, "maxLength": models.MaxURI},
	"anyURI":    {"pattern": `^[^\x00]+$`},
	"gitPath":   {"pattern": base64Pattern, "minLength": 4, "maxLength": 5464},
	"hub":       {"pattern": models.HubURLPattern, "maxLength": models.MaxHubURL},
	"sha256":    {"pattern": "^[0-9a-f]{64}$"},
	"oid":       {"pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"},
	"kind":      {"pattern": "^[a-z][a-z0-9_-]{0,31}$"},
	"cron":      {"pattern": "^$|" + schedule.CronPattern, "maxLength": schedule.MaxCron},
	"hours":     {"pattern": `^(any|(([01][0-9]|2[0-3]):[0-5][0-9])-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(@[A-Za-z][A-Za-z0-9_+/-]{0,63})?)$`},
}

// namePattern is of the names of tags, limits and parents.
const namePattern = `^[^\x00-\x1f\x7f-\x9f]{1,200}$`

// linePattern is of text that fits on a line.
const linePattern = `^[^\x00-\x1f\x7f-\x9f]*$`

// constrain adds the constraints of a tag to a schema: the name of a format, or keywords of JSON Schema as a YAML
// mapping without its braces, such as minimum: 0, maximum: 25. Keywords of items are added to those of the items.
// It panics on another text, which is a mistake in the source.
func constrain(s object, tag string) {
	if tag == "" {
		return
	}
	keywords := formats[tag]
	if keywords == nil {
		if err := yaml.Unmarshal([]byte("{"+tag+"}"), &keywords); err != nil {
			panic(fmt.Sprintf("schema %q: %v", tag, err))
		}
	}
	for keyword, value := range keywords {
		items, ok := s["items"].(object)
		if keyword != "items" || !ok {
			s[keyword] = value
			continue
		}
		if name, ok := value.(string); ok {
			maps.Copy(items, formats[name])
		} else {
			maps.Copy(items, value.(object))
		}
	}
}

// base64Pattern is how bytes are written.
const base64Pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

// enums are the values of string types.
var enums = map[reflect.Type]func() []string{
	reflect.TypeFor[types.ErrorCode](): func() (codes []string) {
		for _, row := range fault.Table {
			codes = append(codes, row.Code)
		}
		return codes
	},
}

// schema returns the schema of a type, which is a reference if the type is a struct with a name
// of its own. Any kind that has no case is an integer.
func (g *generator) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64", "pattern": base64Pattern}
		}
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		if strings.Contains(t.Name(), "[") { // a page
			return g.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + g.addSchema(t)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		if values := enums[t]; values != nil {
			return object{"type": "string", "enum": values()}
		}
		return object{"type": "string"}
	}
	return object{"type": "integer", "format": "int64"}
}

// addSchema adds the schema of a struct, if it is missing, and returns its name.
func (g *generator) addSchema(t reflect.Type) string {
	if name := g.names[t]; name != "" {
		return name
	}
	name := g.newName(t)
	g.names[t] = name
	g.schemas[name] = object{} // taken, while the schemas of its fields are added
	g.schemas[name] = g.structure(t)
	return name
}

// newName returns the name of a type's schema. What is created is a …Creation, because New… is what generated Go
// clients call their constructors; Tuple is a name of Python's typing. If another package has a type of the same
// name, the name has the package too. A body with the name of an answer is an …Input, because it refuses unknown
// fields, and clients must accept those of a later version in answers.
func (g *generator) newName(t reflect.Type) string {
	name := t.Name()
	if created, ok := strings.CutPrefix(name, "New"); ok {
		name = created + "Creation"
	} else if name == "Tuple" {
		name = "SpaceTuple"
	}
	if g.schemas[name] != nil && g.isBody && g.answers[t] != "" {
		name += "Input"
	}
	if g.schemas[name] != nil {
		pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

// structure returns the schema of a struct with its fields.
func (g *generator) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	g.addFields(t, properties, &required)
	s := object{"type": "object", "properties": properties}
	if g.isBody {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	if blank, ok := t.FieldByName("_"); ok {
		constrain(s, blank.Tag.Get("schema"))
	}
	if rules := strictjson.RulesOf(t); g.isBody {
		if rules.Least {
			s["minProperties"] = 1
		}
		if len(rules.Needs) > 0 {
			s["dependentRequired"] = rules.Needs
		}
	}
	return s
}

// allOptional reports whether a struct may have no field.
func allOptional(t reflect.Type) bool {
	if strictjson.RulesOf(t).Least {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Name == "_" {
			continue
		}
		if embeds := f.Anonymous && name == ""; embeds && !allOptional(f.Type) || !embeds && !isOptional(options) {
			return false
		}
	}
	return true
}

// isOptional reports whether a field with these options of its JSON tag may be absent.
func isOptional(options string) bool { return strings.HasPrefix(options, "omit") }

// mayBeNull reports whether a required field may be null: in answers a pointer, and in bodies a list or a map that may be
// empty, because Go writes an empty one so.
func (g *generator) mayBeNull(f reflect.StructField) bool {
	k := f.Type.Kind()
	if g.isBody {
		rule := f.Tag.Get("schema")
		return (k == reflect.Slice || k == reflect.Map) && !strings.Contains(rule, "minItems") && !strings.Contains(rule, "minLength") && rule != "gitPath"
	}
	return k == reflect.Pointer
}

// addFields adds the fields of a struct as encoding/json names them, and to required
// those that are never omitted.
func (g *generator) addFields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Name == "_" {
			continue
		}
		if f.Anonymous && name == "" {
			g.addFields(f.Type, properties, required)
			continue
		}
		s := g.schema(f.Type)
		if kind := s["type"]; kind != nil && !isOptional(options) && g.mayBeNull(f) {
			s["type"] = []any{kind, "null"}
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		if values := f.Tag.Get("enum"); values != "" {
			s["enum"] = strings.Split(values, ",")
		}
		constrain(s, f.Tag.Get("schema"))
		properties[name] = s
		if !isOptional(options) && !slices.Contains(*required, name) { // an embedded struct may have it too
			*required = append(*required, name)
		}
	}
}
