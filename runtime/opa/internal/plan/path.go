package plan

// root is what the paths of a plan begin with in place of data.
const root = "g0"

// A path is a place of the tree of rules, for calls whose target is named by values.
type path struct {
	function *function
	below    map[string]*path
}

// add puts a function at a path.
func (n *path) add(parts []string, fn *function) {
	if parts == nil {
		return
	}
	for _, s := range parts {
		if n.below == nil {
			n.below = map[string]*path{}
		}
		if n.below[s] == nil {
			n.below[s] = &path{}
		}
		n = n.below[s]
	}
	n.function = fn
}

// at returns the place of a rule, nil when there is none.
func (n *path) at(rule []string) *path {
	at := n.below[root]
	for _, s := range rule {
		if at == nil {
			return nil
		}
		at = at.below[s]
	}
	return at
}
