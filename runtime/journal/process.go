package journal

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// The kinds of the records of a process, beside those of record.go. They are about a call.
const (
	KindProcessStarted = "process.started" // a program is about to run for a call
	KindProcessEnded   = "process.ended"   // recovery ended it, and the call had completed or was undone
)

// A Process is what an attempt of a command ran. The record process.started has all but its end, and
// is durable before the program runs. The record that ends the call, or a later one, has ID and the
// end.
type Process struct {
	ID      runtime.ProcessID `json:"id"`
	Program string            `json:"program,omitempty"` // its file
	SHA256  string            `json:"sha256,omitempty"`  // of the file: 64 hexadecimal digits, lower case
	Argv    string            `json:"argv,omitempty"`    // process.Digest of its arguments, likewise
	Tier    runtime.Tier      `json:"tier"`
	Due     time.Time         `json:"due,omitzero"`      // deadline of the attempt
	Attempt int               `json:"attempt,omitempty"` // of the call; the first one is 1
	At      time.Time         `json:"at,omitzero"`       // when its start was recorded: JoinProcess has it of the record, in which it is zero

	Exit *process.Summary     `json:"exit,omitempty"`
	Kept *runtime.ArtifactRef `json:"kept,omitempty"` // what is kept of its output, where the output of the call has it not
}

// JoinProcess adds what a record says of the processes of its call: one that started, or the end of one
// that did, which may come after that of the call.
func JoinProcess(list []Process, r *Record) []Process {
	p := r.Process
	if p == nil {
		return list
	}
	if r.Kind == KindProcessStarted {
		started := *p
		started.At = r.At
		return append(list, started)
	}
	for i := range list {
		if list[i].ID == p.ID {
			list[i].Exit, list[i].Kept = p.Exit, p.Kept
			return list
		}
	}
	return append(list, *p) // of whose start nothing is recorded
}
