package history

import (
	"strings"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// clearErased clears each payload of r whose secrets were erased, because its value is incomplete.
func clearErased(r *journal.Record, private []byte) error {
	secrets, err := journal.DecodePrivate(private)
	if err != nil {
		return err
	}
	for _, in := range [...]struct {
		place   string
		payload *journal.Payload
	}{{"/args/value", r.Args}, {"/final_args/value", r.Final}, {"/prepared/value", r.Prepared}, {"/output/value", r.Output}} {
		if in.payload == nil {
			continue
		}
		left := 0
		for i := range secrets {
			if strings.HasPrefix(secrets[i].Pointer, in.place) {
				left++
			}
		}
		if left < in.payload.Secrets {
			in.payload.Value = nil
		}
	}
	return nil
}
