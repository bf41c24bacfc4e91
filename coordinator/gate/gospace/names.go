package gospace

import (
	"strings"

	"leasehold/shared/protocol/interop"
	"leasehold/shared/tuple"
)

// The names under which goSpace registers its types at package encoding/gob.
const (
	nameTuple     = "github.com/pspaces/gospace/container.Tuple"
	nameTemplate  = "github.com/pspaces/gospace/container.Template"
	nameTypeField = "github.com/pspaces/gospace/container.TypeField"
	nameList      = "[]interface {}"
)

// The opaque types that gate pspace has too.
const (
	opaqueInt8  = "pspace:byte"
	opaqueInt16 = "java.lang.Short"
)

// goTypes are the Go types, as package reflect prints them, of the fields that package
// tuple has; other types are opaque.
var goTypes = map[string]tuple.Type{
	"bool": tuple.Bool, "int": tuple.Int, "int32": tuple.Int32, "int64": tuple.Int64, "float32": tuple.Float32, "float64": tuple.Float64,
	"string": tuple.String, "[]uint8": tuple.Bytes, "container.Tuple": tuple.Nested,
	"int8": tuple.OpaqueType(opaqueInt8), "int16": tuple.OpaqueType(opaqueInt16),
}

// typeOf returns the type of the fields of a Go type: an opaque one, with the Go type in its
// name, if package tuple lacks it.
func typeOf(goType string) tuple.Type {
	if t, ok := goTypes[goType]; ok {
		return t
	}
	return tuple.OpaqueType(interop.OpaqueGo + goType)
}

// printedName returns a registered name as package reflect prints the type: without the path of its package.
// Stars of pointers stay. The name of a type made of others ("[]a/b.C", "map[string]a/b.C") stays as it is,
// because its first slash does not belong to one path.
func printedName(registered string) string {
	name := strings.TrimLeft(registered, "*")
	stars := registered[:len(registered)-len(name)]
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !strings.ContainsAny(name[:i], "[ ") {
		name = name[i+1:]
	}
	return stars + name
}
