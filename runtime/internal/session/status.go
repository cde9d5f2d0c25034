package session

import "github.com/ambit-tools/ambit/runtime"

// A Status describes the state of a run. The fields are those of engine.RunStatus.
type Status struct {
	ID          string           `json:"run"`
	State       runtime.RunState `json:"state"`
	Invocations map[string]int   `json:"invocations"`            // by tool: slots in use, of this agent and principal; tools with none are omitted
	Succeeded   []string         `json:"succeeded"`              // tools with a success that was not undone, in registration order
	Active      int              `json:"active"`                 // calls without an outcome
	Waiting     []string         `json:"waiting,omitempty"`      // calls that wait for consent
	PendingExit []string         `json:"pending_exit,omitempty"` // required tools that are open, in registration order
	Reminders   int              `json:"reminders,omitempty"`    // given to a model that stopped
	Reminder    string           `json:"reminder,omitempty"`     // for the model, from ModelStopped
}
