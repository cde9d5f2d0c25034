package journal

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A Snapshot is what the entries of a session up to a position have made, as facts: nothing in it comes from a
// declaration. The session goes on from it and the entries behind that position. Its record has the
// principal and the setup of the session too. Without a session it is of what belongs to none.
type Snapshot struct {
	Last uint64 `json:"last"` // position of the last entry that it takes in; later ones may lie before its own

	Rules    *rules.Snapshot   `json:"rules,omitempty"`    // nil: of no session
	Book     *consent.Snapshot `json:"book"`               // of requests and grants
	Runs     int               `json:"runs,omitempty"`     // that were started
	Over     bool              `json:"over,omitempty"`     // the session has ended: of its ended calls it has the unknown ones
	Open     []OpenRun         `json:"open,omitempty"`     // in the order of their ids
	Live     []LiveCall        `json:"live,omitempty"`     // in the order in which they were opened
	Pages    []uint64          `json:"pages,omitempty"`    // positions of the pages of ended calls, the first one first
	Ended    []EndedCall       `json:"ended,omitempty"`    // that are not as the pages say: in the order in which they were opened
	Commands []KnownCommand    `json:"commands,omitempty"` // of no session, in the order of their nonces
	Others   *Checkpoint       `json:"others,omitempty"`   // of no session: what the sessions have; nil: not known
	Windows  []Window          `json:"windows,omitempty"`  // of no session: of the owners, the last one last; none: not recorded
}

// A Checkpoint says what sessions have that a start must find without reading them, by the entries up to a position.
type Checkpoint struct {
	Last uint64    `json:"last"` // position of the last entry that it takes in
	Held []Holding `json:"held,omitempty"`
}

// A Holding is what a session has, in a Checkpoint.
type Holding struct {
	Session   string              `json:"session"`
	Asked     []HeldUntil         `json:"asked,omitempty"`     // requests and grants that are retained
	Unknown   []string            `json:"unknown,omitempty"`   // calls whose outcome is unknown
	Processes []runtime.ProcessID `json:"processes,omitempty"` // without a recorded end
}

// A HeldUntil is a request or a grant in a Holding.
type HeldUntil struct {
	ID    string    `json:"id"`
	Until time.Time `json:"until,omitzero"`  // of the request
	Grant time.Time `json:"grant,omitzero"`  // of the grant that came of it, if any
	Lasts bool      `json:"lasts,omitempty"` // the grant lasts as long as its session
}

// A CallPage holds calls that have ended. A later page, and then the snapshot, replaces what an earlier one
// says of a call.
type CallPage struct {
	Ended []EndedCall `json:"ended"`
}

// An OpenRun is a run that was not closed.
type OpenRun struct {
	Run      string            `json:"run"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// A LiveCall has no outcome, or is being undone, or processes of it may be running. It is read from its
// own entries, from the first one on.
type LiveCall struct {
	Call   string          `json:"call"`
	Opened uint64          `json:"opened"`         // position of its first entry
	Past   *rules.PastCall `json:"past,omitempty"` // for the rules it has ended
}

// An EndedCall is a call that has an outcome, by reference.
type EndedCall struct {
	Call     string               `json:"call"`
	Opened   uint64               `json:"opened"`  // position of its first entry
	Outcome  uint64               `json:"outcome"` // position of the entry with its outcome
	Kind     string               `json:"kind"`    // of the outcome
	Run      string               `json:"run,omitempty"`
	Turn     int                  `json:"turn,omitempty"`
	Agent    string               `json:"agent,omitempty"`
	Tool     string               `json:"tool"`
	InputMAC string               `json:"input_mac,omitempty"`
	Artifact *runtime.ArtifactRef `json:"artifact,omitempty"`
	At       time.Time            `json:"at"` // of the outcome
	Started  bool                 `json:"started,omitempty"`
	Undone   bool                 `json:"undone,omitempty"`
	Back     bool                 `json:"rolled_back,omitempty"`
	Past     *rules.PastCall      `json:"past,omitempty"` // what later calls may be held against; nil: nothing
}

// A KnownCommand is a command of another process that was imported.
type KnownCommand struct {
	Nonce string `json:"nonce"`
	Open  bool   `json:"open,omitempty"` // no result is recorded
}
