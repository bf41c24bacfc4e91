package fetch

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestATransferThatIsNotReadToItsEndLeavesNoConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		want   error
	}{
		"an error of the server": {http.StatusInternalServerError, nil},
		"a missing file":         {http.StatusNotFound, fault.ErrNotFound},
		"a body that is too big": {http.StatusOK, fault.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write(make([]byte, 4096))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done() // a body without an end
				close(ended)
			})
			f := open(t, Config{})
			_, err := f.Document(t.Context(), s.URL, 1024)
			require.Error(t, err)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Error("the connection is open though its transfer has ended")
				s.CloseClientConnections()
			}
		})
	}
}
