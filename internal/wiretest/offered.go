package wiretest

import (
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime/models"
)

// offered: with Loop.Offer the model is offered what may be called then. After the reply, which ends the run, the case
// still has to be closed: only that is offered.
func (a Adapter) offered(t *testing.T) {
	d := NewDesk(t)
	script := []Step{Script[0], Script[4], Script[5]}
	server := Serve(t, a.bodies(script...)...)
	model := a.Model(t, server, d.Registry)
	loop := models.Loop{Run: d.Run, Model: model, Offer: true}
	if _, err := loop.Do(t.Context(), Request); err != nil {
		t.Fatal(err)
	}
	if len(server.Sent) != len(script) {
		t.Fatalf("%d requests", len(server.Sent))
	}
	for n, sent := range server.Sent {
		_, tools, _ := strings.Cut(sent, `"tools":`)
		for _, name := range []string{"case_open", "order_find", "case_close"} {
			want := n < 2 || name == "case_close"
			if got := strings.Contains(tools, `"`+name+`"`); got != want {
				t.Errorf("request %d offers %s: %t, want %t\n%s", n, name, got, want, sent)
			}
		}
	}
	all := 0
	model.(models.Offerer).Offer(func(t *models.Tools) *models.Tools {
		all = len(t.All())
		return t
	})
	if all != len(d.Registry.Names()) {
		t.Errorf("of %d tools %d may be chosen", len(d.Registry.Names()), all)
	}
}
