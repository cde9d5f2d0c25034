package runtime

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// What another process may want of an executor.
const (
	CommandApprove = "approve" // a request: Decide
	CommandDeny    = "deny"    // a request: Decide
	CommandUndo    = "undo"    // a call or a run of a session: Session.Undo
	CommandCancel  = "cancel"  // a call of a session: Session.Cancel
	CommandResolve = "resolve" // a call of a session: Session.Resolve
	CommandRevoke  = "revoke"  // a grant: Revoke
)

// Reasons for which a command is rejected before it gets to the method that
// carries it out.
const (
	RejectedUnknownKind    = "unknown_command"
	RejectedUnknownSession = "unknown_session"
	RejectedIncomplete     = "incomplete_command" // it does not say who wants it, or what it is about
	RejectedBadArguments   = "invalid_input"      // a duration or a cover makes no sense
	CommandInterrupted     = "interrupted"        // the process ended while it carried it out
)

// ErrCommandKnown says that a command was imported before, and is not carried out
// again. It is found with errors.Is.
var ErrCommandKnown = errors.New("the command was imported before")

// A Command is what another process, which has no executor, wants done. Whoever
// imports it has made sure that By wants it: an executor cannot.
type Command struct {
	Nonce string    `json:"nonce"` // chosen at random; no command is carried out twice under one
	At    time.Time `json:"at"`    // when it was given
	By    string    `json:"by"`    // who wants it, by the id that approvers have
	Kind  string    `json:"kind"`

	Session string `json:"session,omitempty"` // of undo, cancel and resolve
	Call    string `json:"call,omitempty"`
	Run     string `json:"run,omitempty"`     // of undo, when there is no call
	DryRun  bool   `json:"dry_run,omitempty"` // of undo: only say what would be undone
	Request string `json:"request,omitempty"` // of approve and deny
	Grant   string `json:"grant,omitempty"`   // of revoke

	Reason   string          `json:"reason,omitempty"`   // of a denial it is told to the model
	Lasting  string          `json:"lasting,omitempty"`  // of approve: once, duration or session; empty: once
	For      time.Duration   `json:"for_ns,omitempty"`   // of approve, when it lasts a duration
	Cover    string          `json:"cover,omitempty"`    // of approve: exact, args or tool; empty: exact
	Where    []Predicate     `json:"where,omitempty"`    // of approve, when it covers args
	Edit     json.RawMessage `json:"edit,omitempty"`     // of approve: other arguments to run instead
	Happened bool            `json:"happened,omitempty"` // of resolve: the call took effect

	User string `json:"-"` // who that is for the operating system, where it is not By; recorded
	MAC  string `json:"-"` // its signature, which is recorded; empty: it has none
}

// A CommandResult says what became of a command. Its Result and Reason are the
// names that the results of the methods have which carry commands out.
type CommandResult = journal.CommandResult

// recorded returns what a record says of c.
func (c *Command) recorded() *journal.Command {
	return &journal.Command{
		Nonce: c.Nonce, Kind: c.Kind, Session: c.Session, Run: c.Run, Call: c.Call, Request: c.Request, Grant: c.Grant,
		DryRun: c.DryRun, Reason: c.Reason, User: c.User, MAC: c.MAC,
	}
}

// incomplete reports whether c does not say what a command of its kind has to.
func (c *Command) incomplete() bool {
	if c.By == "" {
		return true
	}
	switch c.Kind {
	case CommandApprove, CommandDeny:
		return c.Request == ""
	case CommandUndo:
		return c.Session == "" || c.Call == "" && c.Run == ""
	case CommandCancel, CommandResolve:
		return c.Session == "" || c.Call == ""
	case CommandRevoke:
		return c.Grant == ""
	}
	return false
}

// answer returns the answer that c is.
func (c *Command) answer() (a Answer, err error) {
	a = Answer{By: c.By, Approve: c.Kind == CommandApprove, Message: c.Reason, For: c.For, CoverArgs: c.Where, Edit: c.Edit}
	if c.Lasting != "" {
		err = a.Grant.UnmarshalText([]byte(c.Lasting))
	}
	if c.Cover != "" && err == nil {
		err = a.Cover.UnmarshalText([]byte(c.Cover))
	}
	return a, err
}
