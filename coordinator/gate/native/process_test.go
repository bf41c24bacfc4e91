package native_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

func TestTheEngineKnowsTheProgramBehindASession(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		_, err := fx.dial(fx.Context(), remote.Config{Session: "p-1", Mode: "worker", TTL: time.Minute})
		require.NoError(fx, err)
		_, err = fx.dial(fx.Context(), remote.Config{Session: "p-2", Mode: "worker", Host: "mill", TTL: time.Minute})
		require.NoError(fx, err)
		foreign := fx.rawFrom(greedy) // it reports neither host nor process
		foreign.introduce("p-3", "client", time.Minute, false)
		foreign.admitted()
		seen := map[string]space.Process{}
		for _, s := range fx.engine.Sessions() {
			seen[s.ID] = s.Process
		}
		this := space.ThisProcess("worker")
		require.NotZero(fx, this.PID)
		require.Equal(fx, this, seen["p-1"])
		this.Host = "mill"
		require.Equal(fx, this, seen["p-2"])
		require.Equal(fx, space.Process{Mode: "client", Host: greedy}, seen["p-3"])
	})
}

func TestAClientWhoseSessionIsEndedByAnAdministratorIsTold(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c, err := fx.dial(fx.Context(), remote.Config{Session: "p-1", TTL: time.Minute})
		require.NoError(fx, err)
		waits := make(chan error, 1)
		go func() { _, err := space.Over(c).Space("s").Get(fx.Context(), anyA); waits <- err }()
		<-time.After(time.Second)
		require.NoError(fx, fx.engine.EndSession(fx.Context(), "p-1"))
		require.ErrorIs(fx, <-waits, fault.ErrClosed)
		_, err = space.Over(c).List(fx.Context())
		require.ErrorIs(fx, err, fault.ErrClosed)
		again := fx.rawClient()
		again.introduce("p-1", "client", time.Minute, false)
		again.admitted()
	})
}
