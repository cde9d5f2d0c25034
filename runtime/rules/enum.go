package rules

import "fmt"

// nameOf returns names[i], or kind(i) for a value that has no name.
func nameOf[T ~uint8](kind string, names []string, i T) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
