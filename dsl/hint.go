package dsl

// DidYouMean is the hint for a name that is not one of names, for readers of
// other files that want to sound like this one. It may be empty.
func DidYouMean(s string, names []string) string {
	if hint := new(parser).didYouMean(s, names); hint != noGuess {
		return hint
	}
	return ""
}
