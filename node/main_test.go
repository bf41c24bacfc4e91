package node

import (
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

// The server of PostgreSQL that all tests share lives as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("leasehold/internal/pgserver.(*Server).prepare.func1"),
		goleak.IgnoreAnyFunction("leasehold/internal/pgserver.(*Server).launch.func1"))
}

// discard is a logger that writes nothing.
var discard = slog.New(slog.NewTextHandler(io.Discard, nil))
