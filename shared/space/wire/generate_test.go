package wire_test

import (
	"time"

	"pgregory.net/rapid"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The generators draw every field of requests and replies.

// tuples draws valid tuples of up to 5 fields of all types.
func tuples() *rapid.Generator[tuple.Tuple] {
	field := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Int32().AsAny(), rapid.Int64().AsAny(),
		rapid.Float32().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(), rapid.SliceOf(rapid.Byte()).AsAny(),
		rapid.Just[any](tuple.New("nested", int64(1))), rapid.Just[any](tuple.Opaque{Name: "n", JSON: "{}"}),
	)
	return rapid.Map(rapid.SliceOfN(field, 0, 5), func(fields []any) tuple.Tuple { return tuple.New(fields...) })
}

// maybe draws a value, or the zero value, which is absent in a message.
func maybe[T any](t *rapid.T, g *rapid.Generator[T]) (v T) {
	if rapid.Bool().Draw(t, "absent") {
		return v
	}
	return g.Draw(t, "present")
}

var names = rapid.StringN(0, 5, space.MaxName)

// options draws options, also ones that no engine accepts.
func options(t *rapid.T) space.Options {
	return space.Options{
		Kind: space.Kind(names.Draw(t, "kind")), OrderBy: rapid.Int().Draw(t, "order"), Capacity: rapid.Int().Draw(t, "capacity"),
		Overflow: space.Overflow(names.Draw(t, "overflow")), Volatile: rapid.Bool().Draw(t, "volatile"),
	}
}

// request draws a valid request, with fields that its verb does not use.
func request(t *rapid.T) space.Request {
	r := space.Request{
		Verb:  space.Verb(rapid.Byte().Draw(t, "verb")),
		Op:    space.OpID{Session: names.Draw(t, "session"), Seq: rapid.Uint64().Draw(t, "seq")},
		Space: names.Draw(t, "space"), Procedure: names.Draw(t, "procedure"),
		TTL:     time.Duration(rapid.Int64Min(0).Draw(t, "ttl")),
		Options: maybe(t, rapid.Custom(options)), Subscription: rapid.Int64().Draw(t, "subscription"),
		Limit: rapid.IntMin(1).Draw(t, "limit"),
	}
	r.Tuple, r.Args = maybe(t, tuples()), maybe(t, tuples())
	r.Acknowledged = maybe(t, rapid.SliceOfN(rapid.Uint64(), 1, space.MaxAcknowledged))
	if p := maybe(t, tuples()); p != nil {
		r.Template = tuple.Template(append(p, tuple.AnyInt64, tuple.Formal{Type: "opaque:x"}))
	}
	return r
}

// reply draws a reply with any fields set.
func reply(t *rapid.T) space.Reply {
	natural := rapid.IntMin(0)
	info := rapid.Custom(func(t *rapid.T) space.Info {
		return space.Info{Name: names.Draw(t, "name"), Options: options(t), Visible: natural.Draw(t, "visible"), Held: natural.Draw(t, "held")}
	})
	event := rapid.Custom(func(t *rapid.T) space.Event {
		return space.Event{
			Change: space.Change(names.Draw(t, "change")), Space: names.Draw(t, "space"),
			Procedure: names.Draw(t, "procedure"), Tuple: tuples().Draw(t, "tuple"),
		}
	})
	return space.Reply{
		Found: rapid.Bool().Draw(t, "found"), Tuple: maybe(t, tuples()),
		Tuples: maybe(t, rapid.SliceOfN(tuples(), 1, 3)), Count: natural.Draw(t, "count"),
		Infos: maybe(t, rapid.SliceOfN(info, 1, 3)), Events: maybe(t, rapid.SliceOfN(event, 1, 3)),
		Missed: natural.Draw(t, "missed"), Subscription: rapid.Int64().Draw(t, "subscription"),
	}
}
