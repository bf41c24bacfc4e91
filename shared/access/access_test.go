package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/access"
	"leasehold/shared/fault"
)

func TestRolesIncludeOthers(t *testing.T) {
	t.Parallel()
	all := []access.Roles{access.Reader, access.Producer, access.Worker, access.Manager, access.Admin}
	for has, meets := range map[access.Roles][]bool{
		access.None: {false, false, false, false, false}, access.Reader: {true, false, false, false, false}, access.Producer: {true, true, false, false, false},
		access.Worker: {false, false, true, false, false}, access.Manager: {false, false, false, true, false}, access.Admin: {true, true, false, false, true},
	} {
		for i, need := range all {
			require.Equal(t, meets[i], has.Meet(need), "%s for %s", has, need)
		}
		require.True(t, has.Meet(access.Public))
		require.False(t, has.Meet(access.None))
	}
	require.True(t, access.Worker.Meet(access.Fleet))
	require.True(t, access.Reader.Meet(access.Fleet|access.Reader))
}

func TestRolesAreReadAndPrinted(t *testing.T) {
	t.Parallel()
	roles, err := access.ParseRoles("producer, worker")
	require.NoError(t, err)
	require.Equal(t, "producer,worker", roles.String())
	require.Equal(t, "none", access.None.String())
	require.Equal(t, "public", access.Public.String())
	for _, text := range []string{"", "root", "reader,,admin", "Reader"} {
		_, err := access.ParseRoles(text)
		require.ErrorIs(t, err, fault.ErrInvalid, text)
		require.ErrorContains(t, err, "want one of reader, producer, worker, manager, admin")
	}
}

func TestARefusalNamesTheRoleThatIsNeeded(t *testing.T) {
	t.Parallel()
	reader := access.Identity{ID: "token-1", Name: "board", Roles: access.Reader}
	require.NoError(t, reader.Check("GET /tasks", access.Reader|access.Worker))
	err := reader.Check("POST /tasks", access.Producer)
	require.ErrorIs(t, err, fault.ErrForbidden)
	require.EqualError(t, err, "POST /tasks: forbidden: it needs the role producer, and token-1 (board) has reader")
	err = access.Identity{}.Check("POST /tasks", access.Producer|access.Worker)
	require.ErrorIs(t, err, fault.ErrUnauthenticated)
	require.ErrorContains(t, err, "it needs the role producer or worker; send a token")
	require.ErrorIs(t, access.Everybody.Check("task.sweep", access.None), fault.ErrForbidden)
	require.NoError(t, access.Identity{}.Check("GET /healthz", access.Public))
}

func TestATokenMayBeLimitedToSpaces(t *testing.T) {
	t.Parallel()
	i := access.Identity{ID: "token-1", Roles: access.Producer, Spaces: []string{"chess-", "go/"}}
	require.NoError(t, i.CheckSpace("chess-moves"))
	require.NoError(t, i.CheckSpace("go/1"))
	require.ErrorIs(t, i.CheckSpace("poker"), fault.ErrForbidden)
	require.NoError(t, access.Everybody.CheckSpace("poker"))
}

func TestAContextHasTheIdentityOfItsRequest(t *testing.T) {
	t.Parallel()
	require.Zero(t, access.Of(t.Context()))
	i := access.Identity{ID: "peer-1", Roles: access.Worker}
	require.Equal(t, i, access.Of(access.In(t.Context(), i)))
}
