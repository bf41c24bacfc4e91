package status

import (
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// SessionState is what a session does, as its heartbeats report it.
type SessionState struct {
	ID    string // of the session
	State string // for people
	Since string // RFC 3339: when the state began
}

func (s SessionState) encode() tuple.Tuple { return tuple.New(s.ID, s.State, s.Since) }

// DecodeState returns the state of a tuple that AnyState or StateOf matches.
func DecodeState(t tuple.Tuple) SessionState {
	return SessionState{ID: t.Str(0), State: t.Str(1), Since: t.Str(2)}
}

// AnyState matches the states of all sessions.
func AnyState() tuple.Template { return tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyString) }

// StateOf matches the state of one session.
func StateOf(id string) tuple.Template { return tuple.Match(id, tuple.AnyString, tuple.AnyString) }

// sessionRecord is what a session keeps about itself.
type sessionRecord struct{ ID, Record string }

func (r sessionRecord) encode() tuple.Tuple { return tuple.New(r.ID, r.Record) }

// decodeRecord returns the record of a tuple that recordOf matches.
func decodeRecord(t tuple.Tuple) sessionRecord { return sessionRecord{ID: t.Str(0), Record: t.Str(1)} }

func recordOf(session string) tuple.Template { return tuple.Match(session, tuple.AnyString) }

// Serving is how many slots a session has for an action.
type Serving struct {
	ID     string // of the session
	Action string
	Slots  int64
}

func (s Serving) encode() tuple.Tuple { return tuple.New("serves", s.ID, s.Action, s.Slots) }

// DecodeServing returns what a tuple that MatchServing matches describes.
func DecodeServing(t tuple.Tuple) Serving {
	return Serving{ID: t.Str(1), Action: t.Str(2), Slots: t.Int64(3)}
}

// MatchServing matches what sessions serve; both arguments may be formals.
func MatchServing(id, action any) tuple.Template {
	return tuple.Match("serves", id, action, tuple.AnyInt64)
}

// AnyServing matches the tuples of the sessions that serve an action.
func AnyServing(action string) tuple.Template { return MatchServing(tuple.AnyString, action) }

// MaxServed is how many actions a session can serve: each is a field of the arguments of status.beat,
// beside two others.
const MaxServed = tuple.MaxArity - 2

// beatArgs are the arguments of status.beat: (state, since, (action, slots)…).
type beatArgs struct {
	State, Since string
	Serves       []Serving // without ids
}

// encode returns the arguments as decodeBeat reads them.
func (b beatArgs) encode() tuple.Tuple {
	args := tuple.New(b.State, b.Since)
	for _, s := range b.Serves {
		args = append(args, tuple.New(s.Action, s.Slots))
	}
	return args
}

func decodeBeat(args tuple.Tuple) (beatArgs, error) {
	if len(args) < 2 || !tuple.Match(tuple.AnyString, tuple.AnyString).Matches(args[:2]) {
		return beatArgs{}, fmt.Errorf("%s: %w: want a state, and the time since which it has lasted", procBeat, fault.ErrInvalid)
	}
	b := beatArgs{State: args.Str(0), Since: args.Str(1)}
	slots := int64(0)
	for _, f := range args[2:] {
		serves, _ := f.(tuple.Tuple)
		s := Serving{Action: serves.Str(0), Slots: serves.Int64(1)}
		ok := tuple.Match(tuple.AnyString, tuple.AnyInt64).Matches(serves)
		if !ok || !models.ValidID(s.Action) || s.Slots < 0 || s.Slots > MaxSlots-slots {
			return beatArgs{}, fmt.Errorf("%s: %w: %.100s: want an action's id and 0 to %d slots, of all actions together", procBeat, fault.ErrInvalid, serves, MaxSlots)
		}
		slots += s.Slots
		b.Serves = append(b.Serves, s)
	}
	return b, nil
}

// cost is models.Cost in the units of its tuple. The fields are in the order of the arguments of status.spend.
type cost struct {
	Action, How                               string
	Tasks, WallMicros, CPUMicros, WindowsRead int64
}

