package session

import (
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A Config describes a session.
type Config struct {
	ID           string // empty: one is made
	Principal    string // the principal of the calls
	Capabilities []string
	Behavior     string            // the current behavior of the agent; empty: none
	Modes        map[string]string // name of a mode to its value

	// Rebind lets a session go on under another principal than before. What it has recorded stays with the principals of
	// its calls.
	Rebind bool
}

// Clean returns a copy of c with an id, in valid UTF-8.
func (c Config) Clean() Config {
	c.Capabilities, c.Modes = slices.Clone(c.Capabilities), maps.Clone(c.Modes)
	if c.ID, c.Principal = wording.ValidUTF8(c.ID), wording.ValidUTF8(c.Principal); c.ID == "" {
		c.ID = rand.Text()
	}
	return c
}

// Check returns why no session can have the configuration.
func (c *Config) Check() error {
	return errors.Join(wording.Check("the id of a session", c.ID, wording.MaxID), wording.Check("the principal of a session", c.Principal, wording.MaxName))
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

// A RunConfig describes a Run, or a part of one.
type RunConfig struct {
	ID string // empty: one is made

	// Metadata is added to that of every call, whose own members go before. No policy sees it. It is
	// copied, and recorded with the run and with each call. Its member request_id, the id of the
	// caller's own request, is in every event, span and webhook. It has at most 64 members and 8 KiB,
	// a request_id at most 256 bytes.
	Metadata map[string]string
}

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget      time.Duration // for all calls of the turn together; 0: none, negative: used up
	Cap         time.Duration // for each attempt of a call, where its tool declares a longer deadline; 0: none, negative: used up, as by Budget
	ConsentWait time.Duration // how long a caller waits for consent before its call is pending; 0: not at all
}

// Observing returns what passes the changes of one session to f, which gets those of all; nil for a nil f.
func Observing(f func(session string, ev rules.Event), id string) func(rules.Event) {
	if f == nil {
		return nil
	}
	return func(ev rules.Event) { f(id, ev) }
}
