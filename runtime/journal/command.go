package journal

import "time"

// The kinds of records of what another process wants of an executor.
const (
	KindCommandImported = "command.imported" // from here on it is carried out, once
	KindCommandDone     = "command.done"     // what became of it
)

// A Command says what another process wanted, and in a record of KindCommandDone
// what became of it. It holds no arguments: those of an edit may be sensitive.
type Command struct {
	Nonce string `json:"nonce"` // no command is carried out twice under one
	Kind  string `json:"kind"`  // approve, deny, undo, cancel, resolve, revoke, token.create, token.revoke, console.open or archive

	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	Call    string `json:"call,omitempty"`
	Request string `json:"request,omitempty"`
	Grant   string `json:"grant,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"` // of undo: nothing was to be done
	Now     bool   `json:"now,omitempty"`     // of cancel: the process of a command got no grace
	Reason  string `json:"reason,omitempty"`  // as the person gave it
	User    string `json:"user,omitempty"`    // of the operating system, where the record's By is another name
	MAC     string `json:"mac,omitempty"`     // the signature, of all that the command said

	Token   *CommandToken   `json:"token,omitempty"`   // of token.create and token.revoke
	Archive *CommandArchive `json:"archive,omitempty"` // of archive

	Result *CommandResult `json:"result,omitempty"`
}

// A CommandToken says whose token was made, or which one was revoked.
type CommandToken struct {
	Name   string   `json:"name"`
	ID     string   `json:"id,omitempty"` // of its holder, when it was made
	Groups []string `json:"groups,omitempty"`
}

// A CommandArchive says which entries were to be archived.
type CommandArchive struct {
	Before time.Time `json:"before"`
	File   string    `json:"file,omitempty"` // a name in the folder of the owner; empty: the owner chose it
}

// Archived says which entries the owner of a journal has moved to a segment.
type Archived struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	File  string `json:"file"` // the segment, from the root
	Bytes int64  `json:"bytes"`
	Held  string `json:"held,omitempty"` // why no later entries were taken
}

// A CommandResult says what became of a command.
type CommandResult struct {
	Done        bool     `json:"done"`             // it had the effect that was wanted
	Result      string   `json:"result"`           // as the method of the executor names it, such as accepted or rejected
	Reason      string   `json:"reason,omitempty"` // why it was rejected, or failed
	Error       string   `json:"error,omitempty"`  // the same in more words, for operators: no sensitive value is in it
	Session     string   `json:"session,omitempty"`
	Call        string   `json:"call,omitempty"`      // that it was about
	URL         string   `json:"url,omitempty"`       // where the ticket of a login is taken
	Missing     int      `json:"missing,omitempty"`   // approvals that are still wanted
	Rewritten   bool     `json:"rewritten,omitempty"` // the policy changed the edit of an approval, which approves nothing
	Grant       string   `json:"grant,omitempty"`     // that it leaves behind
	Undone      []string `json:"undone,omitempty"`    // calls of a run that was undone
	Failed      []string `json:"failed,omitempty"`
	NotUndoable []string `json:"not_undoable,omitempty"`
	Reads       []string `json:"reads,omitempty"` // of tools that only read

	Archived *Archived `json:"archived,omitempty"`
	Remedy   string    `json:"remedy,omitempty"` // what to do about a refusal to archive

	Calls []UndoneCall `json:"calls,omitempty"` // what became of each, in the order in which they were tried
}

// An UndoneCall says what became of a call of a run that was undone.
type UndoneCall struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Result string `json:"result"` // as of a single undo
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`

	Later []LaterCall `json:"later,omitempty"` // of a dry run: calls made since that seem to be about the same thing
}

// A LaterCall is such a call.
type LaterCall struct {
	Call   string   `json:"call"`
	Tool   string   `json:"tool"`
	Shares []string `json:"shares"` // JSON Pointers of arguments, and exclusive groups: no values
}
