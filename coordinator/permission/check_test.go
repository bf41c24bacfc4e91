package permission_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// roles are tried one by one.
var roles = []access.Roles{access.None, access.Reader, access.Producer, access.Worker, access.Manager, access.Admin}

// decidedByArguments are the procedures that need a role beside what their arguments need.
var decidedByArguments = map[string]bool{"browse.look": true, "interop.find": true, "interop.findall": true, "hold.take": true, "hold.ack": true, "hold.back": true, "transaction.run": true, "transaction.apply": true, "idempotency.call": true}

// of returns an identity with a role; the zero Identity for Nobody.
func of(role access.Roles) access.Identity {
	if role == access.None {
		return access.Identity{}
	}
	return access.Identity{ID: "token-1", Name: role.String(), Roles: role}
}

// requireOnly requires that a request is allowed for exactly the roles with one that is needed.
func requireOnly(t *testing.T, need access.Roles, r space.Request) {
	t.Helper()
	for _, role := range roles {
		err := permission.Check(of(role), "session-1", r)
		if role.Meet(need) && role != access.None {
			require.NoError(t, err, "%s for %s", r, role)
			continue
		}
		want := fault.ErrForbidden
		if role == access.None && (need != access.None || decidedByArguments[r.Procedure]) {
			want = fault.ErrUnauthenticated
		}
		require.ErrorIs(t, err, want, "%s for %s", r, role)
	}
}

func TestEveryProcedureAndEverySpaceHasRoles(t *testing.T) {
	t.Parallel()
	all := slices.Collect(maps.Keys(coordinator.Procedures(coordinator.Config{})))
	all = append(all, slices.Collect(maps.Keys(task.Readers()))...)
	require.ElementsMatch(t, all, slices.Collect(maps.Keys(permission.Procedures)))
	for _, d := range coordinator.Definitions() {
		require.True(t, permission.IsProtocol(d.Name), d.Name)
	}
	for name, procedure := range task.Takes() { // a get of the space is a call of the procedure
		requireOnly(t, permission.Procedures[procedure], space.Request{Verb: space.VerbGet, Space: name})
	}
}

