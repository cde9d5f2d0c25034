package models

import (
	"context"
	"maps"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// Offer returns the tools that may be offered to the model now, and of those that it left out the
// reason. It leaves out a tool only if no call of it would be admitted in turn, whatever its
// arguments (engine.Turn.Withheld): a tool that it returns may still be refused when it is called.
//
// A provider that caches what a conversation begins with starts anew when the tools change.
func Offer(ctx context.Context, turn *engine.Turn, tools *Tools) (*Tools, map[string]runtime.Denial) {
	withheld := turn.Withheld(ctx)
	if len(withheld) == 0 {
		return tools, nil
	}
	out := &Tools{dialect: tools.dialect, index: map[string]int{}}
	for _, d := range tools.definitions {
		if _, left := withheld[d.tool]; !left {
			out.add(d)
		}
	}
	maps.DeleteFunc(withheld, func(name string, _ runtime.Denial) bool {
		_, ok := tools.index[name]
		return !ok
	})
	return out, withheld
}
