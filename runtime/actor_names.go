package runtime

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// GroupPrefix begins an approver that is a group, such as group:finance. No id begins with it (SEMANTICS 5.5.3).
const GroupPrefix = "group:"

// groupLike is how people write GroupPrefix. A program that checks no name compiles no expression.
var groupLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:\s*groups?\s*[:：])`) })

// CheckApprover returns why no actor can be an approver that a list names: an entry is an id, or a group.
func CheckApprover(entry string) error {
	if name, ok := strings.CutPrefix(entry, GroupPrefix); ok {
		return CheckGroup(name)
	}
	if groupLike().MatchString(entry) {
		return fmt.Errorf("%q is neither an id nor a group: a group is written as in group:finance", entry)
	}
	return CheckActorID(entry)
}

// CheckActorID returns why no actor can have an id.
func CheckActorID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("an id is empty")
	case strings.TrimSpace(id) != id:
		return fmt.Errorf("the id %q has blanks at its ends", id)
	case groupLike().MatchString(id):
		return fmt.Errorf("the id %q reads as a group", id)
	}
	return nil
}

// CheckGroup returns why there can be no group of a name, which is written without GroupPrefix.
func CheckGroup(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a group has no name")
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("the name %q of a group has blanks at its ends", name)
	case groupLike().MatchString(name):
		return fmt.Errorf("the name %q of a group begins with group: once too often", name)
	}
	return nil
}

// Check returns what is wrong with the names of a.
func (a Actor) Check() error {
	if err := CheckActorID(a.ID); err != nil {
		return err
	}
	for _, name := range a.Groups {
		if err := CheckGroup(name); err != nil {
			return err
		}
	}
	return nil
}
