package node

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/mux"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

func TestAPortThatIsInUseNamesTheOptionAndTheOtherProcess(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	p := newPorts(config.Config{})
	_, err = p.listen("http", taken.Addr().String(), mux.HTTP)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "address already in use; give another address with --http, or use the coordinator that has this one (leasehold status)")
}
