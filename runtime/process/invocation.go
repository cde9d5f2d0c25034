package process

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"
)

// An Invocation is what a command would run for an input, as policies and approvers see it. It is the
// same on every host: Program, Dir and Env are what was declared, not what a host makes of them.
type Invocation struct {
	Program string   `json:"program"`       // a name, or an absolute path
	Argv    []string `json:"argv"`          // with the name of the program as the first element
	Dir     string   `json:"dir,omitempty"` // below the workspace; empty: the workspace
	Env     []string `json:"env,omitempty"` // names of variables, sorted, those of caches among them
	Network Network  `json:"network"`
	Tier    Tier     `json:"tier"`
	Script  string   `json:"script,omitempty"` // what a shell runs; empty for other programs
}

// Invocation returns what the command would run with arguments.
func (c *Command) Invocation(argv []string) *Invocation {
	in := &Invocation{Program: c.Program, Argv: argv, Dir: c.Dir, Network: c.Network, Tier: c.Tier}
	for _, v := range slices.Concat(c.Env, c.Caches) {
		in.Env = append(in.Env, v.Name)
	}
	slices.Sort(in.Env)
	if c.Script != "" && len(argv) > 0 {
		in.Script = argv[len(argv)-1] // sh -c -- SCRIPT
	}
	return in
}

// SpecOf returns what the processes of a command may do, as far as the declaration says it: with the
// defaults of limits, for a tool with so many bytes of output and that deadline.
func SpecOf(c *Command, output int64, deadline time.Duration) *Spec {
	s := &Spec{Tier: c.Tier, Network: c.Network, Limits: c.Limits, Accepts: map[LimitName]Level{}}
	s.Limits.Output = output
	s.Limits = s.Limits.Defaults(deadline)
	for _, a := range c.Accepts {
		s.Accepts[a.Limit] = a.Level
	}
	return s
}

// Digest returns the digest of a list of arguments. Lists that differ in how their text is divided into
// arguments have different digests.
func Digest(argv []string) [sha256.Size]byte {
	var all []byte
	for _, a := range argv {
		all = binary.BigEndian.AppendUint64(all, uint64(len(a)))
		all = append(all, a...)
	}
	return sha256.Sum256(all)
}

// String returns the name of a network in a declaration.
func (n Network) String() string {
	if n == Loopback {
		return "loopback"
	}
	return "none"
}

// MarshalText implements encoding.TextMarshaler.
func (n Network) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Network) UnmarshalText(text []byte) error {
	return named(n, "network", []string{NoNetwork.String(), Loopback.String()}, text)
}