func TestAProcedureNeedsItsRole(t *testing.T) {
	t.Parallel()
	for name, need := range permission.Procedures {
		if decidedByArguments[name] {
			continue
		}
		direct := space.Request{Verb: space.VerbCall, Procedure: name}
		requireOnly(t, need, direct)
		requireOnly(t, need, keyed(name, tuple.Tuple{}))
	}
	err := permission.Check(access.Everybody, "session-1", space.Request{Verb: space.VerbCall, Procedure: "task.invent"})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

// keyed returns the request of a procedure with an idempotency key.
func keyed(procedure string, args tuple.Tuple) space.Request {
	return space.Request{Verb: space.VerbCall, Procedure: "idempotency.call", Args: tuple.New("key", "fingerprint", procedure, args)}
}

// Keys are not nested, so that nothing hides what is called.
func TestAKeyOfAKeyIsNotFound(t *testing.T) {
	t.Parallel()
	inner := keyed("task.sweep", tuple.Tuple{})
	err := permission.Check(access.Everybody, "session-1", keyed("idempotency.call", inner.Args))
	require.Error(t, err)
}

func TestASessionMayDrainItself(t *testing.T) {
	t.Parallel()
	drain := func(id string) space.Request {
		return space.Request{Verb: space.VerbCall, Procedure: "status.drain", Args: tuple.New(id)}
	}
	require.NoError(t, permission.Check(of(access.Worker), "session-1", drain("session-1")))
	require.ErrorIs(t, permission.Check(of(access.Worker), "session-1", drain("session-2")), fault.ErrForbidden)
	require.NoError(t, permission.Check(of(access.Admin), "session-1", drain("session-2")))
}

// The doors to a space: verbs, procedures that read or take, and operations of transactions.
func TestASpaceNeedsTheSameRoleAtEachDoor(t *testing.T) {
	t.Parallel()
	fleetAndProducer := access.Producer | access.Worker | access.Manager
	anyone := fleetAndProducer | access.Reader | access.Admin
	for name, need := range map[string]struct{ read, put, take access.Roles }{
		"chess":       {access.Reader, access.Producer, access.Producer},
		"task":        {fleetAndProducer, access.Producer, access.Worker},
		"result":      {fleetAndProducer, access.Worker, access.Producer | access.Manager},
		"dead":        {fleetAndProducer, access.None, access.None},
		"lease":       {access.Manager | access.Admin, access.None, access.None},
		"idempotency": {access.Manager | access.Admin, access.None, access.None},
		"status":      {anyone, access.None, access.None},
		"log":         {anyone, access.None, access.None},
		"schedule":    {anyone, access.None, access.None},
		"visit":       {anyone, access.None, access.Manager},
	} {
		for _, v := range []space.Verb{space.VerbQuery, space.VerbQueryP, space.VerbQueryAll, space.VerbQueryUpTo, space.VerbCount, space.VerbNotify} {
			requireOnly(t, need.read, space.Request{Verb: v, Space: name})
		}
		for _, v := range []space.Verb{space.VerbPut, space.VerbPutP, space.VerbCreate} {
			requireOnly(t, need.put, space.Request{Verb: v, Space: name})
		}
		for _, v := range []space.Verb{space.VerbGet, space.VerbGetP, space.VerbGetAll, space.VerbGetUpTo} {
			requireOnly(t, need.take, space.Request{Verb: v, Space: name})
		}
		requireOnly(t, need.read, call("browse.look", name))
		requireOnly(t, need.read, call("interop.find", name, int64(0)))
		requireOnly(t, need.take, call("interop.find", name, int64(1)))
		requireOnly(t, need.read, call("interop.findall", name, int64(2)))
		requireOnly(t, need.take&access.Producer, call("hold.take", name))
		anything := tuple.Match(tuple.AnyInt64)
		requireOperation(t, need.read, transaction.Query(name, anything))
		requireOperation(t, need.read, transaction.Absent(name, anything))
		requireOperation(t, need.take, transaction.Get(name, anything))
		requireOperation(t, need.put, transaction.Put(name, tuple.New(1), 0))
	}
}

func call(procedure string, args ...any) space.Request {
	return space.Request{Verb: space.VerbCall, Procedure: procedure, Args: tuple.New(args...)}
}

func requireOperation(t *testing.T, need access.Roles, op transaction.Op) {
	t.Helper()
	for _, role := range roles {
		err := permission.Operation(of(role), op)
		require.Equal(t, role != access.None && role.Meet(need), err == nil, "%s for %s: %v", op, role, err)
	}
}

func TestATokenForSpacesMayUseNoOthers(t *testing.T) {
	t.Parallel()
	i := access.Identity{ID: "token-1", Roles: access.Producer, Spaces: []string{"chess"}}
	require.NoError(t, permission.Put(i, "chess-moves"))
	require.NoError(t, permission.Read(i, "task"), "the prefixes are of application spaces")
	for _, refuse := range []error{permission.Put(i, "poker"), permission.Take(i, "poker"), permission.Read(i, "poker")} {
		require.ErrorIs(t, refuse, fault.ErrForbidden)
		require.ErrorContains(t, refuse, "only spaces that begin with chess")
	}
}

func TestArgumentsThatNoCallerSendsAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"browse.look", "interop.find", "hold.take", "transaction.run", "idempotency.call", "status.drain"} {
		for _, args := range []tuple.Tuple{nil, tuple.New(1), tuple.New("a", "b"), tuple.New([]byte{1, 2, 3})} {
			err := permission.Check(of(access.Worker), "session-1", space.Request{Verb: space.VerbCall, Procedure: name, Args: args})
			if name != "idempotency.call" { // whose procedure refuses them
				require.Error(t, err, "%s %v", name, args)
			}
		}
	}
}
