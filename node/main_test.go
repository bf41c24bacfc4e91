package node

import (
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// discard is a logger that writes nothing.
var discard = slog.New(slog.NewTextHandler(io.Discard, nil))
