package cmd

import (
	"context"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"leasehold/shared/api/client"
)

// errEmptyValue refuses an empty value where it would mean none, or all: an unset variable of a script would
// start a task before its parents, or select every dead letter.
var errEmptyValue = errors.New("want a value; it is empty, perhaps because a variable is not set")

// listVar adds a flag with a list. Its elements are separated by commas or line breaks, so that it takes the
// ids that a command printed. A repeated flag adds to the list.
func listVar(f *pflag.FlagSet, list *[]string, name, usage string) {
	f.Var(&listValue{list}, name, usage)
}

type listValue struct{ list *[]string }

func (v *listValue) String() string { return strings.Join(*v.list, ",") }
func (v *listValue) Type() string   { return "strings" }

// Set adds elements. An empty one is errEmptyValue; malformed text has the error of encoding/csv.
func (v *listValue) Set(text string) error {
	r := csv.NewReader(strings.NewReader(text)) // an element in quotes may have a comma
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	lines, err := r.ReadAll()
	if err != nil {
		return err
	}
	all := slices.Concat(lines...)
	for n := range all {
		all[n] = strings.TrimSpace(all[n])
	}
	if len(all) == 0 || slices.Contains(all, "") {
		return errEmptyValue
	}
	*v.list = append(*v.list, all...)
	return nil
}

// filledVar adds a flag with a text that must not be empty.
func filledVar(f *pflag.FlagSet, text *string, name, usage string) {
	f.Var((*filledValue)(text), name, usage)
}

type filledValue string

func (v *filledValue) String() string { return string(*v) }
func (v *filledValue) Type() string   { return "string" }

// Set sets the text; an empty one is errEmptyValue.
func (v *filledValue) Set(text string) error {
	if text == "" {
		return errEmptyValue
	}
	*v = filledValue(text)
	return nil
}

// ageValue is the value of a flag with an age. The API counts whole seconds, and 0 would select all.
type ageValue time.Duration

func (v *ageValue) String() string {
	if *v == 0 {
		return ""
	}
	return time.Duration(*v).String()
}
func (v *ageValue) Type() string { return "age" }

// Set sets the age; one below a second is refused.
func (v *ageValue) Set(text string) error {
	d, err := parseSpan(text)
	if err != nil || d < time.Second {
		return errors.New("want a duration of 1s or more, such as 90m or 7d")
	}
	*v = ageValue(d)
	return nil
}

// operation is the flag with the id of an operation.
type operation struct{ id string }

// bindOperation adds the flag.
func bindOperation(f *pflag.FlagSet) *operation {
	o := &operation{}
	filledVar(f, &o.id, "operation-id", "id of this operation; repeating the command with it within 10 minutes has no further effect")
	return o
}

// onlyRequest is the part of a command that makes one request.
const onlyRequest = "1"

// of returns the context for the request that changes one thing, which part names: several
// requests of a command must not have the same id. Without the flag each has an id of its own.
func (o *operation) of(ctx context.Context, part string) context.Context {
	if o.id == "" {
		return ctx
	}
	return client.WithOperation(ctx, o.id+"/"+part)
}
