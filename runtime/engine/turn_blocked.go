package engine

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// blockedTools is the tools that timed out in a turn and must not run again in it. The zero value blocks
// none. It is safe for concurrent use.
type blockedTools struct {
	some atomic.Bool // tools is not empty
	mu   lockorder.Mutex[lockorder.Turn]

	tools map[int]struct{} // by position in the registry
}

// Add keeps a tool from running until the turn ends.
func (b *blockedTools) Add(tool int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tools == nil {
		b.tools = map[int]struct{}{}
	}
	b.tools[tool] = struct{}{}
	b.some.Store(true)
}

// Has reports whether a tool is blocked (SEMANTICS 1.1).
func (b *blockedTools) Has(tool int) bool { return b.some.Load() && b.has(tool) }

// has is Has when at least one tool is blocked.
func (b *blockedTools) has(tool int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, yes := b.tools[tool]
	return yes
}
