package lint

import (
	"fmt"
	"path"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// lintData refuses JSON files in which an object has a member twice: the last
// one counts, and the policy may have been written for the first.
func (c *Checked) lintData(errs *policydir.Errors) {
	for _, f := range c.Src.Files {
		if path.Base(f.Path) != "data.json" {
			continue
		}
		scanned := policydir.ScanJSON(f.Name, f.Text)
		hint := "remove one of them"
		if f.Generated() {
			hint = "run go generate"
		}
		for _, k := range scanned.Twice {
			errs.Add(scanned.Location(k.At), fmt.Sprintf("duplicate key %q, first in line %d", k.Name, scanned.Location(k.First).Row), hint)
		}
	}
}
