package foreigntest

import (
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A Recording is a conversation of clients with a server, as text:
//
//	# operation: what was called
//	# connection 1
//	> 7b22…  bytes of the client, in hexadecimal
//	< 7b22…  bytes of the server
//	# closed by the client
//
// Other lines that begin with # are comments. Lines are in the order of time.
type Recording struct {
	Name      string
	Operation string
	Events    []*Event
}

// Event is one step of a recording.
type Event struct {
	Connection int
	Kind       EventKind
	Data       []byte // sent or received
}

// EventKind is what happened.
type EventKind int

// The kinds of events.
const (
	Sent EventKind = iota
	Received
	ClosedByClient
	ClosedByServer
)

// Recordings reads the recordings of a folder, which must have one at least.
func Recordings(t testing.TB, dir string) []Recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	all := make([]Recording, len(files))
	for i, file := range files {
		all[i] = read(t, file)
	}
	return all
}

// AddSent adds what the clients of the recordings of a folder sent to the inputs of a fuzz target.
func AddSent(f *testing.F, dir string) {
	f.Helper()
	for _, r := range Recordings(f, dir) {
		for _, e := range r.Events {
			if e.Kind == Sent {
				f.Add(e.Data)
			}
		}
	}
}

// read reads one recording. The chunks of a connection that follow each other in one
// direction are one event.
func read(t testing.TB, file string) Recording {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	r := Recording{Name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	connection := 0
	add := func(k EventKind, data []byte) {
		for _, e := range slices.Backward(r.Events) {
			if e.Connection == connection {
				if e.Kind == k && len(data) > 0 {
					e.Data = append(e.Data, data...)
					return
				}
				break
			}
		}
		r.Events = append(r.Events, &Event{connection, k, data})
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if operation, ok := strings.CutPrefix(line, "# operation: "); ok {
			r.Operation = operation
		}
		if number, ok := strings.CutPrefix(line, "# connection "); ok {
			connection, err = strconv.Atoi(number)
			require.NoError(t, err, file)
		}
		switch {
		case line == "# closed by the client":
			add(ClosedByClient, nil)
		case line == "# closed by the server":
			add(ClosedByServer, nil)
		case strings.HasPrefix(line, "> "), strings.HasPrefix(line, "< "):
			data, err := hex.DecodeString(line[2:])
			require.NoError(t, err, file)
			kind := Sent
			if line[0] == '<' {
				kind = Received
			}
			add(kind, data)
		}
	}
	return r
}

// Replay sends what the clients sent, and reads where the server answered: it calls readAnswer
// with the recorded bytes of one or more answers, which reads as many answers and returns their
// bytes. It returns the answers in the order of the recording. It calls unanswered after bytes that
// the server of the recording did not answer next on their connection.
func (r Recording) Replay(t testing.TB, address string, readAnswer func(c net.Conn, wanted []byte) []byte, unanswered func()) (answers [][]byte) {
	t.Helper()
	conns, closed := map[int]net.Conn{}, map[int]bool{}
	for i, e := range r.Events {
		c := conns[e.Connection]
		if c == nil {
			var err error
			c, err = net.Dial("tcp", address)
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			require.NoError(t, c.SetDeadline(time.Now().Add(Wait)))
			conns[e.Connection] = c
		}
		switch e.Kind {
		case Sent:
			_, err := c.Write(e.Data)
			require.NoError(t, err)
			if i+1 == len(r.Events) || r.Events[i+1].Connection != e.Connection || r.Events[i+1].Kind == Sent {
				unanswered()
			}
		case Received:
			answers = append(answers, readAnswer(c, e.Data))
		case ClosedByClient:
			require.NoError(t, c.Close())
			closed[e.Connection] = true
		case ClosedByServer:
			if !closed[e.Connection] {
				rest, err := io.ReadAll(c)
				require.NoError(t, err)
				require.Empty(t, rest)
			}
		}
	}
	return answers
}
