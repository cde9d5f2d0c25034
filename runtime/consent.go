package runtime

import "github.com/ambit-tools/ambit/runtime/internal/enum"

// A GrantCover says how much a standing grant covers.
type GrantCover uint8

// The covers, the narrowest first (SEMANTICS 5.3).
const (
	CoverExact GrantCover = iota // equal arguments
	CoverArgs                    // arguments that meet predicates
	CoverTool                    // every call of the tool
)

// A Resolution says what becomes of the answer to a request for consent.
type Resolution uint8

// The resolutions. The zero value is the one that changes nothing.
const (
	ResolutionRejected Resolution = iota // not a valid answer: the request is as it was
	ResolutionRecorded                   // a valid one, and the quorum is not reached yet
	ResolutionAccepted                   // it settled the request
)

var (
	coverNames      = [...]string{"exact", "args", "tool"}
	resolutionNames = [...]string{"rejected", "recorded", "accepted"}
)

// String returns exact, args or tool.
func (c GrantCover) String() string { return enum.Name("cover", coverNames[:], c) }

// MarshalText returns the name of c.
func (c GrantCover) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText sets c to the cover that text names.
func (c *GrantCover) UnmarshalText(text []byte) error {
	return enum.Parse("cover", coverNames[:], text, c)
}

// String returns rejected, recorded or accepted.
func (r Resolution) String() string { return enum.Name("resolution", resolutionNames[:], r) }

// MarshalText returns the name of r.
func (r Resolution) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText sets r to the resolution that text names.
func (r *Resolution) UnmarshalText(text []byte) error {
	return enum.Parse("resolution", resolutionNames[:], text, r)
}
