package gospace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "leasehold/gospace"
)

// Programs with the shapes of goSpace's public examples: spaces that are made while the program
// runs, templates within tuples, slices as work, and a program that joins its own spaces.

func TestAChatIsOpenedForEachTopicAndFoundByItsURI(t *testing.T) {
	t.Parallel()
	lounge := opened(t, "lounge")
	go func() {
		chats := map[string]string{}
		for {
			var who, topic string
			if _, err := lounge.Get("enter", &who, &topic); err != nil {
				return
			}
			if chats[topic] == "" {
				chats[topic] = "tcp://" + freeAddress() + "/" + topic
				chat := NewSpace(chats[topic])
				go func() {
					for {
						var from, text string
						if _, err := chat.Get("say", &from, &text); err != nil {
							return
						}
						lounge.Put("heard", topic, from, text)
						if text == "bye" {
							lounge.Put("left", topic, chat.Close() == nil)
						}
					}
				}()
			}
			lounge.Put("chat", who, chats[topic])
		}
	}()
	uris := map[string]string{}
	for _, who := range []string{"Ann", "Bo"} {
		var uri string
		lounge.Put("enter", who, "tea")
		lounge.Get("chat", who, &uri)
		uris[who] = uri
		chat := NewRemoteSpace(uri)
		chat.Put("say", who, "hello")
		_, err := lounge.Get("heard", "tea", who, "hello")
		require.NoError(t, err)
		require.NoError(t, chat.Close())
	}
	require.Equal(t, uris["Ann"], uris["Bo"])
	last := NewRemoteSpace(uris["Bo"])
	last.Put("say", "Bo", "bye")
	_, err := lounge.Get("left", "tea", true)
	require.NoError(t, err)
	require.NoError(t, last.Close())
}

func TestRulesAreTemplatesWithinTuples(t *testing.T) {
	t.Parallel()
	data, rules := opened(t, "data"), opened(t, "rules")
	var s string
	data.Put("board", "Ann", "hello")
	data.Put("inbox", "Ann", "secret")
	rules.Put("allow", "Ann", CreateTemplate("board", "Ann", &s))
	rules.Put("allow", "Ann", CreateTemplate("inbox", "Ann", &s))
	rules.Put("allow", "Bo", CreateTemplate("board", "Ann", &s))
	read := func(who string, wanted Template) string {
		var decision string
		if _, err := rules.QueryP(&decision, who, wanted); err != nil {
			return "denied"
		}
		var asked Template
		rules.Put("request", wanted)
		rules.Get("request", &asked)
		found, err := data.QueryP(asked.Fields()...)
		require.NoError(t, err)
		return found.GetFieldAt(2).(string)
	}
	require.Equal(t, "hello", read("Ann", CreateTemplate("board", "Ann", &s)))
	require.Equal(t, "secret", read("Ann", CreateTemplate("inbox", "Ann", &s)))
	require.Equal(t, "hello", read("Bo", CreateTemplate("board", "Ann", &s)))
	require.Equal(t, "denied", read("Bo", CreateTemplate("inbox", "Ann", &s)))
	require.Equal(t, "denied", read("Ann", CreateTemplate("board", "Ann", new(int))))
}

func TestSlicesAreSplitAndMergedByRemoteWorkers(t *testing.T) {
	t.Parallel()
	address := freeAddress()
	server := NewSpace("tcp://" + address + "/sort")
	defer server.Close()
	splitter, merger := NewRemoteSpace("tcp://"+address+"/sort"), NewRemoteSpace("tcp://"+address+"/sort")
	defer splitter.Close()
	defer merger.Close()
	a := []int{7, 6, 5, 4, 3, 2, 1}
	server.Put("sort", a)
	go func() {
		for {
			var part []int
			if _, err := splitter.Get("sort", &part); err != nil {
				return
			}
			if len(part) == 1 {
				splitter.Put("sorted", part, 1)
				continue
			}
			splitter.Put("sort", part[:len(part)/2])
			splitter.Put("sort", part[len(part)/2:])
		}
	}()
	go func() {
		for range len(a) - 1 {
			var x, y, both []int
			var n int
			merger.Get("sorted", &x, &n)
			merger.Get("sorted", &y, &n)
			for len(x) > 0 && len(y) > 0 {
				if y[0] < x[0] {
					x, y = y, x
				}
				both, x = append(both, x[0]), x[1:]
			}
			both = append(append(both, x...), y...)
			merger.Put("sorted", both, len(both))
		}
	}()
	var sorted []int
	_, err := server.Get("sorted", &sorted, 7)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, sorted)
}

func TestAProgramJoinsItsOwnSpacesAsADataflow(t *testing.T) {
	t.Parallel()
	wires := opened(t, "wires")
	for _, from := range []string{"sensor", "scale"} {
		address := freeAddress()
		stream := NewSpace("tcp://" + address + "/" + from)
		defer stream.Close()
		wires.Put(from, "tcp://"+address+"/"+from)
	}
	join := func(from string) *Space {
		found, err := wires.Query(from, new(string))
		require.NoError(t, err)
		s := NewRemoteSpace(found.GetFieldAt(1).(string))
		t.Cleanup(func() { s.Close() })
		return &s
	}
	source, in, out, sink := join("sensor"), join("sensor"), join("scale"), join("scale")
	go func() {
		for at := range 10 {
			source.Put(at, float32(at)/2)
		}
	}()
	go func() {
		for at := range 10 {
			var value float32
			in.Get(at, &value)
			out.Put(at, 10*value)
		}
	}()
	for at := range 10 {
		var value float32
		_, err := sink.Get(at, &value)
		require.NoError(t, err)
		require.Equal(t, float32(5*at), value)
	}
}

// opened returns a space open to the network.
func opened(t *testing.T, name string) *Space {
	s := NewSpace("tcp://" + freeAddress() + "/" + name)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &s
}
