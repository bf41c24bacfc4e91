package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGatesAreReadAndShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Gate{
		"pspace=127.0.0.1:9990,write":                          {{PSpace, "127.0.0.1:9990", "", true}},
		"gospace=127.0.0.1,fridge,write,pspace=127.0.0.1,read": {{GoSpace, "127.0.0.1:31415", "fridge", true}, {PSpace, "127.0.0.1:9990", "", false}},
		"pspace=localhost,read":                                {{PSpace, "localhost:9990", "", false}},
		"pspace=[::1]:0,read,pspace=[::1]:0,write":             {{PSpace, "[::1]:0", "", false}, {PSpace, "[::1]:0", "", true}},
	} {
		var got, again []Gate
		require.NoError(t, gates{&got}.set(text), text)
		require.Equal(t, want, got)
		require.NoError(t, gates{&again}.set(gates{&got}.String()))
		require.Equal(t, want, again)
	}
}

func TestGatesThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"pspace", "pspace=", "pspace=127.0.0.1:9990", "pspace=127.0.0.1:9990,admin", "pspace=127.0.0.1:9990,space,write", "pspace=127.0.0.1:99990,read",
		"gospace=127.0.0.1:1,write", "gospace=127.0.0.1:1,,write", "gospace=127.0.0.1:1,a,read,gospace=127.0.0.1:1,b,read",
		"native=127.0.0.1:1,read", "=127.0.0.1,read", "read", ",", "pspace=127.0.0.1:1,read,pspace=127.0.0.1:1,write",
	} {
		var got []Gate
		require.Error(t, gates{&got}.set(text), text)
	}
}

func TestGatesBeyondThisMachineNeedInsecure(t *testing.T) {
	t.Parallel()
	for address, loopback := range map[string]bool{"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "0.0.0.0:1": false, "192.0.2.1:1": false, ":1": false} {
		require.Equal(t, loopback, areLoopback([]Gate{{Address: "127.0.0.1:2"}, {Address: address}}), address)
	}
}
