package terminal

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
)

// showCommand prints what the call would run: the arguments of the program, each of them quoted, or the
// script of a shell.
func (d *dialogue) showCommand() {
	c := d.r.Command
	if c == nil {
		return
	}
	run := row{name: "runs", text: legible.List(c.Argv)}
	if c.Script != "" {
		run = textRow("script", c.Script, d.whole)
	} else if n := len([]rune(run.text)) - headLength - tailLength; n > 0 && !d.whole {
		text := []rune(run.text)
		run.cut = n
		run.text = fmt.Sprintf("%s\n... %d characters are not shown ...\n%s", string(text[:headLength]), n, string(text[len(text)-tailLength:]))
	}
	d.cut = d.cut || run.cut > 0
	all := []row{run}
	if c.Script != "" {
		all = append(all, row{name: "by", text: quote(c.Program)})
	}
	if c.Dir != "" {
		all = append(all, row{name: "in", text: quote(c.Dir)})
	}
	all = append(all, row{name: "isolation", text: fmt.Sprintf("%s, network %s", c.Tier, c.Network)})
	d.printf("  it would run\n")
	writeTable(d.out, all)
}
