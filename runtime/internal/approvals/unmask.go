package approvals

import (
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Unmask returns the text of an edit in which the sensitive values that its approver has left as they
// were shown are those of args again, the arguments of the call. A mask that stands elsewhere stays: the
// book refuses it. The code of the arguments may panic.
func (a *Approvals[C]) Unmask(request string, edit []byte, args wire.Value) (text []byte) {
	defer func() {
		if recover() != nil {
			text = edit
		}
	}()
	r, _ := a.Request(request)
	if len(r.Masked) == 0 || args == nil || !json.Valid(edit) {
		return edit
	}
	plain, violations := wire.Append(nil, args)
	shown := a.Show(args, nil)
	if violations != nil || shown == nil {
		return edit
	}
	text = edit
	for _, at := range r.Masked {
		p, err := jsonedit.Parse(at)
		if err != nil || !same(p, text, shown) {
			continue
		}
		value, ok := p.Get(plain)
		if next, err := p.Put(text, value, nil); ok && err == nil {
			text = next
		}
	}
	return text
}

// same reports whether two JSON texts have the same string at p, however it is escaped.
func same(p jsonedit.Pointer, a, b []byte) bool {
	x, ok := p.Get(a)
	y, also := p.Get(b)
	var s, t string
	return ok && also && json.Unmarshal(x, &s) == nil && json.Unmarshal(y, &t) == nil && s == t
}
