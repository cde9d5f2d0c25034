package policydir

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

// DeclaredFile holds the declarations as data.
const DeclaredFile = GeneratedDir + "/data.json"

// declared is what a Bundle itself holds of the generated declarations;
// policies see all of them, under data.ambit.declared.
type declared struct {
	Tools        map[string]declaredTool `json:"tools"`
	Reasons      map[string]any          `json:"reasons"`
	Capabilities []string                `json:"capabilities"`
	Modes        []string                `json:"modes"`
}

// A declaredTool is what the loader reads of one tool.
type declaredTool struct {
	Pin     string   `json:"pin"`
	Effect  string   `json:"effect"`
	Alias   string   `json:"alias"`
	Former  []string `json:"renamed_from"`
	Consent *struct {
		Ask       string             `json:"ask"`
		Approvers []string           `json:"approvers"`
		Quorum    int                `json:"quorum"`
		MaxCover  runtime.GrantCover `json:"max_cover"`
	} `json:"consent"`
}

// readData builds the data document: the declarations under ambit.declared, and
// every other data.json below the path of its directory.
func (b *Bundle) readData(errs *Errors) {
	b.Data = map[string]any{}
	found := false
	for _, f := range b.Src.Files {
		if path.Base(f.Path) != "data.json" {
			continue
		}
		value, err := decodeJSON(f.Text)
		if err != nil {
			errs.AddFile(f.Name, "not JSON: "+err.Error(), "write one JSON object")
			continue
		}
		if f.Path == DeclaredFile {
			found = true
			if err := json.Unmarshal(f.Text, &b.Declared); err != nil {
				errs.AddFile(f.Name, err.Error(), "run go generate")
			}
			mount(b.Data, []string{"ambit", "declared"}, value)
			continue
		}
		b.addBaseData(f, value, errs)
	}
	b.Tools = slices.Sorted(maps.Keys(b.Declared.Tools))
	if !found {
		errs.AddFile(b.Src.Home.FileName(DeclaredFile), "the declarations are missing", "run go generate beside tools.yaml")
	}
}

// addBaseData mounts an organization's own data file.
func (b *Bundle) addBaseData(f File, value any, errs *Errors) {
	var at []string
	if dir := path.Dir(f.Path); dir != "." {
		at = strings.Split(dir, "/")
	}
	object, ok := value.(map[string]any)
	if !ok && len(at) == 0 {
		errs.AddFile(f.Name, "the top of a data file must be an object", "write {\"name\": ...}, or put the file into a directory, which names it")
		return
	}
	if _, ambit := object["ambit"]; len(at) == 0 && ambit || len(at) > 0 && (at[0] == "ambit" || at[0] == GeneratedDir) {
		errs.AddFile(f.Name, "data under data.ambit would hide or replace policies", "mount it elsewhere: put it into another directory, or under another key")
		return
	}
	if clash := mount(b.Data, at, value); clash != nil {
		other := "another data file"
		if found := b.WhereData("\x00" + strings.Join(clash, "\x00")); found != nil && found.File != f.Name {
			other = Position(found)
		}
		errs.AddFile(f.Name, fmt.Sprintf("data.%s is given by %s too", strings.Join(clash, "."), other), "keep one of them")
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

// Within returns the object that is two names below another; nil when there is none.
func Within(object map[string]any, first, second string) map[string]any {
	object, _ = object[first].(map[string]any)
	object, _ = object[second].(map[string]any)
	return object
}

// Called returns the tool that is called by an alias or an earlier name, and which of the two it is; policies know
// neither.
func (b *Bundle) Called(name string) (tool, as string) {
	for _, tool := range b.Tools {
		switch d := b.Declared.Tools[tool]; {
		case d.Alias == name && name != "":
			return tool, "the alias"
		case slices.Contains(d.Former, name):
			return tool, "an earlier name"
		}
	}
	return "", ""
}

// IsTool says that a tool is declared.
func (b *Bundle) IsTool(name string) bool {
	_, ok := b.Declared.Tools[name]
	return ok
}
