package rules

import "fmt"

// nameOf returns names[i], or kind(i) for a value that has no name.
func nameOf[T ~uint8](kind string, names []string, i T) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// parseName sets to to the value that text names.
func parseName[T ~uint8](kind string, names []string, text []byte, to *T) error {
	for i, name := range names {
		if name != "" && name == string(text) {
			*to = T(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no %s", text, kind)
}
