package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// unread is the writer of an answer that its client does not read yet.
type unread struct {
	*httptest.ResponseRecorder
	read <-chan struct{}
}

func (u unread) Write(data []byte) (int, error) {
	<-u.read
	return u.ResponseRecorder.Write(data)
}

func TestAnAnswerThatIsNotReadTakesNoSlotWhileMemoryForAnswersIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ used, slots int }{
		"memory is left": {0, 0},
		"none is left":   {maxAnswers, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(Config{})
			s.answers.used = c.used
			h := s.serve(route{id: "getTotals", method: "GET", path: "/thing", statuses: []int{http.StatusOK}, handle: func(context.Context, *request) (any, error) {
				return "an answer", nil
			}})
			read := make(chan struct{})
			go h.ServeHTTP(unread{httptest.NewRecorder(), read}, httptest.NewRequest(http.MethodGet, "/thing", nil))
			synctest.Wait()
			require.Len(t, s.slots, c.slots, name)
			close(read)
			synctest.Wait()
			require.Empty(t, s.slots, name)
			require.Equal(t, c.used, s.answers.used, name)
		})
	}
}
