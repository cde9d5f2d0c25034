//go:build !ambitdebug

package engine

// agree returns what the flags of a call say. With the build tag ambitdebug it
// compares them to what the state machine says.
func agree(_ *call, _ string, flags, _ bool) bool { return flags }

// compare compares the flags of c to its state machine, with the build tag ambitdebug.
func (c *call) compare(string) {}
