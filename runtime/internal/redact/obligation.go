package redact

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Obligation is the code of the obligation of a policy that members of the output are masked. Its args
// are {"pointers": [...]}.
const Obligation = "redact_output"

// A redaction is the args of a redact_output obligation.
type redaction struct{ pointers []string }

// redactionRule returns the schema of these args.
func redactionRule() *wire.ObjectRule {
	return &wire.ObjectRule{Names: []string{"pointers"}, Required: 1}
}

// ReadMember reads the only member.
func (v *redaction) ReadMember(r *wire.Reader, _ string) {
	wire.ReadArray(r, &v.pointers, &wire.ArrayRule{Has: wire.Min, Min: 1}, wire.ReadString, &wire.StringRule{})
}

// redactions returns the places that the args of an obligation name.
func redactions(args []byte) ([]jsonedit.Pointer, error) {
	list, violations := wire.Decode[redaction](args, wire.Limits{}, redactionRule())
	if violations != nil {
		return nil, fmt.Errorf("its args are not {\"pointers\": [...]}: %s", wording.Violations(violations))
	}
	places := make([]jsonedit.Pointer, 0, len(list.pointers))
	for _, text := range list.pointers {
		p, err := jsonedit.Parse(text)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// Check says why the output of a tool cannot be masked as the args of an obligation want it: they are
// invalid, or name a place that the output cannot have. place says what the output schema of the
// tool has at a pointer.
func Check(tool string, args []byte, place func(jsonedit.Pointer) Place) error {
	places, err := redactions(args)
	if err != nil {
		return err
	}
	for _, p := range places {
		if place(p) == PlaceNone {
			return fmt.Errorf("the output of %q has nothing at %q: use pointers that its schema declares", tool, p)
		}
	}
	return nil
}

// Mask masks the members of the output that the args of an obligation name. masked is what other
// obligations have made of the output. Mask withholds the whole output when a member is absent and
// the schema does not say that it may be: the value may then be there under another name.
func Mask(output, masked wire.Raw, args []byte, place func(jsonedit.Pointer) Place) (wire.Raw, error) {
	places, err := redactions(args)
	if err != nil { // Check has refused the call for this
		return jsonedit.Pointer{}.Mask(output), err
	}
	for _, p := range places {
		if !p.Has(output) && place(p) != PlaceDeclared {
			return jsonedit.Pointer{}.Mask(output), fmt.Errorf("there is nothing at %q in the output, which is withheld therefore", p)
		}
		masked = p.Mask(masked)
	}
	return masked, nil
}
