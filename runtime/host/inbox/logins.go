package inbox

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ambit-tools/ambit/runtime"
)

// A Login is a ticket for one browser. Who gives the command makes its text, so that neither the inbox
// nor the journal holds what lets a browser in.
type Login struct {
	SHA256 string `json:"sha256"`         // of the text, in hexadecimal
	Path   string `json:"path,omitempty"` // where the browser goes then; empty: the first page
}

// Logins lets browsers in: a host that serves on loopback.
type Logins interface {
	// Enter takes the hash of a ticket that lets one browser act as who, and returns the URL where
	// tickets are taken; nothing when the host takes none.
	Enter(sum [sha256.Size]byte, who runtime.Actor, path string) (url string)
}

// WithLogins lets users of this machine sign in at the host's pages, each with the rights that its
// commands have. Without it a Server rejects such a command with RejectedNotServed.
func WithLogins(l Logins) Option { return func(s *Server) { s.logins = l } }

// Owner returns who the user of this process is, by the function of WithIdentity.
func (s *Server) Owner() (id string, groups []string) { return s.identity(s.owner) }

// openConsole executes a command to sign a browser in. The operator policy is not asked: it decides
// what the browser may do.
func (c *Command) openConsole() CommandResult {
	res := CommandResult{Result: resultRejected}
	sum, err := hex.DecodeString(c.Login.SHA256)
	if err != nil || len(sum) != sha256.Size {
		res.Reason = RejectedBadArguments
		return res
	}
	if c.logins != nil {
		res.URL = c.logins.Enter([sha256.Size]byte(sum), c.actor(), c.Login.Path)
	}
	if res.URL == "" {
		res.Reason = RejectedNotServed
		return res
	}
	res.Done, res.Result = true, runtime.ResolutionAccepted.String()
	return res
}
