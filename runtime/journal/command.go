package journal

// The kinds of records of what another process wants of an executor.
const (
	KindCommandImported = "command.imported" // from here on it is carried out, once
	KindCommandDone     = "command.done"     // what became of it
)

// A Command says what another process wanted, and in a record of KindCommandDone
// what became of it. It holds no arguments: those of an edit may be sensitive.
type Command struct {
	Nonce string `json:"nonce"` // no command is carried out twice under one
	Kind  string `json:"kind"`  // approve, deny, undo, cancel, resolve or revoke

	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	Call    string `json:"call,omitempty"`
	Request string `json:"request,omitempty"`
	Grant   string `json:"grant,omitempty"`
	Reason  string `json:"reason,omitempty"` // as the person gave it
	User    string `json:"user,omitempty"`   // of the operating system, where the record's By is another name
	MAC     string `json:"mac,omitempty"`    // the signature, of all that the command said

	Result *CommandResult `json:"result,omitempty"`
}

// A CommandResult says what became of a command.
type CommandResult struct {
	Done        bool     `json:"done"`             // it had the effect that was wanted
	Result      string   `json:"result"`           // as the method of the executor names it, such as accepted or rejected
	Reason      string   `json:"reason,omitempty"` // why it was rejected, or failed
	Session     string   `json:"session,omitempty"`
	Call        string   `json:"call,omitempty"`    // that it was about
	Missing     int      `json:"missing,omitempty"` // approvals that are still wanted
	Grant       string   `json:"grant,omitempty"`   // that it leaves behind
	Undone      []string `json:"undone,omitempty"`  // calls of a run that was undone
	Failed      []string `json:"failed,omitempty"`
	NotUndoable []string `json:"not_undoable,omitempty"`
}
