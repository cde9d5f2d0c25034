package engine

import "strings"

// A callOrigin is who makes calls: a principal, through a run or through one of its sub-agents. It does not change.
type callOrigin struct {
	Run       string
	Agent     string // the sub-agent, by its name in the run; empty: the run itself
	Principal string
}

// Answers reports whether the outcome of a call of c is told to another caller that names the id of the call. It is told to
// the principal of the call; that of a sub-agent's call to the sub-agent and to the run or sub-agent that made it, and to no
// child or sibling of it (SEMANTICS 1.4.9).
func (c *callOrigin) Answers(to *callOrigin) bool {
	switch {
	case c == nil || to == nil: // a record that no session has
		return c == to
	case c.Principal != to.Principal:
		return false
	case c.Agent == "":
		return to.Agent == ""
	}
	return c.Run == to.Run && (c.Agent == to.Agent || c.maker() == to.Agent)
}

// maker returns the sub-agent that made the sub-agent of c, empty for the run.
func (c *callOrigin) maker() string {
	return c.Agent[:max(strings.LastIndexByte(c.Agent, '/'), 0)]
}
