package engine

import "github.com/ambit-tools/ambit/runtime/internal/lockorder"

// seenCommands holds the nonces of the commands that were imported.
type seenCommands struct {
	mu    lockorder.Mutex[lockorder.Commands]
	known map[string]bool // by nonce; true: an earlier process began to execute it and recorded no result
}

// begin adds a nonce. It reports whether it was known, and whether a crash interrupted the command.
func (m *seenCommands) begin(nonce string) (known, interrupted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	interrupted, known = m.known[nonce]
	if m.known == nil {
		m.known = map[string]bool{}
	}
	m.known[nonce] = false
	return known, interrupted
}

// restore sets the nonces to those of earlier processes.
func (m *seenCommands) restore(known map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = known
}
