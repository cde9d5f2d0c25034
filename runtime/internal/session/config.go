package session

import (
	"crypto/rand"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Config describes a session.
type Config struct {
	ID           string // empty: one is made
	Principal    string // the principal of the calls
	Capabilities []string
	Behavior     string            // the current behavior of the agent; empty: none
	Modes        map[string]string // name of a mode to its value
}

// Clean returns a copy of c with an id, in valid UTF-8.
func (c Config) Clean() Config {
	c.Capabilities, c.Modes = slices.Clone(c.Capabilities), maps.Clone(c.Modes)
	if c.ID, c.Principal = wording.ValidUTF8(c.ID), wording.ValidUTF8(c.Principal); c.ID == "" {
		c.ID = rand.Text()
	}
	return c
}

// Equal reports whether two configurations are equal.
func (c *Config) Equal(of *Config) bool {
	return c.ID == of.ID && c.Principal == of.Principal && c.Behavior == of.Behavior &&
		slices.Equal(c.Capabilities, of.Capabilities) && maps.Equal(c.Modes, of.Modes)
}

// Setup returns the record form of c, without id and principal.
func (c *Config) Setup() *journal.Setup {
	return &journal.Setup{Behavior: c.Behavior, Modes: c.Modes, Capabilities: c.Capabilities}
}

// ConfigOf returns how a session was configured last.
func ConfigOf(of *history.Session) *Config {
	return &Config{
		ID: of.ID, Principal: of.Principal, Behavior: of.Setup.Behavior, Modes: of.Setup.Modes, Capabilities: of.Setup.Capabilities,
	}
}