func costOf(c models.Cost) cost {
	return cost{c.Action, c.How, c.Tasks, c.Wall.Duration().Microseconds(), c.CPU.Duration().Microseconds(), c.Windows}
}

// model returns the cost with times in seconds, as people and the API read them.
func (c cost) model() models.Cost {
	seconds := func(micros int64) models.Seconds { return models.Seconds(float64(micros) / 1e6) }
	return models.Cost{
		Action: c.Action, How: c.How, Tasks: c.Tasks,
		Wall: seconds(c.WallMicros), CPU: seconds(c.CPUMicros), Windows: c.WindowsRead,
	}
}

func (c cost) args() tuple.Tuple {
	return tuple.New(c.Action, c.How, c.Tasks, c.WallMicros, c.CPUMicros, c.WindowsRead)
}

func (c cost) encode() tuple.Tuple { return append(tuple.New("cost"), c.args()...) }

var spendArgs = tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64)

// decodeSpend returns the cost in arguments that spendArgs matches.
func decodeSpend(args tuple.Tuple) cost {
	return cost{args.Str(0), args.Str(1), args.Int64(2), args.Int64(3), args.Int64(4), args.Int64(5)}
}

func decodeCost(t tuple.Tuple) cost { return decodeSpend(t[1:]) }

// matchCost matches the costs of an action's tasks; both arguments may be formals.
func matchCost(action, how any) tuple.Template {
	return tuple.Match("cost", action, how, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64)
}

// A Line is one line of the space "log", for administrators. Its time has nanoseconds, so that a
// reader who follows the log can tell lines apart.
type Line struct {
	At                 time.Time
	ID, Level, Message string // ID names the session or the dead task that the line is about
}

func (l Line) encode() tuple.Tuple {
	return tuple.New("log", l.At.UTC().Format(time.RFC3339Nano), l.ID, l.Level, l.Message)
}

func decodeLine(t tuple.Tuple) Line {
	at, _ := time.Parse(time.RFC3339Nano, t.Str(1)) // only encode writes it
	return Line{At: at, ID: t.Str(2), Level: t.Str(3), Message: t.Str(4)}
}

// MatchLog matches lines of the space "log"; both arguments may be formals.
func MatchLog(id, level any) tuple.Template {
	return tuple.Match("log", tuple.AnyString, id, level, tuple.AnyString)
}

// logArgs are the arguments of status.log: a line without its first field.
var logArgs = tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyString)

// decodeLogArgs returns the line in arguments that logArgs matches. The error is of its time.
func decodeLogArgs(args tuple.Tuple) (Line, error) {
	at, err := time.Parse(time.RFC3339Nano, args.Str(0))
	return Line{At: at, ID: args.Str(1), Level: args.Str(2), Message: args.Str(3)}, err
}

// logged is the state of a session's rate of lines: when the next one may be written at the earliest if it had no
// burst, in nanoseconds of the engine's clock.
type logged struct {
	id   string
	next int64
}

func (l logged) encode() tuple.Tuple { return tuple.New("logged", l.id, l.next) }

func matchLogged(id string) tuple.Template { return tuple.Match("logged", id, tuple.AnyInt64) }

func decodeLogged(t tuple.Tuple) logged { return logged{t.Str(1), t.Int64(2)} }

func (c Clock) encode() tuple.Tuple { return tuple.New("clock", c.ID, int64(c.Ahead)) }

// matchClock matches the clock of a session, which may be a formal.
func matchClock(id any) tuple.Template { return tuple.Match("clock", id, tuple.AnyInt64) }

func decodeClock(t tuple.Tuple) Clock { return Clock{t.Str(1), time.Duration(t.Int64(2))} }

// clockArgs are the arguments of status.clock.
var clockArgs = tuple.Match(tuple.AnyInt64)

func decodeClockArgs(args tuple.Tuple) (milliseconds int64) { return args.Int64(0) }
