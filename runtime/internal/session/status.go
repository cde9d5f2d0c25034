package session

import "github.com/ambit-tools/ambit/runtime"

// A Status describes the state of a run.
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

// A Verdict is what would become of a call.
type Verdict struct {
	Runs     bool             // the handler would be started
	Outcome  runtime.Outcome  // the refusal, when the handler would not be started
	Decision runtime.Decision // of the policy; zero when it was not evaluated
	Input    []byte           // JSON of the arguments of the handler; nil when the input is invalid, or was not read
}
