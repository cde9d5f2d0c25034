package opa

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/util"

	"github.com/ambit-tools/ambit/runtime"
)

const declaredFile = generatedDir + "/data.json"

// A declared is what the loader itself reads of the generated declarations;
// policies see all of them, under data.ambit.declared.
type declared struct {
	Tools        map[string]declaredTool `json:"tools"`
	Reasons      map[string]any          `json:"reasons"`
	Capabilities []string                `json:"capabilities"`
	Modes        []string                `json:"modes"`
}

// A declaredTool is what the loader reads of one tool.
type declaredTool struct {
	Pin     string `json:"pin"`
	Effect  string `json:"effect"`
	Consent *struct {
		Ask       string             `json:"ask"`
		Approvers []string           `json:"approvers"`
		MaxCover  runtime.GrantCover `json:"max_cover"`
	} `json:"consent"`
}

// readData builds the data document: the declarations under ambit.declared, and
// every other data.json below the path of its directory.
func (b *bundle) readData(errs *Errors) {
	b.data = map[string]any{}
	found := false
	for _, f := range b.src.files {
		if path.Base(f.path) != "data.json" {
			continue
		}
		value, err := decodeJSON(f.text)
		if err != nil {
			errs.addFile(f.name, "not JSON: "+err.Error(), "write one JSON object")
			continue
		}
		if f.path == declaredFile {
			found = true
			if err := json.Unmarshal(f.text, &b.declared); err != nil {
				errs.addFile(f.name, err.Error(), "run go generate")
			}
			mount(b.data, []string{"ambit", "declared"}, value)
			continue
		}
		b.addBaseData(f, value, errs)
	}
	b.tools = slices.Sorted(maps.Keys(b.declared.Tools))
	if !found {
		errs.addFile(b.src.home.name(declaredFile), "the declarations are missing", "run go generate beside tools.yaml")
	}
}

// addBaseData mounts an organization's own data file.
func (b *bundle) addBaseData(f file, value any, errs *Errors) {
	var at []string
	if dir := path.Dir(f.path); dir != "." {
		at = strings.Split(dir, "/")
	}
	object, ok := value.(map[string]any)
	if !ok && len(at) == 0 {
		errs.addFile(f.name, "the top of a data file must be an object", "write {\"name\": ...}, or put the file into a directory, which names it")
		return
	}
	if _, ambit := object["ambit"]; len(at) == 0 && ambit || len(at) > 0 && (at[0] == "ambit" || at[0] == generatedDir) {
		errs.addFile(f.name, "data under data.ambit would hide or replace policies", "mount it elsewhere: put it into another directory, or under another key")
		return
	}
	if clash := mount(b.data, at, value); clash != nil {
		other := "another data file"
		if found := b.whereData("\x00" + strings.Join(clash, "\x00")); found != nil && found.File != f.name {
			other = position(found)
		}
		errs.addFile(f.name, fmt.Sprintf("data.%s is given by %s too", strings.Join(clash, "."), other), "keep one of them")
	}
}

// decodeJSON reads one JSON text; numbers stay as they are written.
func decodeJSON(text []byte) (any, error) {
	var value any
	d := util.NewJSONDecoder(bytes.NewReader(text))
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

// mount merges value into root at a path; it returns the path of a clash.
func mount(root map[string]any, at []string, value any) []string {
	for _, key := range slices.Backward(at) {
		value = map[string]any{key: value}
	}
	object, _ := value.(map[string]any)
	return merge(root, object, nil)
}

// merge adds the members of from to into, objects member by member.
func merge(into, from map[string]any, at []string) []string {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		old, exists := into[key]
		if !exists {
			into[key] = from[key]
			continue
		}
		a, isA := old.(map[string]any)
		b, isB := from[key].(map[string]any)
		here := append(slices.Clone(at), key)
		if !isA || !isB {
			return here
		}
		if clash := merge(a, b, here); clash != nil {
			return clash
		}
	}
	return nil
}

// within returns the object that is two names below another; nil when there is none.
func within(object map[string]any, first, second string) map[string]any {
	object, _ = object[first].(map[string]any)
	object, _ = object[second].(map[string]any)
	return object
}

// isTool says that a tool is declared.
func (b *bundle) isTool(name string) bool {
	_, ok := b.declared.Tools[name]
	return ok
}
