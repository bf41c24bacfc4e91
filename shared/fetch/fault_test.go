package fetch

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestAFaultOfTheHostAndAnOriginThatIsGoneAreToldFromOtherFailures(t *testing.T) {
	t.Parallel()
	status := http.StatusGone
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	f := open(t, Config{AllowPrivate: []string{"127.0.0.1", "name.invalid"}})
	faultOf := func(uri string, want error) models.Fault {
		_, err := f.Document(t.Context(), uri, 100)
		require.ErrorIs(t, err, want)
		return FaultOf(err)
	}
	require.Equal(t, models.GoneFault, faultOf(s.URL, fault.ErrNotFound))
	for _, status = range []int{http.StatusNotFound, http.StatusInternalServerError, http.StatusForbidden, http.StatusTooManyRequests} {
		_, err := f.Document(t.Context(), s.URL, 100)
		require.Empty(t, FaultOf(err), "%d", status)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	refused := "http://" + l.Addr().String()
	require.NoError(t, l.Close())
	require.Equal(t, models.HostFault, faultOf(refused, fault.ErrUnavailable))
	require.Equal(t, models.HostFault, faultOf("http://name.invalid/feed", fault.ErrUnavailable))
	reset := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).SetLinger(0))
		require.NoError(t, c.Close())
	})
	require.Empty(t, faultOf(reset.URL, fault.ErrUnavailable), "the host answers")
	require.Empty(t, faultOf("http://10.0.0.1/", fault.ErrInvalid), "a private address is refused here, not there")
	require.Empty(t, FaultOf(nil))
}
