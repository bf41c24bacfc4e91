package types

import "time"

// LogLine is a line for administrators.
type LogLine struct {
	At      time.Time `json:"at"`
	Session string    `json:"session,omitempty" doc:"id of the session or of the dead task that the line is about"`
	Level   string    `json:"level" doc:"info, warn or error"`
	Message string    `json:"message"`
}
