package inbox

import (
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// The kinds of commands.
const (
	CommandApprove = "approve" // a request: Executor.Decide
	CommandDeny    = "deny"    // a request: Executor.Decide
	CommandUndo    = "undo"    // a call or a run of a session: Session.Undo
	CommandCancel  = "cancel"  // a call of a session: Session.Cancel
	CommandResolve = "resolve" // a call of a session: Session.Resolve
	CommandRevoke  = "revoke"  // a grant: Executor.Revoke

	CommandTokenCreate = "token.create" // Tokens.Add
	CommandTokenRevoke = "token.revoke" // Tokens.Revoke

	CommandConsoleOpen = "console.open" // Logins.Enter

	CommandArchive = "archive" // Archiver.Archive
)

// Reasons for which a command is rejected before the method that executes it is called.
const (
	RejectedUnknownKind    = "unknown_command"
	RejectedUnknownSession = "unknown_session"
	RejectedIncomplete     = "incomplete_command" // By, or the object of the command, is missing
	RejectedBadArguments   = "invalid_input"      // a duration, a cover or a token is invalid
	RejectedUnknownToken   = "unknown_token"
	RejectedTokens         = "tokens_unavailable" // their file cannot be read or written
	RejectedNotServed      = "not_served"         // the executor's process serves no pages on this machine
	RejectedNoArchiver     = "no_archiver"        // the executor's process does not archive
	RejectedArchive        = "not_archived"       // Archiver.Archive has returned an error
)

// A Command is a request from another process that has no executor.
type Command struct {
	Nonce string    `json:"nonce"` // chosen at random; Import executes one command per nonce
	At    time.Time `json:"at"`    // when it was given
	By    string    `json:"by"`    // the id of the principal or approver who gave it
	Kind  string    `json:"kind"`

	Session string `json:"session,omitempty"` // of undo, cancel and resolve
	Call    string `json:"call,omitempty"`
	Run     string `json:"run,omitempty"`     // of undo, when there is no call
	DryRun  bool   `json:"dry_run,omitempty"` // of undo: only report what would be undone
	Now     bool   `json:"now,omitempty"`     // of cancel: the process of a command gets no grace
	Request string `json:"request,omitempty"` // of approve and deny
	Grant   string `json:"grant,omitempty"`   // of revoke

	Reason   string              `json:"reason,omitempty"`   // of a denial: the model reads it
	Lasting  string              `json:"lasting,omitempty"`  // of approve: once, duration or session; empty: once
	For      time.Duration       `json:"for_ns,omitempty"`   // of approve, when it lasts a duration
	Cover    string              `json:"cover,omitempty"`    // of approve: exact, args or tool; empty: exact
	Where    []consent.Predicate `json:"where,omitempty"`    // of approve, when it covers args
	Edit     json.RawMessage     `json:"edit,omitempty"`     // of approve: other arguments to run instead
	Binding  consent.Digest      `json:"binding,omitzero"`   // of approve: the request as it was shown
	Happened bool                `json:"happened,omitempty"` // of resolve: the call took effect

	// Token is of token.create, all of it, and of token.revoke, its name. Only the user who owns the
	// store may give these commands.
	Token *tokens.Token `json:"token,omitempty"`
	Login *Login        `json:"login,omitempty"` // of console.open
	// Archive is of archive.
	Archive *journal.CommandArchive `json:"archive,omitempty"`

	// Groups of By and how By was authenticated are what Serve found. A file cannot set them. The
	// zero Method may do nothing but answer requests that admit By.
	Groups []string            `json:"-"`
	Method runtime.ActorMethod `json:"-"`

	User string `json:"-"` // the user of the operating system, when it differs from By; recorded
	MAC  string `json:"-"` // the signature, which is recorded; empty: the command has none

	tokens   Tokens   // of the Server; nil: it has none
	logins   Logins   // of the Server; nil: it has none
	archiver Archiver // of the Server; nil: it has none
}

// A CommandResult is the result of a command. Its Result and Reason are what the method that
// executes the command has returned (action.ResultOf, action.Resolution).
type CommandResult = journal.CommandResult

// recorded returns the record of c for the journal.
func (c *Command) recorded() *journal.Command {
	r := &journal.Command{
		Nonce: c.Nonce, Kind: c.Kind, Session: c.Session, Run: c.Run, Call: c.Call, Request: c.Request, Grant: c.Grant,
		DryRun: c.DryRun, Now: c.Now, Reason: c.Reason, User: c.User, MAC: c.MAC, Archive: c.Archive,
	}
	if c.Token != nil {
		r.Token = &journal.CommandToken{Name: c.Token.Name, ID: c.Token.ID, Groups: c.Token.Groups}
	}
	return r
}

// incomplete reports whether c lacks a field that a command of its kind needs.
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
	case CommandTokenCreate, CommandTokenRevoke:
		return c.Token == nil
	case CommandConsoleOpen:
		return c.Login == nil
	case CommandArchive:
		return c.Archive == nil || c.Archive.Before.IsZero()
	}
	return false
}

// actor returns who gave c.
func (c *Command) actor() runtime.Actor {
	return runtime.Actor{ID: c.By, Groups: c.Groups, Method: c.Method}
}

// answer returns the answer of an approve or deny command.
func (c *Command) answer() (a action.Answer, err error) {
	a = action.Answer{NoWait: true, By: c.actor(), Approve: c.Kind == CommandApprove, Message: c.Reason, For: c.For, CoverArgs: c.Where, Edit: c.Edit, Binding: c.Binding}
	if c.Lasting != "" {
		err = a.Grant.UnmarshalText([]byte(c.Lasting))
	}
	if c.Cover != "" && err == nil {
		err = a.Cover.UnmarshalText([]byte(c.Cover))
	}
	return a, err
}
