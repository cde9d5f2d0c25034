package importer

import (
	"fmt"
	"slices"
	"sort"

	"github.com/ambit-tools/ambit/internal/importer/write"
)

// maxSource is how large a declaration may be.
const maxSource = 1 << 20

// leaveLarge leaves out the tools that no declaration can hold.
func (r *run) leaveLarge() {
	large := map[int]bool{}
	for i := range r.tools {
		if n := len(write.Declaration(r.Package, r.tools[i:i+1]).Bytes()); n > maxSource {
			large[i] = true
			r.leave(r.of[i], nil, fmt.Sprintf("the tool alone has %d bytes, and a declaration at most %d", n, maxSource), "shorten it in the source")
		}
	}
	r.drop(large)
}

// leaveRest leaves out the last tools of the source that one declaration does not hold
// beside those before them. Tools that the declaration to import into has already come first.
func (r *run) leaveRest() {
	order := make([]int, len(r.tools))
	for i := range order {
		order[i] = i
	}
	if r.over != nil {
		has := map[string]int{}
		for _, name := range r.over.Names() {
			has[name] = 1
		}
		slices.SortStableFunc(order, func(a, b int) int { return has[r.tools[b].Name] - has[r.tools[a].Name] })
	}
	fits := sort.Search(len(order), func(k int) bool { // one more than k tools are too many
		kept := slices.Sorted(slices.Values(order[:k+1]))
		tools := make([]write.Tool, len(kept))
		for i, of := range kept {
			tools[i] = r.tools[of]
		}
		return len(r.text(tools).Bytes()) > maxSource
	})
	out := map[int]bool{}
	for _, i := range order[fits:] {
		out[i] = true
		r.leave(r.of[i], nil, fmt.Sprintf("the declaration is full: it may have %d bytes", maxSource),
			"import the rest of the list into another declaration, in a package of its own")
	}
	r.drop(out)
}

// drop removes tools by index.
func (r *run) drop(out map[int]bool) {
	var tools []write.Tool
	var of []sourceTool
	for i := range r.tools {
		if !out[i] {
			tools, of = append(tools, r.tools[i]), append(of, r.of[i])
		}
	}
	r.tools, r.of = tools, of
}
