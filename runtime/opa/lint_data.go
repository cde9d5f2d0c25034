package opa

import (
	"fmt"
	"path"
)

// lintData refuses JSON files in which an object has a member twice: the last
// one counts, and the policy may have been written for the first.
func (b *Checked) lintData(errs *Errors) {
	for _, f := range b.src.files {
		if path.Base(f.path) != "data.json" {
			continue
		}
		scanned := scanJSON(f.name, f.text)
		hint := "remove one of them"
		if f.generated() {
			hint = "run go generate"
		}
		for _, k := range scanned.twice {
			errs.add(scanned.location(k.at), fmt.Sprintf("duplicate key %q, first in line %d", k.name, scanned.location(k.first).Row), hint)
		}
	}
}
