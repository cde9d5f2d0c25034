package engine

// Metadata is what a caller says of its calls beside their arguments: members of a run
// and of a call, and the id of the caller's own request among them.

import (
	"errors"
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

const (
	// requestIDKey is the member that names the caller's request, such as the trace id of an HTTP
	// request. It is in every event, span and webhook.
	requestIDKey = "request_id"

	maxMembers   = 64
	maxBytes     = 8 << 10 // of all names and values
	maxRequestID = 256     // bytes
)

// checkMetadata returns an error when m is not what a run may have: at most 64 members and 8 KiB of valid
// UTF-8, with at most 256 bytes of RequestID.
func checkMetadata(m map[string]string) error {
	if len(m) > maxMembers {
		return fmt.Errorf("metadata has %d members, and may have %d", len(m), maxMembers)
	}
	size := 0
	for name, value := range m {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return errors.New("metadata is not valid UTF-8")
		}
		size += len(name) + len(value)
	}
	if size > maxBytes {
		return fmt.Errorf("metadata has %d bytes, and may have %d", size, maxBytes)
	}
	if n := len(m[requestIDKey]); n > maxRequestID {
		return fmt.Errorf("metadata has a %s of %d bytes, which may have %d", requestIDKey, n, maxRequestID)
	}
	return nil
}

// mergeMetadata returns the members of outer and inner. Of two with one name it takes that of inner. The
// result may be one of both, so it must not be changed.
func mergeMetadata(outer, inner map[string]string) map[string]string {
	switch {
	case len(outer) == 0:
		return inner
	case len(inner) == 0:
		return outer
	}
	m := maps.Clone(outer)
	maps.Copy(m, inner)
	return m
}

// callMetadata returns the metadata of a call: those of its run, its own, and the id that the provider of the model gave it,
// unless there is none or it is the id of the call. The result must not be changed.
func callMetadata(run map[string]string, in *runtime.Call) map[string]string {
	m := mergeMetadata(run, in.Metadata)
	if in.ProviderID == "" || in.ProviderID == in.ID {
		return m
	}
	return mergeMetadata(m, map[string]string{runtime.ProviderCallID: wording.Cut(wording.ValidUTF8(in.ProviderID), wording.MaxID)})
}

// addMetadata sets of to the members of it and inner, as mergeMetadata returns them, unless checkMetadata refuses these.
func addMetadata(of *map[string]string, inner map[string]string) error {
	m := mergeMetadata(*of, maps.Clone(inner))
	err := checkMetadata(m)
	if err == nil {
		*of = m
	}
	return err
}

// clientRequest returns the requestIDKey of m, empty when it has none. An id that is too long is cut: the
// metadata of a call is not checked.
func clientRequest(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	id := m[requestIDKey]
	if len(id) <= maxRequestID {
		return id
	}
	n := maxRequestID
	for n > 0 && !utf8.RuneStart(id[n]) {
		n--
	}
	return id[:n]
}
