// Package function describes functions under the names of goSpace's package function.
//
// Package gospace itself keeps the functions that a program uses as fields: a Registry here is only
// for programs that have one of their own.
//
// It uses the names that the Go runtime gives functions.
package function

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// valueOf returns the function that fun is, or holds as a reflect.Value or reflect.Method.
func valueOf(fun interface{}) reflect.Value {
	switch f := fun.(type) {
	case reflect.Value:
		return f
	case reflect.Method:
		return f.Func
	}
	return reflect.ValueOf(fun)
}

// IsFunc reports whether fun is a function or a method.
func IsFunc(fun interface{}) bool { return valueOf(fun).Kind() == reflect.Func }

// requireFunc returns the function, and panics for another value, as goSpace does.
func requireFunc(fun interface{}) reflect.Value {
	if !IsFunc(fun) {
		panic(fmt.Sprintf("%T is not a function", fun))
	}
	return valueOf(fun)
}

// Name returns the name of a function with its package. It panics for another value.
func Name(fun interface{}) string {
	return strings.TrimSuffix(runtime.FuncForPC(requireFunc(fun).Pointer()).Name(), "-fm")
}

// Type returns the type of a function. It panics for another value.
func Type(fun interface{}) reflect.Type { return requireFunc(fun).Type() }

// Signature returns the types of a function, as (int, ...string) -> (bool), with a name and a colon
// before them if one is given. It panics for another value.
func Signature(fun interface{}, name ...string) string {
	t := Type(fun)
	var in, out []string
	for i := range t.NumIn() {
		text := t.In(i).String()
		if t.IsVariadic() && i == t.NumIn()-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		in = append(in, text)
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i).String())
	}
	text := "(" + strings.Join(in, ", ") + ") -> (" + strings.Join(out, ", ") + ")"
	if len(name) == 1 {
		return name[0] + ": " + text
	}
	return text
}

// CallerInfo is where a function was called.
type CallerInfo struct {
	File string
	Line int
	Pkg  string
	Func string
}

// ExtractCallerInfo returns where the function was called that is depth calls above.
func ExtractCallerInfo(depth int) CallerInfo {
	counter, file, line, ok := runtime.Caller(depth)
	if !ok {
		return CallerInfo{"<unknown file>", -1, "<unknown package>", "<unknown function>"}
	}
	name := runtime.FuncForPC(counter).Name()
	dot := strings.LastIndexByte(name, '.')
	return CallerInfo{file, line, name[:max(dot, 0)], name[dot+1:]}
}

// Function is any function.
type Function interface{}

// Namespace is the name and the signature of a function.
type Namespace string

// NewNamespace returns s as a Namespace.
func NewNamespace(s string) Namespace { return Namespace(s) }

// String returns the text.
func (n *Namespace) String() string { return string(*n) }

// Registry finds functions by their namespaces. Any number of goroutines may use it and its copies.
type Registry struct{ functions *sync.Map }

// GlobalRegistry is a registry for the whole program.
var GlobalRegistry = func() *Registry { r := NewRegistry(); return &r }()

// NewRegistry returns an empty registry.
func NewRegistry() Registry { return Registry{&sync.Map{}} }

func namespaceOf(fun Function) Namespace { return Namespace(Name(fun) + ":" + Signature(fun)) }

// Register adds a function. It returns false if it was there.
func (r *Registry) Register(fun Function) bool {
	_, known := r.functions.LoadOrStore(namespaceOf(fun), &fun)
	return !known
}

// Unregister removes a function. It returns false if it was not there.
func (r *Registry) Unregister(fun Function) bool {
	_, known := r.functions.LoadAndDelete(namespaceOf(fun))
	return known
}

// Check reports whether a function is there.
func (r *Registry) Check(fun Function) bool {
	_, known := r.functions.Load(namespaceOf(fun))
	return known
}

// Encode registers a function, and returns its namespace.
func (r *Registry) Encode(fun Function) *Namespace {
	r.Register(fun)
	n := namespaceOf(fun)
	return &n
}

// Decode returns the function of a namespace; nil if it is not there.
func (r *Registry) Decode(n Namespace) *Function {
	fun, ok := r.functions.Load(n)
	if !ok {
		return nil
	}
	return fun.(*Function)
}
