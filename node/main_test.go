package node

import (
	"io"
	"log/slog"
)

// discard is a logger that writes nothing.
var discard = slog.New(slog.NewTextHandler(io.Discard, nil))
