package consent

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Show returns arguments as an approver sees them: JSON in which each value that
// is marked sensitive is replaced by a text with its length and a digest, but
// for the top-level members that are revealed. The digest is made with the key,
// so that an approver who sees two equal secrets sees that they are equal, and a
// reader without the key cannot find the secret by trying values.
//
// What is revealed must not be stored: a Request holds the arguments with
// nothing revealed, and the approver's view is made of the call.
func Show(key []byte, args wire.Value, reveal ...string) (json.RawMessage, error) {
	text, _, err := mask(key, args, reveal)
	return text, err
}

// mask is Show, and returns pointers to what is masked too (SEMANTICS 5.9).
func mask(key []byte, args wire.Value, reveal []string) (json.RawMessage, []string, error) {
	if args == nil {
		return nil, nil, fmt.Errorf("there are no arguments: an empty object is written as {}")
	}
	var pointers []string
	masking := walk.Mask{Reveal: reveal, Hide: func(pointer string, v walk.Tokens) (string, error) {
		pointers = append(pointers, pointer)
		digest, err := keyed(key, purposeMask, v)
		return fmt.Sprintf("(sensitive: %s, %s)", size(v), hex.EncodeToString(digest[:8])), err
	}}
	text, err := masking.Append(nil, args)
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments cannot be shown: %w", err)
	}
	return text, pointers, nil
}

// maskForm is that of what mask puts in the place of a value.
var maskForm = regexp.MustCompile(`^\(sensitive: .+, [0-9a-f]{16}\)$`)

// holdsMask reports whether a sensitive value is what an approver was shown in the place of one. To
// run the call with that would replace a secret by a text (SEMANTICS 5.2.10).
func holdsMask(args wire.Value) (found bool) {
	if args == nil {
		return false
	}
	masking := walk.Mask{Hide: func(_ string, v walk.Tokens) (string, error) {
		found = found || v[0].Kind == wire.KindString && maskForm.MatchString(v[0].Str)
		return "", nil
	}}
	_, _ = masking.Append(nil, args) // terms says what is wrong with it
	return found
}

// size says how long a value is (SEMANTICS 5.9).
func size(v walk.Tokens) string {
	switch v[0].Kind {
	case wire.KindString:
		return fmt.Sprintf("%d characters", utf8.RuneCountInString(v[0].Str))
	case wire.KindBool: // whose length would tell which
		return "a boolean"
	}
	bare := slices.Clone(v)
	for i := range bare {
		bare[i].Rule = nil
	}
	text, _ := wire.Append(nil, bare)
	return fmt.Sprintf("%d bytes of JSON", len(text))
}
