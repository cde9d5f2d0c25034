package journal

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/process"
)

// The kind of the record of a process, beside those of record.go. It is about a call.
const KindProcessStarted = "process.started" // a program is about to run for a call

// A Process is what an attempt of a command ran. The record process.started has all but its end, and
// is durable before the program runs. The record that ends the call, or a late one, has ID and the
// end.
type Process struct {
	ID      process.ProcessID `json:"id"`
	Program string            `json:"program,omitempty"` // its file
	SHA256  string            `json:"sha256,omitempty"`  // of the file: 64 hexadecimal digits, lower case
	Argv    string            `json:"argv,omitempty"`    // process.Digest of its arguments, likewise
	Tier    process.Tier      `json:"tier"`
	Due     time.Time         `json:"due,omitzero"` // deadline of the attempt

	Exit *process.Summary `json:"exit,omitempty"`
	Kept *ArtifactRef     `json:"kept,omitempty"` // what is kept of its output, where the output of the call has it not
}
